#!/bin/sh
# seedgate-hook 1: written by `seedgate init`, taken away by `seedgate uninstall`. Do not edit: init writes it anew.
seedgate=@BINARY@
self=@SELF@
earlier="${0%/*}/@NAME@.before-seedgate"
if [ ! -f "$seedgate" ] || [ ! -x "$seedgate" ]; then
  printf '%s\n' "seedgate: @NAME@ refuses, because the program is not at $seedgate or cannot be executed." \
    "help: install seedgate again, then run \`seedgate init\` here." >&2
  exit 1
fi
# A hook manager may have made the earlier hook lead back here: then it is not run again.
if [ "${SEEDGATE_EARLIER-}" = "$self" ]; then exec "$seedgate" hook @NAME@ "$@"; fi
if [ ! -f "$earlier" ] || [ ! -x "$earlier" ]; then
  printf '%s\n' "seedgate: @NAME@ refuses, because the earlier hook $earlier is gone or cannot be executed." \
    "help: put it back, or run \`seedgate init\` to go on without it." >&2
  exit 1
fi
# Both read git's lines, so they are kept; what is refused never reaches the earlier hook, which may send things away.
lines=$(cat) || exit 1
lines="${lines:+$lines
}"
printf '%s' "$lines" 2>/dev/null | "$seedgate" hook @NAME@ "$@" || exit 1
printf '%s' "$lines" 2>/dev/null | SEEDGATE_EARLIER="$self" "$earlier" "$@"
