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
# The earlier hook goes first, because it may stage what it mends. A hook manager may have made it lead back here: then it is not run again.
if [ "${SEEDGATE_EARLIER-}" != "$self" ]; then
  if [ ! -f "$earlier" ] || [ ! -x "$earlier" ]; then
    printf '%s\n' "seedgate: @NAME@ refuses, because the earlier hook $earlier is gone or cannot be executed." \
      "help: put it back, or run \`seedgate init\` to go on without it." >&2
    exit 1
  fi
  SEEDGATE_EARLIER="$self" "$earlier" "$@" || exit
fi
exec "$seedgate" hook @NAME@ "$@"
