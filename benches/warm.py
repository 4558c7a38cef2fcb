#!/usr/bin/env python3
"""What memo and daemon save: each kind of work with nothing remembered, with the memo, and with memo and daemon, in one interleaved run.

    python3 benches/warm.py --seedgate target/release/seedgate [--repo CLONE] [--commits 300] [--rounds 7] [--json OUT]

Work: a commit of one edited test file of 3,000 lines, `check` over the last commits, a push of 200 commits, `digest` of an unchanged fixture
tree. Without --repo the history is made here; with it the last commits of that clone are judged. The answers must be equal, or nothing
is measured.
"""
import argparse
import os
import pathlib
import shutil
import tempfile
import time

import sampling

TOP = pathlib.Path(__file__).resolve().parent.parent
WAYS = ("cold", "memo", "memo + daemon")
# How long a person takes from saving a file to committing it, at least.
PAUSE = 0.6


def test_file(number, functions, edit=0):
    head = "import pytest\nfrom hypothesis import given, strategies as st\nfrom helpers import check, small\n\n"
    body = "\n".join(
        f"@given(st.integers(0, {100 + edit + n}), st.lists(small, max_size={n % 7 + 3}))\ndef test_property_{n}(n, items):\n    total = sum(items) + n\n"
        f"    assert total >= n\n    check(total, {number})\n\n\n@pytest.mark.parametrize('value, expected', [({n}, {n + 1}), ({n + 1}, {n + 2}), ({n + 2}, {n + 3})])\n"
        f"def test_rows_{n}(value, expected):\n    assert value + 1 == expected\n    assert expected > value\n\n"
        for n in range(functions)
    )
    return head + body


def history(folder, commits, env):
    """60 test files that share a helper; each commit adds to one of them."""
    git = lambda *args: sampling.run(["git", *args], env, folder)
    git("init", "-q", "-b", "main")
    tests = folder / "tests"
    tests.mkdir()
    (tests / "helpers.py").write_text("from hypothesis import strategies as st\n\nsmall = st.integers(0, 9)\n\n\ndef check(total, number):\n    assert total >= 0\n    assert number >= 0\n")
    for number in range(60):
        (tests / f"test_{number}.py").write_text(test_file(number, 20))
    (tests / "test_large.py").write_text(test_file(0, 180))
    git("add", "-A")
    git("commit", "-q", "-m", "base")
    for number in range(commits):
        (tests / f"test_{number % 60}.py").write_text(test_file(number % 60, 20 + number // 60, number + 1))
        git("commit", "-q", "-am", f"tests: {number}")


def fixtures(folder, megabytes, env):
    git = lambda *args: sampling.run(["git", *args], env, folder)
    git("init", "-q", "-b", "main")
    for number in range(400):
        path = folder / "fixtures" / f"d{number % 40:02}" / f"f{number}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(megabytes * 1_000_000 // 400))
    git("add", "-A")
    git("commit", "-q", "-m", "fixtures")


class Way:
    """One way to run Seedgate: a home of its own, with or without a daemon; `cold` forgets everything before each run."""

    def __init__(self, name, seedgate, scratch):
        self.name, self.seedgate, self.home = name, seedgate, scratch / name.replace(" ", "")
        self.forget()

    def forget(self):
        shutil.rmtree(self.home, ignore_errors=True)
        self.env = {**sampling.environment(str(self.home)), "SEEDGATE_DAEMON": "on" if self.name.endswith("daemon") else "off"}

    def run(self, folder, *command, **more):
        if self.name == "cold":
            self.forget()
        answer = []
        ms = sampling.milliseconds(lambda: answer.append(sampling.run([*command], self.env, folder, **more)))
        return ms, answer[0]

    def stop(self):
        sampling.run([self.seedgate, "daemon", "stop"], self.env)


def work(args, scratch, env):
    """{work: function of a way that answers (ms, what it said)}"""
    folder, tree = scratch / "r", scratch / "fixtures"
    folder.mkdir()
    tree.mkdir()
    history(folder, max(args.commits, 200), env)
    fixtures(tree, args.megabytes, env)
    clone = args.repo or folder
    seedgate, large, count = args.seedgate, folder / "tests" / "test_large.py", iter(range(1, 1_000_000))
    tip, before = (sampling.run(["git", "rev-parse", rev], env, folder).strip() for rev in ("HEAD", "HEAD~200"))
    until = "HEAD" if args.repo else tip
    sampling.run([seedgate, "init"], env, folder)
    # What is older than the gate is not judged at push: here nothing is.
    (folder / ".git" / "seedgate" / "baseline.json").unlink()

    def commit(way):
        large.write_text(test_file(0, 180, next(count)))
        time.sleep(PAUSE)
        sampling.run(["git", "add", "tests/test_large.py"], env, folder)
        return way.run(folder, "git", "commit", "-q", "-m", "x")[0], None

    def push(way):
        lines = f"refs/heads/main {tip} refs/heads/main {before}\n"
        return way.run(folder, seedgate, "hook", "pre-push", "origin", "x", codes=(0, 1), input=lines)

    return {
        "commit of a large test file": commit,
        f"check of {args.commits} commits": lambda way: way.run(clone, seedgate, "check", "--base", f"{until}~{args.commits}", "--head", until, codes=(0, 2, 3, 4)),
        "push of 200 commits": push,
        f"digest of {args.megabytes} MB": lambda way: way.run(tree, seedgate, "digest", "fixtures"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seedgate", type=pathlib.Path, default=TOP / "target" / "release" / "seedgate")
    parser.add_argument("--repo", type=lambda text: pathlib.Path(text).resolve(), help="a clone whose last commits are judged")
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", metavar="OUT")
    args = parser.parse_args()
    args.seedgate = args.seedgate.resolve()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="seedgate-warm-"))
    env = {**sampling.environment(str(scratch / "home")), "SEEDGATE_DAEMON": "off"}
    ways = [Way(name, args.seedgate, scratch) for name in WAYS]
    result = {"schema": "seedgate.bench/1", "warm": {}, "goals": []}
    try:
        for title, act in work(args, scratch, env).items():
            said = {}

            def once(way, act=act, said=said):
                ms, said[way.name] = act(way)
                return ms

            samples = sampling.interleave({way.name: (lambda way=way: once(way)) for way in ways}, args.rounds, warm=2)
            if len(set(said.values())) != 1:
                raise SystemExit(f"{title}: not every way says the same: {said}")
            rows = sampling.summary(samples, "cold")
            sampling.table(title, rows)
            result["warm"][title] = rows
            if not title.startswith("commit"):
                result["goals"].append(sampling.goal(f"{title}: memo + daemon / cold", rows["memo + daemon"]["ratio"], 0.2))
    finally:
        ways[-1].stop()
        shutil.rmtree(scratch, ignore_errors=True)
    sampling.save(args.json, result)


if __name__ == "__main__":
    main()
