#!/bin/sh
# seedgate-hook 1: written by `seedgate init`, taken away by `seedgate uninstall`. Do not edit: init writes it anew.
seedgate=@BINARY@
if [ -f "$seedgate" ] && [ -x "$seedgate" ]; then exec "$seedgate" hook @NAME@ "$@"; fi
printf '%s\n' "seedgate: @NAME@ refuses, because the program is not at $seedgate or cannot be executed." \
  "help: install seedgate again, then run \`seedgate init\` here." >&2
exit 1
