#!/bin/sh
# Builds seedgate from this folder and installs it for one user. Can be run again at any time; needs no root.
set -eu

usage() {
  cat <<'TXT'
Usage: ./install.sh [--prefix DIR]

Builds seedgate (release, with the locked dependencies) and installs it as DIR/bin/seedgate.

  --prefix DIR   where to install; default: $SEEDGATE_PREFIX, else $HOME/.local
  -h, --help     this text

Needs git 2.30 or newer, cargo of Rust 1.95 or newer, and a C compiler and linker (for libgit2 and SQLite, which are built in).
Exit codes: 0 installed, 64 usage, 69 something it needs is missing, otherwise what cargo ended with.
TXT
}

say() { printf '%s\n' "install.sh: $*"; }
stop() { code=$1; shift; printf '%s\n' "install.sh: $*" >&2; exit "$code"; }

# at_least HAVE WANT: whether the version HAVE (1.2 or 1.2.3) is not older than WANT (1.2)
at_least() {
  have_major=${1%%.*}; have_rest=${1#*.}; have_minor=${have_rest%%.*}
  want_major=${2%%.*}; want_minor=${2#*.}
  case "$have_major$have_minor" in *[!0-9]*|'') return 1 ;; esac
  [ "$have_major" -gt "$want_major" ] || { [ "$have_major" -eq "$want_major" ] && [ "$have_minor" -ge "$want_minor" ]; }
}

prefix=${SEEDGATE_PREFIX:-}
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -ge 2 ] || stop 64 "--prefix needs a folder"; prefix=$2; shift 2 ;;
    --prefix=*) prefix=${1#--prefix=}; shift ;;
    -h|--help) usage; exit 0 ;;
    *) usage >&2; stop 64 "unknown argument: $1" ;;
  esac
done
if [ -z "$prefix" ]; then
  [ -n "${HOME:-}" ] || stop 64 "HOME is not set, so say where to install: ./install.sh --prefix DIR"
  prefix=$HOME/.local
fi
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

command -v git >/dev/null 2>&1 || stop 69 "git is missing; seedgate needs git 2.30 or newer"
git_version=$(git --version); git_version=${git_version#git version }; git_version=${git_version%% *}
at_least "$git_version" 2.30 || stop 69 "git is $git_version; seedgate needs 2.30 or newer"

cargo=$(command -v cargo) || cargo=${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}/bin/cargo
[ -x "$cargo" ] || stop 69 "cargo is missing; install Rust 1.95 or newer (https://rustup.rs), then run this again"

# rustup's cargo looks for its toolchain below HOME, which may be another one here: then look beside the program.
if ! "$cargo" --version >/dev/null 2>&1; then
  for toolchains in "${cargo%/.cargo/bin/cargo}/.rustup" "${cargo%/cargo/bin/cargo}/rustup"; do
    [ -d "$toolchains" ] || continue
    CARGO_HOME=${CARGO_HOME:-${cargo%/bin/cargo}} RUSTUP_HOME=$toolchains
    export CARGO_HOME RUSTUP_HOME
    break
  done
fi

cd "$(dirname "$0")"
cargo_version=$("$cargo" --version) || stop 69 "$cargo does not run"
cargo_version=${cargo_version#cargo }; cargo_version=${cargo_version%% *}
at_least "$cargo_version" 1.95 || stop 69 "cargo is $cargo_version; seedgate needs Rust 1.95 or newer (rustup update)"
command -v cc >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || command -v clang >/dev/null 2>&1 ||
  stop 69 "a C compiler is missing (cc, gcc or clang): libgit2 and SQLite are built from source"

say "building with $("$cargo" --version) in $PWD (some minutes the first time)"
target=${CARGO_TARGET_DIR:-$PWD/target}
case $target in /*) ;; *) target=$PWD/$target ;; esac
"$cargo" build --locked --release --bin seedgate --target-dir "$target"

bin=$prefix/bin
mkdir -p "$bin"
# A running hook keeps the old program; the next one finds the new one whole.
fresh=$bin/.seedgate.$$
trap 'rm -f "$fresh"' EXIT
trap 'exit 1' HUP INT TERM
cp "$target/release/seedgate" "$fresh"
chmod 755 "$fresh"
"$fresh" --version >/dev/null || stop 70 "the built program does not run"
mv -f "$fresh" "$bin/seedgate"
say "installed $("$bin/seedgate" --version) as $bin/seedgate"

case ":${PATH:-}:" in
  *":$bin:"*) say "next: cd YOUR-PROJECT && seedgate init" ;;
  *)
    say "$bin is not on PATH; to call it by name, add this line to your shell's profile:"
    printf '    export PATH="%s:$PATH"\n' "$bin"
    say "next: cd YOUR-PROJECT && '$bin/seedgate' init (the hooks it installs do not need PATH)"
    ;;
esac
