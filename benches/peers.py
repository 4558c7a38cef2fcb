#!/usr/bin/env python3
"""Seedgate beside checkwash (PyPI) on the same weakenings and the same human commits, in one interleaved run.

    python3 benches/peers.py --seedgate target/release/seedgate --battery DIR --repo PATH... [--commits 500] [--labels TSV] [--json OUT]

The battery is a folder with `run-battery.py`, `cases/` and `bases/`; a repository is a clone whose last commits that touch tests are judged one
by one. A tool refuses a commit when it would block it; `split_required` (mixing) is left out for Seedgate, since checkwash has no such
rule. Labels (`commit<TAB>weaker|equal|stronger|unclear<TAB>why`) are a person's reading: refused although `equal` or `stronger` is false.
"""
import argparse
import csv
import importlib.util
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

import sampling

TOP = pathlib.Path(__file__).resolve().parent.parent
VENV = TOP / "target" / "bench" / "venv"
CHECKWASH = "checkwash==0.9.0"
TESTS = ["tests", "test", "*/tests/*", "**/test_*.py", "conftest.py"]


def peer(env):
    """checkwash in the virtual environment of the bench."""
    program = VENV / "bin" / "checkwash"
    if not program.exists():
        if not (VENV / "bin" / "pip").exists():
            subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([VENV / "bin" / "pip", "install", "-q", CHECKWASH], check=True)
    print(sampling.run([program, "--version"], env).strip())
    return program


def seedgate(program, env):
    def judge(repo, commit):
        command = [program, "check", "--base", f"{commit}^", "--head", commit, "--json", "--cold"]
        done = subprocess.run(command, cwd=repo, env=env, capture_output=True, text=True)
        if done.returncode not in (0, 2, 3, 4):
            return None
        findings = [f for c in json.loads(done.stdout)["commits"] for f in c["findings"] if f["exit"] == 2]
        return sorted({f["rule"] for f in findings})
    return judge


def checkwash(program, env):
    def judge(repo, commit):
        command = [program, "check", f"{commit}^..{commit}", "--format", "json"]
        done = subprocess.run(command, cwd=repo, env=env, capture_output=True, text=True)
        try:
            report = json.loads(done.stdout)
        except ValueError:
            return None
        blocking = [f["rule"] for f in report["findings"] if f["severity"] in ("high", "critical") and not f["allowlisted"]]
        return sorted(set(blocking) or {"block"}) if report["verdict"] == "block" else []
    return judge


def both(tools, repo, commit, dice, spent):
    """{tool: rules that refuse the commit, or None for no verdict}, in a shuffled order."""
    found = {}
    for name in dice.sample(list(tools), len(tools)):
        def act(name=name):
            found[name] = tools[name](repo, commit)
        spent[name].append(sampling.milliseconds(act))
    return found


def battery(folder, tools, dice, spent):
    """[(case, {tool: refused where it must be / where it must not be})] of the Python cases."""
    spec = importlib.util.spec_from_file_location("battery", folder / "run-battery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        env = module.environment(scratch)
        cases = [c for c in module.load_cases(str(folder / "cases"), ["py_*"]) if not c.get("disputed")]
        bases = {base: module.make_base(base, str(folder / "bases"), scratch, env) for base in sorted({c["base"] for c in cases})}
        for case in cases:
            repo = f"{scratch}/w-{case['id']}"
            _, judged = module.build(case, bases[case["base"]], repo, env)
            hit, false = dict.fromkeys(tools, False), dict.fromkeys(tools, False)
            for commit, expect in judged:
                for name, rules in both(tools, repo, commit, dice, spent).items():
                    hit[name] |= bool(rules) and 2 in expect["exit"]
                    false[name] |= bool(rules) and 2 not in expect["exit"]
            rows.append((case["id"], case["kind"], hit, false))
            shutil.rmtree(repo)
    return rows


def commits(repo, most):
    log = ["git", "log", "--no-merges", "--format=%H", f"-{most}", "--", *TESTS]
    return subprocess.run(log, cwd=repo, check=True, capture_output=True, text=True).stdout.split()


def labels(path):
    if not path:
        return {}
    with open(path, encoding="utf-8") as lines:
        return {row[0]: row[1] for row in csv.reader(lines, delimiter="\t") if len(row) > 1 and not row[0].startswith("#")}


def label_of(known, commit):
    return next((label for short, label in known.items() if commit.startswith(short)), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seedgate", type=pathlib.Path, default=TOP / "target" / "release" / "seedgate")
    parser.add_argument("--battery", type=pathlib.Path)
    parser.add_argument("--repo", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("--labels")
    parser.add_argument("--json")
    args = parser.parse_args()
    dice, known, report = random.Random(1), labels(args.labels), {}
    with tempfile.TemporaryDirectory() as home:
        env = {**sampling.environment(home), "SEEDGATE_DAEMON": "off"}
        tools = {"seedgate": seedgate(args.seedgate.resolve(), env), "checkwash": checkwash(peer(env), env)}
        spent = {name: [] for name in tools}
        if args.battery:
            rows = battery(args.battery.resolve(), tools, dice, spent)
            for name in tools:
                caught = sum(hit[name] for _, kind, hit, _ in rows if kind == "weakening")
                false = sum(bad[name] for *_, bad in rows)
                bad = sum(kind == "weakening" for _, kind, *_ in rows)
                print(f"battery  {name:<10} caught {caught} / {bad}   false {false} / {len(rows) - bad} honest")
                report[f"battery {name}"] = {"caught": caught, "weakenings": bad, "false": false, "honest": len(rows) - bad}
        for repo in args.repo:
            spent = {name: [] for name in tools}
            judged = [(commit, both(tools, repo, commit, dice, spent)) for commit in commits(repo, args.commits)]
            for name in tools:
                refused = [c for c, found in judged if found[name] and found[name] != ["split_required"]]
                no_verdict = sum(found[name] is None for _, found in judged)
                read = [label_of(known, c) for c in refused]
                said = {label: read.count(label) for label in ("weaker", "equal", "stronger", "unclear") if read.count(label)}
                ms = statistics.median(spent[name]) if spent[name] else 0.0
                share = 100 * len(refused) / max(1, len(judged))
                print(f"{repo.name:<10} {name:<10} refused {len(refused):>4} / {len(judged)} = {share:.1f} %   no verdict {no_verdict}   median {ms:.0f} ms   labels {said}")
                report[f"{repo.name} {name}"] = {"refused": len(refused), "commits": len(judged), "ms": ms, "labels": said, "ids": refused}
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
