#!/usr/bin/env python3
"""What the worker's protocol costs: a trivial property behind seedgate.worker/1, beside a bare loop that parses the same lines.

    python3 benches/worker.py [--inputs N] [--rounds N] [--python PROGRAM] [--seedgate PROGRAM]

Rounds of both are interleaved, medians are taken, and the ratio is what counts (wanted: at most 2). With --seedgate it also runs the
whole chain (generate, send, call, hear) over a small repository, as inputs a minute.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SHIM = os.path.join(HERE, "..", "templates", "python", "seedgate_worker.py")
PROPERTY = "def prop_small(n):\n    assert n < 1 << 40\n"
BARE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from props import prop_small
for line in sys.stdin.buffer:
    asked = json.loads(line)
    for given in asked.get("inputs", ()):
        prop_small(**given)
    sys.stdout.write('{"ran":%d}\\n' % len(asked.get("inputs", ())))
"""


def lines(root, inputs, batch):
    said = [json.dumps({"seedgate.worker": 1, "op": "hello", "root": root, "path": [""], "memory": None, "progress": root + "/progress"})]
    said.append(json.dumps({"op": "open", "id": "props.py::prop_small", "arguments": ["n"]}))
    for start in range(0, inputs, batch):
        given = [{"n": (n * 2654435761) % (1 << 31)} for n in range(start, start + batch)]
        said.append(json.dumps({"op": "run", "property": 0, "batch": start // batch + 1, "stop_after": 1, "inputs": given}, separators=(",", ":")))
    return ("\n".join(said) + "\n").encode()


def timed(command, text):
    """Seconds of a core: what else the machine does must not count."""
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
    if b'"error"' in done.stdout:
        sys.exit(done.stdout.decode())
    return took


def whole(seedgate, python, inputs):
    with tempfile.TemporaryDirectory() as top:
        def git(*arguments):
            quiet = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1")
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=top, check=True, env=quiet)

        os.makedirs(os.path.join(top, "tests", "properties"))
        with open(os.path.join(top, "tests", "properties", "test_small.py"), "w") as file:
            file.write("from seedgate_props import bounds\n\n@bounds(n=(0, 1 << 31))\n" + PROPERTY)
        with open(os.path.join(top, "seeds.txt"), "w") as file:
            file.write("1\n")
        git("init", "-q")
        for message in ("one", "two"):
            git("add", "-A")
            git("commit", "-q", "--allow-empty", "-m", message)
        took = []
        for trials in (1, inputs):
            start = time.perf_counter()
            subprocess.run([seedgate, "props", "run", "--seeds", "seeds.txt", "--trials", str(trials), "--python", python], cwd=top, check=True, stdout=subprocess.DEVNULL)
            took.append(time.perf_counter() - start)
        return inputs / (took[1] - took[0]) * 60


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=400_000)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seedgate")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        with open(os.path.join(root, "props.py"), "w") as file:
            file.write(PROPERTY)
        with open(os.path.join(root, "progress"), "wb") as file:
            file.write(b"\0" * 16)
        few, many = lines(root, asked.batch, asked.batch), lines(root, asked.inputs, asked.batch)
        commands = {"bare": [asked.python, "-c", BARE, root], "worker": [asked.python, "-s", "-B", SHIM]}
        took = {name: [] for name in commands}
        for _ in range(asked.rounds):
            for name, command in commands.items():
                # Without what starting costs: that is paid once a tree.
                took[name].append(timed(command, many) - timed(command, few))
        medians = {name: statistics.median(times) for name, times in took.items()}
        for name, median in medians.items():
            print(f"{name}: {median * 1e6 / asked.inputs:.2f} us an input, {asked.inputs / median * 60:,.0f} a minute")
        print(f"ratio: {medians['worker'] / medians['bare']:.2f}")
        if asked.seedgate:
            print(f"whole chain: {whole(asked.seedgate, asked.python, asked.inputs):,.0f} inputs a minute")


if __name__ == "__main__":
    main()
