#!/usr/bin/env python3
"""What a pre-commit hook adds to `git commit` of one staged file, in one interleaved run.

    python3 benches/hook.py --seedgate target/release/seedgate [--files 1000 10000 100000] [--no-peers] [--json OUT]

Compared: no hook, an empty compiled program, `sh` with `git diff --cached --name-only`, Seedgate with and without its daemon, and
prek and pre-commit from PyPI with one local hook that does nothing. Quote the ratios of one run, not its milliseconds.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import sampling

TOP = pathlib.Path(__file__).resolve().parent.parent
WORK = TOP / "target" / "bench"
ROUNDS = {1_000: 41, 10_000: 31}
NOOP_CONFIG = """repos:
- repo: local
  hooks:
  - {id: noop, name: noop, entry: "true", language: system, always_run: true, pass_filenames: false}
"""


def peers(env):
    """prek and pre-commit in a virtual environment of the bench; none when PyPI is out of reach."""
    venv = WORK / "venv"
    if not (venv / "bin" / "prek").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        if subprocess.run([venv / "bin" / "pip", "install", "-q", "prek", "pre-commit"]).returncode:
            return {}
    for name in ("prek", "pre-commit"):
        print(sampling.run([venv / "bin" / name, "--version"], env).strip())
    return {name: venv / "bin" / name for name in ("prek", "pre-commit")}


def noop():
    """An empty program, statically linked: the least that any hook costs."""
    WORK.mkdir(parents=True, exist_ok=True)
    program, source = WORK / "noop", WORK / "noop.rs"
    source.write_text("fn main() {}\n")
    subprocess.run(["rustc", "-O", "-C", "target-feature=+crt-static", "-o", program, source], check=True)
    return program


def repository(folder, files, env):
    """`files` small files, 40 a folder, one in ten a fixture, and a few tests to have cards."""
    folder.mkdir()
    git = lambda *args: sampling.run(["git", *args], env, folder)
    git("init", "-q", "-b", "main")
    for key, value in (("gc.auto", "0"), ("core.fsync", "none"), ("maintenance.auto", "false")):
        git("config", key, value)
    for number in range(files):
        side = "tests/fixtures" if number % 10 == 0 else "src"
        path = folder / side / f"p{number // 1600}" / f"q{number // 40}" / f"m{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n")
    for number in range(5):
        path = folder / "tests" / "properties" / f"test_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("from hypothesis import given, strategies as st\n\n\n@given(st.integers(0, 100))\ndef prop_small(n):\n    assert n >= 0\n")
    (folder / "app.py").write_text("A = 0\n")
    (folder / ".pre-commit-config.yaml").write_text(NOOP_CONFIG)
    git("add", "-A")
    git("commit", "-q", "-m", "base")


def hooks(folder, name, script=None, program=None):
    """A hooks folder of its own for each variant: `core.hooksPath` chooses."""
    place = folder / ".git" / f"hooks-{name}"
    place.mkdir()
    hook = place / "pre-commit"
    if script:
        hook.write_text(script)
        hook.chmod(0o755)
    elif program:
        shutil.copy2(program, hook)
    return place


def installed(folder, name, command, env):
    """What a tool's own `install` writes, moved to a folder of its own."""
    sampling.run([*command], env, folder)
    place = folder / ".git" / f"hooks-{name}"
    place.mkdir()
    for hook in (folder / ".git" / "hooks").iterdir():
        if not hook.name.endswith(".sample"):
            hook.rename(place / hook.name)
    return place


def variants(folder, args, tools, env):
    off, on = {**env, "SEEDGATE_DAEMON": "off"}, {**env, "SEEDGATE_DAEMON": "on"}
    shell = "#!/bin/sh\ngit diff --cached --name-only >/dev/null\n"
    places = {
        "none": (hooks(folder, "none"), env),
        "noop": (hooks(folder, "noop", program=args.noop), env),
        "sh + git diff": (hooks(folder, "sh", script=shell), env),
    }
    for name, program in tools.items():
        places[name] = (installed(folder, name, [program, "install"], env), env)
    seedgate = installed(folder, "seedgate", [args.seedgate, "init"], off)
    sampling.run(["git", "add", "-A"], env, folder)
    sampling.run(["git", "-c", f"core.hooksPath={places['none'][0]}", "commit", "-q", "--allow-empty", "-m", "init"], env, folder)
    places["seedgate"] = (seedgate, on)
    places["seedgate, no daemon"] = (seedgate, off)
    count = iter(range(1, 1_000_000))

    def commit(place, environment):
        def act():
            (folder / "app.py").write_text(f"A = {next(count)}\n")
            sampling.run(["git", "add", "app.py"], env, folder)
            command = ["git", "-c", f"core.hooksPath={place}", "commit", "-q", "-m", "x"]
            return sampling.milliseconds(lambda: sampling.run(command, environment, folder))
        return act

    return {name: commit(*place) for name, place in places.items()}


def goals(files, rows):
    def ratio(name, peer):
        """A peer that added nothing was lost in the noise: then there is no ratio, and no goal is met."""
        return rows[name]["added"] / rows[peer]["added"] if rows[peer]["added"] > 0 else float("inf")

    most = 1.6 if files <= 1_000 else 1.5
    yield sampling.goal(f"{files} files: seedgate / noop", ratio("seedgate", "noop"), most)
    yield sampling.goal(f"{files} files: seedgate without daemon / sh + git diff", ratio("seedgate, no daemon", "sh + git diff"), 1.25)
    for name, most in (("prek", 0.15), ("pre-commit", 0.02)):
        if name in rows:
            yield sampling.goal(f"{files} files: seedgate / {name}", ratio("seedgate", name), most)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seedgate", type=pathlib.Path, default=TOP / "target" / "release" / "seedgate")
    parser.add_argument("--files", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--rounds", type=int, help="rounds at every size (default 41, 31, 15)")
    parser.add_argument("--no-peers", action="store_true", help="leave prek and pre-commit out")
    parser.add_argument("--json", metavar="OUT")
    args = parser.parse_args()
    args.seedgate, args.noop = args.seedgate.resolve(), noop()
    result = {"schema": "seedgate.bench/1", "hook": {}, "goals": []}
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="seedgate-hook-"))
    env = sampling.environment(str(scratch / "home"))
    try:
        tools = {} if args.no_peers else peers(env)
        for files in args.files:
            folder = scratch / f"r{files}"
            repository(folder, files, env)
            samples = sampling.interleave(variants(folder, args, tools, env), args.rounds or ROUNDS.get(files, 15))
            rows = sampling.summary(samples, "none")
            sampling.table(f"git commit, {files} files, {len(samples['none'])} rounds", rows)
            result["hook"][files] = rows
            result["goals"].extend(goals(files, rows))
            shutil.rmtree(folder)
    finally:
        subprocess.run([args.seedgate, "daemon", "stop"], env=env, capture_output=True)
        shutil.rmtree(scratch, ignore_errors=True)
    sampling.save(args.json, result)


if __name__ == "__main__":
    os.chdir(TOP)
    main()
