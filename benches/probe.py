"""The probe on the history of a public project, and beside it cosmic-ray limited to the same functions.

    git clone https://github.com/mahmoud/boltons /tmp/bench/boltons
    python3 -m venv /tmp/bench/venv && /tmp/bench/venv/bin/pip install pytest cosmic-ray
    python3 benches/probe.py history --seedgate target/release/seedgate --python /tmp/bench/venv/bin/python \
        --repo /tmp/bench/boltons --commits 10 --budget 10
    python3 benches/probe.py beside --seedgate target/release/seedgate --python /tmp/bench/venv/bin/python \
        --repo /tmp/bench/boltons --module boltons/mathutils.py --tests tests/test_mathutils.py

`history` runs `probe --compare` on the newest commits that touch a test file and whose tests are green. `beside` runs both programs on one
module and its tests, and compares verdicts where line, old and new operator are the same. Times are wall clock and processor time.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time


def git(repo, *arguments):
    return subprocess.run(["git", "-C", repo, *arguments], check=True, capture_output=True, text=True).stdout


def timed(command, cwd, env=None):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return done, time.monotonic() - start, used


def probe(args, tests, *more):
    command = [args.seedgate, "probe", "--json", "--tests", f"{args.python} -m pytest -q {args.options} {tests}", *more]
    done, wall, used = timed(command, args.repo)
    record = json.loads(done.stdout) if done.stdout.strip() else None
    return done.returncode, record, wall, used, done.stderr.strip()


def touching(repo, most):
    """Commits with one parent that touch test files, newest first, with the test files that are still there."""
    for commit in git(repo, "rev-list", "--no-merges", "-n", str(most), "HEAD", "--", "tests").split():
        names = git(repo, "diff-tree", "--no-commit-id", "--name-only", "--diff-filter=AM", "-r", commit).split("\n")
        tests = [name for name in names if re.fullmatch(r"tests/(.*/)?test_\w+\.py", name)]
        there = [name for name in tests if subprocess.run(["git", "-C", repo, "cat-file", "-e", f"{commit}~1:{name}"], capture_output=True).returncode == 0]
        if there:
            yield commit, there


def history(args):
    total = {"killed": 0, "survived": 0, "unknown": 0, "weakened": 0}
    done = 0
    for commit, tests in touching(args.repo, args.commits * 20):
        code, record, wall, used, says = probe(args, " ".join(tests), "--head", commit, "--compare", "--budget", str(args.budget))
        if record is None:
            print(f"{commit[:10]}  exit {code}  {says[:150]}", flush=True)
            continue
        counts = record["counts"]
        for name in total:
            total[name] += counts[name]
        done += 1
        line = "  ".join(f"{name} {counts[name]}" for name in total)
        print(f"{commit[:10]}  exit {code}  {line}  {wall:.1f} s wall  {used:.1f} s cpu  {' '.join(tests)}", flush=True)
        for mutant in record["mutants"]:
            if mutant["outcome"]["verdict"] == "survived" and mutant["base"]["verdict"] == "killed":
                print(f"    weakened {mutant['path']}:{mutant['line']} {mutant['before']!r} -> {mutant['after']!r}: {mutant['base']['why']}")
        if done == args.commits:
            break
    print(json.dumps({"commits": done, **total}))


def cosmic(args, folder):
    config = os.path.join(folder, "cr.toml")
    with open(config, "w", encoding="utf-8") as out:
        out.write(
            f'[cosmic-ray]\nmodule-path = "{args.module}"\ntimeout = 60.0\nexcluded-modules = []\n'
            f'test-command = "{args.python} -B -m pytest -x -q {args.options} {args.tests}"\n[cosmic-ray.distributor]\nname = "local"\n'
        )
    program, session = os.path.join(os.path.dirname(args.python), "cosmic-ray"), os.path.join(folder, "s.sqlite")
    subprocess.run([program, "init", config, session], cwd=args.work, check=True, capture_output=True)
    return program, config, session


def beside(args):
    import sqlite3

    code, record, wall, used, says = probe(args, args.tests, "--budget", str(args.budget), "--jobs", "1")
    if record is None:
        sys.exit(f"probe: exit {code}: {says}")
    mutants = [mutant for mutant in record["mutants"] if mutant["path"] == args.module]
    tried = len(record["mutants"])
    twin = record["twins"][0]["seconds"]
    print(f"seedgate    {tried} mutants  {wall:.1f} s wall ({twin:.1f} s of it the twin)  {used:.1f} s cpu  {60 * tried / wall:.1f} a minute, {60 * tried / used:.1f} a cpu minute")
    with tempfile.TemporaryDirectory() as folder:
        args.work = os.path.join(folder, "w")
        git(args.repo, "worktree", "prune")
        subprocess.run(["git", "clone", "-q", args.repo, args.work], check=True)
        program, config, session = cosmic(args, folder)
        # The places that both have: line, and what the operator makes of what.
        wanted = {}
        for mutant in mutants:
            wanted.setdefault(mutant["line"], []).append(mutant)
        lines, base = sorted(wanted), sqlite3.connect(session)
        rows = base.execute("select job_id, start_pos_row, operator_name from mutation_specs").fetchall()
        kept, pairs = set(), []
        for job, line, operator in rows:
            for mutant in wanted.get(line, []):
                if is_same(operator, mutant["before"], mutant["after"]):
                    kept.add(job)
                    pairs.append((job, mutant))
                    break
        for job, *_ in rows:
            if job not in kept:
                base.execute("delete from mutation_specs where job_id = ?", (job,))
                base.execute("delete from work_items where job_id = ?", (job,))
        base.commit()
        done, wall, used = timed([program, "exec", config, session], args.work)
        if done.returncode:
            sys.exit(done.stderr[-2000:])
        results = dict(base.execute("select job_id, test_outcome from work_results").fetchall())
        count = len(results)
        print(f"cosmic-ray  {count} mutants  {wall:.1f} s wall  {used:.1f} s cpu  {60 * count / wall:.1f} a minute, {60 * count / max(used, 0.01):.1f} a cpu minute")
        same = 0
        for job, mutant in pairs:
            theirs, ours = str(results.get(job, "")).lower(), mutant["outcome"]["verdict"]
            is_equal = ours in theirs
            same += is_equal
            if not is_equal:
                print(f"    line {mutant['line']} {mutant['before']!r} -> {mutant['after']!r}: seedgate {ours} ({mutant['outcome'].get('why')}), cosmic-ray {theirs}")
        print(f"verdicts: {same} of {len(pairs)} the same ({len(lines)} lines)")


SPELLED = {
    "==": "Eq", "!=": "NotEq", "<": "Lt", "<=": "LtE", ">": "Gt", ">=": "GtE", "is": "Is", "is not": "IsNot",
    "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "//": "FloorDiv", "%": "Mod", "**": "Pow", ">>": "RShift", "<<": "LShift", "|": "BitOr", "&": "BitAnd", "^": "BitXor",
}


def is_same(operator, before, after):
    name = operator.rsplit("/", 1)[-1]
    if before in SPELLED and after in SPELLED:
        return name.endswith(f"_{SPELLED[before]}_{SPELLED[after]}")
    if (before, after) == ("and", "or"):
        return name == "ReplaceAndWithOr"
    if (before, after) == ("or", "and"):
        return name == "ReplaceOrWithAnd"
    if (before, after) == ("True", "False"):
        return name == "ReplaceTrueWithFalse"
    if (before, after) == ("False", "True"):
        return name == "ReplaceFalseWithTrue"
    # Numbers are replaced by both neighbours there, in rows that do not say by which.
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["history", "beside"])
    parser.add_argument("--seedgate", required=True, type=os.path.abspath)
    parser.add_argument("--python", required=True, type=os.path.abspath)
    parser.add_argument("--repo", required=True, type=os.path.abspath)
    parser.add_argument("--commits", type=int, default=10)
    parser.add_argument("--budget", type=int, default=10)
    parser.add_argument("--options", default="", help="more options for pytest")
    parser.add_argument("--module")
    parser.add_argument("--tests")
    args = parser.parse_args()
    history(args) if args.what == "history" else beside(args)


if __name__ == "__main__":
    main()
