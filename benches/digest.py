#!/usr/bin/env python3
"""`seedgate digest` against the shell pipeline whose answer it gives: 2,000 files, 400 MB, in one interleaved run.

    python3 benches/digest.py --seedgate target/release/seedgate [--files 2000] [--megabytes 400] [--rounds 15] [--json OUT]

The answers must be equal, or nothing is measured. `1 cpu` pins Seedgate to one processor; the pipeline is never pinned.
"""
import argparse
import os
import pathlib
import random
import shutil
import tempfile

import sampling

TOP = pathlib.Path(__file__).resolve().parent.parent
PIPELINE = "find fixtures -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum"


def repository(folder, files, megabytes, env):
    dice = random.Random(7)
    for number in range(files):
        path = folder / "fixtures" / f"d{number % 40:02}" / f"f{number}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(dice.randbytes(megabytes * 1_000_000 // files))
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        sampling.run(["git", *command], env, folder)


def pinned(count):
    cpus = sorted(os.sched_getaffinity(0))[:count]
    return lambda: os.sched_setaffinity(0, cpus)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seedgate", type=pathlib.Path, default=TOP / "target" / "release" / "seedgate")
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", metavar="OUT")
    args = parser.parse_args()
    seedgate = args.seedgate.resolve()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="seedgate-digest-"))
    env = {**sampling.environment(str(scratch / "home")), "SEEDGATE_DAEMON": "off"}
    fresh = {**sampling.environment(str(scratch / "fresh")), "SEEDGATE_DAEMON": "off"}
    folder = scratch / "r"
    try:
        repository(folder, args.files, args.megabytes, env)

        def digest(*options, cpus=None, environment=env):
            return sampling.run([seedgate, "digest", *options, "fixtures"], environment, folder, preexec_fn=pinned(cpus) if cpus else None)

        def cold(**more):
            shutil.rmtree(scratch / "fresh")
            sampling.environment(str(scratch / "fresh"))
            return sampling.milliseconds(lambda: digest(environment=fresh, **more))

        want = sampling.run(["sh", "-c", PIPELINE], env, folder)
        for options in ([], ["--worktree"], ["--rev", "HEAD"]):
            if digest(*options) != want:
                raise SystemExit(f"digest {options} is {digest(*options)!r}, the pipeline's is {want!r}")
        samples = sampling.interleave({
            "pipeline": lambda: sampling.milliseconds(lambda: sampling.run(["sh", "-c", PIPELINE], env, folder)),
            "--worktree, 1 cpu": lambda: sampling.milliseconds(lambda: digest("--worktree", cpus=1)),
            "--worktree, 2 cpus": lambda: sampling.milliseconds(lambda: digest("--worktree", cpus=2)),
            "index, no memo, 1 cpu": lambda: cold(cpus=1),
            "index, no memo, 2 cpus": lambda: cold(cpus=2),
            "index, unchanged": lambda: sampling.milliseconds(digest),
        }, args.rounds, warm=1)
        rows = sampling.summary(samples, "pipeline")
        sampling.table(f"digest of {args.files} files, {args.megabytes} MB, {args.rounds} rounds", rows)
        goals = [sampling.goal(name, rows[name]["ratio"], most) for name, most in
                 (("--worktree, 1 cpu", 0.33), ("--worktree, 2 cpus", 0.20), ("index, unchanged", 0.05))]
        sampling.save(args.json, {"schema": "seedgate.bench/1", "digest": rows, "goals": goals})
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
