"""Owns one job (docs/remote.md): runs the inputs or the tests of job.json on the tree around it and writes verdict.json. Standard library only.

The same bytes come out wherever it runs: no time, no address, no path of this machine.
"""

import hashlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.getcwd()
# How long a worker may take for its hello, and for importing a module.
START = 60
MOST_LINE = 64 << 20


class Ended(Exception):
    """The worker is gone."""


class Hung(Exception):
    """The worker says nothing for too long."""


class Refused(Exception):
    """There is no verdict, with the word that names why."""

    def __init__(self, kind, says):
        super().__init__(says)
        self.kind, self.says = kind, says


class Worker:
    """A process of seedgate.worker/1 that is asked one thing at a time."""

    def __init__(self, job):
        self.limit = job["limit"]
        home = os.path.join(HERE, "home")
        os.makedirs(home, exist_ok=True)
        environment = dict(os.environ, HOME=home, TMPDIR=home)
        self.child = subprocess.Popen(
            [sys.executable, "-s", "-B", os.path.join(HERE, "seedgate_worker.py")],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        self.rest, self.loaded, self.seen, self.property, self.welcome = b"", None, None, None, {}

    def greet(self, job):
        hello = {"seedgate.worker": 1, "op": "hello", "root": ROOT, "path": job["path"], "memory": job["memory"], "progress": None}
        self.welcome = self.ask(hello, START)
        if self.welcome.get("seedgate.worker") != 1:
            raise Refused("no_worker", "what answers is no worker")

    def ask(self, asked, limit):
        try:
            self.child.stdin.write(json.dumps(asked).encode() + b"\n")
            self.child.stdin.flush()
        except OSError:
            raise Ended() from None
        answer = json.loads(self.line(time.monotonic() + limit))
        if "error" in answer:
            raise Refused(answer["error"]["kind"], answer["error"]["message"])
        return answer

    def line(self, end):
        output = self.child.stdout.fileno()
        while b"\n" not in self.rest:
            ready, _, _ = select.select([output], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise Hung()
            piece = os.read(output, 1 << 16)
            if not piece or len(self.rest) > MOST_LINE:
                raise Ended()
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        return line

    def how(self):
        """How it ended."""
        try:
            code = self.child.wait(2)
        except subprocess.TimeoutExpired:
            return "closed output"
        if code >= 0:
            return "exit %d" % code
        try:
            name = signal.Signals(-code).name
        except ValueError:
            return "signal %d" % -code
        return "signal %d, %s" % (-code, name)

    def kill(self):
        self.child.kill()
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            try:
                pipe.close()
            except OSError:
                pass


# --- where code was loaded from -----------------------------------------------------------------------------------------------------


class Inside:
    """What the tree holds, as an interpreter sees it."""

    def __init__(self, path):
        self.ends, self.top = set(), set()
        for folder, folders, files in os.walk(ROOT):
            folders[:] = [name for name in folders if os.path.join(folder, name) != os.path.join(ROOT, ".seedgate")]
            for name in files:
                if name.endswith(".py"):
                    self.add(os.path.relpath(os.path.join(folder, name), ROOT), path)

    def add(self, file, path):
        parts = file.split(os.sep)
        self.ends.update("/".join(parts[at:]) for at in range(len(parts)))
        for folder in path:
            head = folder.split("/") if folder else []
            if parts[: len(head)] == head:
                rest = parts[len(head) :]
                if len(rest) == 1:
                    self.top.add(rest[0][:-3])
                elif len(rest) == 2 and rest[1] == "__init__.py":
                    self.top.add(rest[0])

    def strangers(self, modules, homes):
        return sorted(name for name, file in modules if self.is_stranger(name, file, homes))

    def is_stranger(self, name, file, homes):
        if file.startswith((ROOT + os.sep, HERE + os.sep)) or not file.endswith(".py"):
            return False
        top = name.split(".")[0]
        if any(file.startswith(home + os.sep) for home in homes):
            return top in self.top
        end = name.replace(".", "/")
        return top in self.top or end + ".py" in self.ends or end + "/__init__.py" in self.ends


# --- the job ------------------------------------------------------------------------------------------------------------------------


def plain(text):
    """Words without what differs from machine to machine."""
    for folder in (HERE, ROOT):
        text = text.replace(folder, ".")
    return re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", text)


class Runner:
    def __init__(self, job):
        self.job, self.worker, self.inside, self.spoken = job, None, None, None

    def fresh(self):
        """The next input meets a worker that remembers nothing."""
        if self.worker is not None:
            self.worker.kill()
        self.worker = None

    def ready(self):
        if self.worker is None:
            self.worker = Worker(self.job)
            try:
                self.worker.greet(self.job)
                self.spoken = [self.worker.welcome["language"], self.worker.welcome["version"]]
                asked = {"op": "open", "id": self.job["prop_id"], "arguments": self.job["arguments"]}
                self.worker.property = self.worker.ask(asked, START)["property"]
            except Hung:
                raise Refused("timeout", "a module was not imported within %d s" % START) from None
            except Ended:
                how = self.worker.how()
                raise Refused("import_failed", "the worker ended while a module was imported: " + how) from None
            self.strangers()
        return self.worker

    def strangers(self):
        worker = self.worker
        worker.seen = worker.loaded
        try:
            modules = worker.ask({"op": "modules"}, START)["modules"]
        except (Ended, Hung):
            self.fresh()
            return
        self.inside = self.inside or Inside(self.job["path"])
        strange = self.inside.strangers(modules, worker.welcome["home"])
        if strange:
            raise Refused("outside_tree", "not loaded from the tree under test: " + ", ".join(strange[:5]))

    def one(self, given):
        """What one input came to."""
        worker = self.ready()
        try:
            done = worker.ask({"op": "run", "property": worker.property, "batch": 1, "stop_after": 1, "inputs": [given]}, worker.limit)
        except Hung:
            self.fresh()
            return {"outcome": "fail", "type": "hang", "place": None, "message": "one input took more than %g s" % worker.limit}
        except Ended:
            how = worker.how()
            self.fresh()
            return {"outcome": "fail", "type": "crash (" + how + ")", "place": None, "message": "the worker ended: " + how}
        worker.loaded = done.get("loaded")
        found = done["others"][0] if done["others"] else {"outcome": "pass"}
        if worker.loaded is None or worker.loaded != worker.seen:
            self.strangers()
        if found.get("restart"):
            self.fresh()
        if found["outcome"] == "error":
            raise Refused(found.get("kind", "worker"), found.get("message", ""))
        if found["outcome"] != "fail":
            return {"outcome": found["outcome"]}
        kept = {name: found.get(name) for name in ("outcome", "type", "place", "message")}
        kept["message"] = plain(kept["message"] or "")
        return kept

    def run(self, inputs):
        """Inputs until the first that fails; a failure is tried again where nothing remembers the inputs before it."""
        told = {"ran": 0, "invalid": 0}
        for number, given in enumerate(inputs):
            found = self.one(given)
            told["ran"] += 1
            told["invalid"] += found["outcome"] == "invalid"
            if found["outcome"] == "fail" or (self.job["again"] == "all" and found["outcome"] == "pass"):
                self.fresh()
                again = self.one(given)
                same = all(again.get(name) == found.get(name) for name in ("outcome", "type", "place"))
                if found["outcome"] == "fail" or not same:
                    failed = found if found["outcome"] == "fail" else again
                    failure = {"type": failed.get("type", failed["outcome"]), "place": failed.get("place"), "message": failed.get("message", "")}
                    told["first"] = {"number": number, "again": same, "failure": failure}
                    return told
        return told


def tested(job, told):
    """A job of tests: what they came to, or why they came to nothing."""
    import platform
    import seedgate_suite

    told["worker"] = ["python", platform.python_version()]
    try:
        told["runs"].append(seedgate_suite.run(job, ROOT, HERE, Inside(job["path"]).strangers))
    except seedgate_suite.Refused as why:
        told["refusal"] = {"kind": why.kind, "message": plain(why.says)}
    for run in told["runs"]:
        if "first" in run:
            run["first"]["failure"]["message"] = plain(run["first"]["failure"]["message"])
    return told


def verdict(job, raw):
    told = {"schema": "seedgate.job-verdict/1", "nonce": job["nonce"], "job_sha256": hashlib.sha256(raw).hexdigest()}
    told.update(prop_id=job["prop_id"], parent=job["parent"], refusal=None, runs=[])
    if job["kind"] == "probe":
        return tested(job, told)
    runner = Runner(job)
    try:
        for inputs in job["runs"]:
            told["runs"].append(runner.run(inputs))
    except Refused as why:
        told["refusal"] = {"kind": why.kind, "message": plain(why.says)}
    finally:
        runner.fresh()
    told["worker"] = runner.spoken
    return told


def die_with_parent():
    """On Linux the kernel ends this process with the one that started it, however that ends."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except Exception:
        pass


def main():
    die_with_parent()
    with open(os.path.join(HERE, "job.json"), "rb") as file:
        raw = file.read()
    text = json.dumps(verdict(json.loads(raw), raw), sort_keys=True, separators=(",", ":")) + "\n"
    place = os.path.join(HERE, "verdict.json")
    with open(place + ".new", "w") as file:
        file.write(text)
    os.rename(place + ".new", place)


if __name__ == "__main__":
    main()
