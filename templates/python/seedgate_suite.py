"""Owns a job of tests (docs/remote.md): runs the job's test command on the tree around it and says what it came to. Standard library only.

A run without a verdict is a refusal with a word, never a failure: a fault is killed by a test that failed, and by nothing else.
"""

import json
import os
import signal
import subprocess
import sys
import threading

# Exit codes from here on are the shell's own: not executable, not found, ended by a signal.
OF_SHELL = 126
# What is kept of what the command prints.
OUTPUT = 16 << 10
# How long an import of one module may take.
IMPORT = 60


class Refused(Exception):
    """There is no verdict, with the word that names why."""

    def __init__(self, kind, says):
        super().__init__(says)
        self.kind, self.says = kind, says


def die_with_parent():
    """On Linux the kernel ends the command with this process."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except Exception:
        pass


class Tests:
    """The command in its surroundings."""

    def __init__(self, job, root, here):
        self.job, self.root = job, root
        home = os.path.join(here, "home")
        os.makedirs(home, exist_ok=True)
        self.report, self.order = os.path.join(home, "report.json"), os.path.join(home, "order.json")
        # `python` in the command is the interpreter that runs this job.
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
        folders = [here] + [os.path.join(root, folder) if folder else root for folder in job["path"]]
        self.environment = dict(
            os.environ, PATH=path, HOME=home, TMPDIR=home, PWD=root, SEEDGATE_SUITE=self.order, PYTEST_PLUGINS="seedgate_report",
            PYTEST_ADDOPTS="-o 'cache_dir=%s'" % os.path.join(home, "cache"), HYPOTHESIS_STORAGE_DIRECTORY=os.path.join(home, "hypothesis"),
            PYTHONPATH=os.pathsep.join(folder for folder in folders if os.path.isdir(folder)),
        )

    def ordered(self):
        job = self.job
        order = {"nonce": job["nonce"], "root": self.root, "report": self.report, "serve": None, "probe": True, "twin": False}
        order["stop"] = job["only"] is not None
        order.update((name, job[name]) for name in ("only", "files") if job[name] is not None)
        with open(self.order, "w") as file:
            json.dump(order, file)

    def run(self, command, limit):
        """The exit code (nothing when its time was over) and the end of what was printed."""
        self.ordered()
        child = subprocess.Popen(
            command, cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=die_with_parent,
        )
        kept = [b""]

        def keep():
            while True:
                piece = os.read(child.stdout.fileno(), 1 << 16)
                if not piece:
                    return
                kept[0] = (kept[0] + piece)[-OUTPUT:]

        reader = threading.Thread(target=keep, daemon=True)
        reader.start()
        try:
            code = child.wait(limit)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            code = None
        # What it left behind may hold the pipe open.
        reader.join(0.5)
        if code is not None and code < 0:
            code = 128 - code
        return code, kept[0].decode(errors="replace")

    def told(self):
        """The plugin's report, if it left one that answers this job."""
        try:
            with open(self.report, "rb") as file:
                report = json.load(file)
        except (OSError, ValueError):
            return None
        return report if report.get("nonce") == self.job["nonce"] else None


def last(output):
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else ""


def failure(kind, place, message):
    return {"ran": 1, "invalid": 0, "first": {"number": 0, "again": True, "failure": {"type": kind, "place": place, "message": message}}}


PASSED = {"ran": 1, "invalid": 0}


def by_report(job, code, report, strangers):
    """Of a runner that tells of each test: a verdict is what tests say, never its exit code."""
    errors, tests = report["errors"], report["tests"]
    if errors:
        raise Refused("broken", "%s error in %s: %s" % (errors[0]["kind"], errors[0]["where"], errors[0]["says"]))
    strange = strangers(report["modules"], report["homes"])
    if strange:
        raise Refused("outside_tree", "not loaded from the tree under test: " + ", ".join(strange[:5]))
    for name, outcome, _, says in tests:
        if outcome in ("failed", "error"):
            return failure("test", name, says)
    for name, outcome, _, says in tests:
        if outcome in ("import_error", "timeout"):
            raise Refused("broken", "%s in %s: %s" % ("time-out" if outcome == "timeout" else "import error", name, says))
    passed = {name for name, outcome, _, _ in tests if outcome in ("passed", "xpassed")}
    if report["exit"] != 0 or code != 0:
        raise Refused("broken", "pytest exit %s, the command's %d" % (report["exit"], code))
    missing = [name for name in job["only"] or () if name not in passed]
    if missing or not passed:
        raise Refused("broken", "%s did not run to its end" % missing[0] if missing else "no test passed")
    return PASSED


def by_code(job, code, output, tests):
    """Of another command: a code of failure counts only where what is tested can still be imported."""
    if code == 0:
        return PASSED
    if code >= OF_SHELL:
        raise Refused("broken", "exit %d: %s" % (code, last(output)))
    for name in job["imports"]:
        if tests.run([sys.executable, "-c", "import " + name], IMPORT)[0] != 0:
            raise Refused("broken", "exit %d, and %s cannot be imported" % (code, name))
    return failure("exit %d" % code, None, "")


def run(job, root, here, strangers):
    """What the tests of a job come to."""
    tests = Tests(job, root, here)
    code, output = tests.run(["sh", "-c", job["command"]], job["limit"])
    if code is None:
        raise Refused("timeout", "time-out: it took more than %g s" % job["limit"])
    if not job["told"]:
        return by_code(job, code, output, tests)
    report = tests.told()
    if report is None:
        raise Refused("no_report", "no report (exit %d): %s" % (code, last(output)))
    return by_report(job, code, report, strangers)
