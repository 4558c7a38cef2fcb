#!/usr/bin/env bash
# The whole test command: format, lints, tests, runners against real servers, release build, and then, where they are, the hook cases and the battery.
#   SEEDGATE_CASES    folder with run-all.sh, which drives real git repositories through the hooks
#   SEEDGATE_BATTERY  folder with run-battery.py, which measures weakenings caught and false alarms
#   SEEDGATE_BATTERY_ONLY  ids of battery cases, as globs (default: see below)
# Every step runs even when an earlier one failed. The last line is `N passed, N failed`; the exit is 0 only without a failure.
set -u
cd "$(dirname "$0")/.." || exit 1
# A hook's or another repository's variables must not reach the tests' repositories.
for variable in $(git rev-parse --local-env-vars); do unset "$variable"; done
export CARGO_TERM_COLOR=never GIT_TERMINAL_PROMPT=0
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
passed=0 failed=0

# step NAME COMMAND...: one check, counted once
step() {
  local name=$1; shift
  echo "== $name"
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $name"; fi
}

# tally PASSED FAILED STATUS NAME: a step that counts for itself; one that fails without a count is one failure
tally() {
  passed=$((passed + $1)); failed=$((failed + $2))
  if [ "$3" != 0 ]; then
    [ "$2" != 0 ] || failed=$((failed + 1))
    echo "FAILED: $4"
  fi
}

step format cargo fmt --check
step lints cargo clippy --locked --all-targets --quiet -- -D warnings
step "lints of the remote runner" cargo clippy --locked --all-targets --features remote --quiet -- -D warnings

echo "== tests"
cargo test --locked --quiet --no-fail-fast 2>&1 | tee "$out/tests"
status=${PIPESTATUS[0]}
counts=$(awk '/^test result:/ {p += $4; f += $6} END {print p + 0, f + 0}' "$out/tests")
tally ${counts% *} ${counts#* } "$status" tests

echo "== runners"
bash tests/runners.sh 2>&1 | tee "$out/runners"
status=${PIPESTATUS[0]}
counts=$(awk '/^[0-9]+ passed, [0-9]+ failed/ {p = $1; f = $3} END {print p + 0, f + 0}' "$out/runners")
tally ${counts% *} ${counts#* } "$status" runners

step "release build and installation" ./install.sh --prefix "$out/installed"

# own_history: this repository under its own gate, from the commit in tests/guarded-since on (docs/own-history.md). New tests (3) and what
# a waiver covers (4) are for the person who merges. A clone too shallow for that commit, or no clone, has nothing to judge.
own_history() {
  local since status
  since=$(cat tests/guarded-since) || return 1
  if ! git merge-base --is-ancestor "$since" HEAD 2>/dev/null; then
    echo "the history here does not reach back to $since: not judged"
    [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" != false ]
    return
  fi
  "$out/installed/bin/seedgate" check --cold --base "$since"
  status=$?
  [ "$status" = 0 ] || [ "$status" = 3 ] || [ "$status" = 4 ]
}
step "own history" own_history

if [ -d "${SEEDGATE_CASES:-}" ]; then
  echo "== cases"
  OUT=$out/cases bash "$SEEDGATE_CASES/run-all.sh" "$out/installed/bin" 2>&1 | tee "$out/cases.txt"
  status=${PIPESTATUS[0]}
  counts=$(awk '/^[0-9]+ passed, [0-9]+ failed/ {p = $1; f = $3} END {print p + 0, f + 0}' "$out/cases.txt")
  tally ${counts% *} ${counts#* } "$status" cases
  for name in $(awk '/^FAIL/ {print $2}' "$out/cases.txt"); do echo "-- $name"; tail -n 15 "$out/cases/$name.txt"; done
else
  echo "== cases: none here (SEEDGATE_CASES)"
fi

if [ -d "${SEEDGATE_BATTERY:-}" ]; then
  echo "== battery"
  only=${SEEDGATE_BATTERY_ONLY:-$(python3 tests/battery.py "$SEEDGATE_BATTERY/cases")}
  set -f
  # shellcheck disable=SC2086
  python3 "$SEEDGATE_BATTERY/run-battery.py" --seedgate "$out/installed/bin/seedgate" --quiet --json "$out/battery.json" $(printf -- '--only %s ' $only)
  status=$?
  set +f
  counts=$(python3 tests/battery.py --count "$out/battery.json")
  tally ${counts% *} ${counts#* } "$status" battery
else
  echo "== battery: none here (SEEDGATE_BATTERY)"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
