"""Owns the pytest side of seedgate's test runs: tells what each test came to, which lines it ran, and tries mutants in forks. Standard library only."""

import gc
import json
import os
import select
import signal
import socket
import sys
import threading
import time
import types

import pytest

MOST_TEXT = 300
MOST_MODULES = 5000
# Failures that say that something could not be loaded, which is no verdict of a test.
LOADING = (ImportError, SyntaxError)
# What keeps a test from having a verdict.
WORDS = {"error": "setup error", "import_error": "import error", "timeout": "time-out"}


def taken():
    """The order of this run. It is taken out of the environment: what the tests themselves start is none of our business."""
    file = os.environ.pop("SEEDGATE_SUITE", "")
    for name in ("PYTEST_PLUGINS", "PYTEST_ADDOPTS"):
        kept = os.environ.pop("SEEDGATE_KEPT_" + name, None)
        if kept is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = kept
    if not file:
        return {}
    with open(file, encoding="utf-8") as source:
        return json.load(source)


ORDER = taken()
ROOT = os.path.realpath(ORDER.get("root", os.getcwd()))
INSIDE = ROOT + os.sep


def inside(file):
    """The path from the tree's root, or nothing."""
    if not file:
        return None
    if file.startswith(INSIDE):
        return file[len(INSIDE) :]
    real = os.path.realpath(file)
    return real[len(INSIDE) :] if real.startswith(INSIDE) else None


def short(text):
    return str(text)[:MOST_TEXT]


def die_with_parent():
    """On Linux the kernel ends this process with the one that started it."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, 9)
    except (ImportError, OSError, AttributeError):
        return


# --- which lines a test runs --------------------------------------------------------------------------------------------------------


class Trace:
    """For each wanted line of the tree: the tests that run it. Test 0 stands for everything before the first test."""

    def __init__(self, wanted):
        # By the file's real path: lines at which a mutant could stand.
        self.wanted = {os.path.join(ROOT, path): frozenset(lines) for path, lines in wanted.items()}
        self.files = {}
        self.seen = {path: {} for path in self.wanted}
        self.now = 0
        self.monitoring = getattr(sys, "monitoring", None)
        self.tool = None
        # The code objects of the wanted files: events of all other code would cost more than the tests themselves.
        self.codes = {}
        if self.wanted and self.monitoring is not None:
            sys.addaudithook(self.on_event)
            for thing in gc.get_objects():
                if type(thing) is types.FunctionType:
                    self.add(thing.__code__)

    def of(self, file):
        """What is kept of a code object's file; nothing where it is not of interest."""
        try:
            return self.files[file]
        except KeyError:
            path = inside(file)
            found = os.path.join(ROOT, path) if path else None
            kept = (self.wanted[found], self.seen[found]) if found in self.wanted else None
            self.files[file] = kept
            return kept

    def on_event(self, event, arguments):
        # A module's code is about to run; a thread that imports may be any.
        if event == "exec" and arguments and isinstance(arguments[0], types.CodeType):
            self.add(arguments[0])

    def add(self, code):
        """Takes in a code object of a wanted file, with all that it makes functions of."""
        if self.monitoring is None or id(code) in self.codes or self.of(code.co_filename) is None:
            return
        self.codes[id(code)] = code
        if self.tool is not None:
            self.monitoring.set_local_events(self.tool, code, self.monitoring.events.LINE)
        for part in code.co_consts:
            if isinstance(part, types.CodeType):
                self.add(part)

    def start(self):
        if not self.wanted:
            return
        if self.monitoring is not None and self.take():
            self.monitoring.register_callback(self.tool, self.monitoring.events.LINE, self.on_line)
            for code in list(self.codes.values()):
                self.monitoring.set_local_events(self.tool, code, self.monitoring.events.LINE)
            return
        self.monitoring = None
        threading.settrace(self.call)
        sys.settrace(self.call)

    def take(self):
        for tool in (4, 3, 5):
            if self.monitoring.get_tool(tool) is None:
                self.monitoring.use_tool_id(tool, "seedgate")
                self.tool = tool
                return True
        return False

    def on_line(self, code, line):
        kept = self.of(code.co_filename)
        if kept is not None and line in kept[0]:
            self.mark(kept[1], line)
        return self.monitoring.DISABLE

    def mark(self, seen, line):
        tests = seen.get(line)
        if tests is None:
            seen[line] = [self.now]
        elif tests[-1] != self.now:
            tests.append(self.now)

    def call(self, frame, event, argument):
        kept = self.of(frame.f_code.co_filename)
        if kept is None:
            return None
        lines, seen = kept

        def line(frame, event, argument):
            if frame.f_lineno in lines:
                self.mark(seen, frame.f_lineno)
            return line

        return line(frame, event, argument)

    def at(self, number):
        self.now = number
        if self.monitoring is not None and self.tool is not None:
            self.monitoring.restart_events()

    def stop(self):
        if self.tool is not None:
            for code in list(self.codes.values()):
                self.monitoring.set_local_events(self.tool, code, 0)
            self.monitoring.free_tool_id(self.tool)
            self.tool = None
        elif self.wanted:
            threading.settrace(None)
            sys.settrace(None)

    def told(self):
        return {inside(path): sorted((line, sorted(set(tests))) for line, tests in seen.items()) for path, seen in self.seen.items() if seen}


# --- what was run -------------------------------------------------------------------------------------------------------------------


class Report:
    """The plugin of one session."""

    def __init__(self, order):
        self.order = order
        self.tests = {}
        self.seconds = {}
        self.says = {}
        self.errors = []
        self.exit = None
        self.session = None
        self.is_over = False
        self.trace = Trace(order.get("lines") or {})
        # Modules that were there before anybody looked: what they ran is not known.
        self.early = sorted(path for path in (inside(getattr(module, "__file__", None)) for module in list(sys.modules.values())) if path)
        self.ids = []
        self.shared = []

    # Options that would run the tests in other processes or count lines.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        if self.order.get("probe"):
            known = early_config.known_args_namespace
            if hasattr(known, "no_cov"):
                known.no_cov = True
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config):
        if self.order.get("probe"):
            option = config.option
            for name, value in (("numprocesses", None), ("dist", "no"), ("tx", []), ("no_cov", True), ("maxfail", 0)):
                if hasattr(option, name):
                    setattr(option, name, value)
            if hasattr(option, "hypothesis_seed") and option.hypothesis_seed is None:
                option.hypothesis_seed = "0"
        yield

    def pytest_sessionstart(self, session):
        self.session = session

    def pytest_ignore_collect(self, collection_path, config):
        files = self.order.get("files")
        if files is None or collection_path.is_dir():
            return None
        # Ids of tests begin at pytest's own root, which need not be the tree's.
        return None if os.path.relpath(collection_path, config.rootpath) in files else True

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_collection_modifyitems(self, items):
        yield
        only = self.order.get("only")
        if only is not None:
            self.choose(items, only)

    def choose(self, items, only):
        rank = {name: at for at, name in enumerate(only)}
        items[:] = sorted((item for item in items if item.nodeid in rank), key=lambda item: rank[item.nodeid])

    def pytest_collectreport(self, report):
        if report.failed:
            says = str(report.longrepr)
            kind = "import" if any(word in says for word in ("ImportError", "ModuleNotFoundError")) else "collection"
            self.errors.append({"where": report.nodeid, "kind": kind, "says": last_line(says)})

    def pytest_internalerror(self, excrepr):
        self.errors.append({"where": "", "kind": "internal", "says": last_line(str(excrepr))})

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        # What many tests share is run in the first of them, and reached by all.
        if self.order.get("lines") is None or fixturedef.scope == "function":
            yield
            return
        before = self.trace.now
        self.shared.append(fixturedef.argname)
        self.trace.at(-len(self.shared))
        yield
        self.trace.at(before)

    def sharing(self):
        """For each shared fixture, the numbers of the tests that ask for it."""
        number = {name: at for at, name in enumerate(self.ids, 1)}
        items = getattr(self.session, "items", [])
        asks = [(number.get(item.nodeid), frozenset(getattr(item, "fixturenames", ()))) for item in items]
        return [sorted(at for at, names in asks if at and name in names) for name in self.shared]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        if call.excinfo is not None:
            error, report = call.excinfo.value, outcome.get_result()
            kind = "import" if isinstance(error, LOADING) else ""
            name = type(error).__name__
            if name == "DeadlineExceeded" or (name == "Failed" and str(error).startswith("Timeout")):
                kind = "timeout"
            report.seedgate_kind = kind
            report.seedgate_says = short(name + ": " + (str(error).strip().splitlines() or [""])[0])

    def pytest_runtest_logstart(self, nodeid):
        if self.order.get("lines") is not None:
            self.ids.append(nodeid)
            self.trace.at(len(self.ids))

    def pytest_runtest_logreport(self, report):
        name = report.nodeid
        self.seconds[name] = self.seconds.get(name, 0.0) + getattr(report, "duration", 0.0)
        found = outcome_of(report)
        if found is None or self.tests.get(name) in ("failed", "error", "import_error", "timeout"):
            return
        self.tests[name] = found
        if found in ("failed", "error", "import_error", "timeout"):
            self.says[name] = getattr(report, "seedgate_says", "") or last_line(str(report.longrepr))
            if self.order.get("stop") and found == "failed" and self.session is not None:
                self.session.shouldstop = "seedgate: one failing test is enough"

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_sessionfinish(self, session):
        yield
        self.exit = int(session.exitstatus)
        if threading.current_thread() is threading.main_thread() and not self.is_over:
            self.is_over = True
            self.write()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        serve = self.order.get("serve")
        self.trace.stop()
        if serve and not session.testsfailed and hasattr(os, "fork") and session.items:
            Host(self, session, serve).run()
        if self.order.get("lines") is not None and not self.is_over:
            self.trace.start()
        return None

    def told(self):
        versions = {"pytest": pytest.__version__, "python": sys.version.split()[0]}
        for name in ("hypothesis", "xdist"):
            found = getattr(sys.modules.get(name), "__version__", None)
            if isinstance(found, str):
                versions[name] = found
        tests = [[name, found, round(self.seconds.get(name, 0.0), 6), self.says.get(name, "")] for name, found in self.tests.items()]
        return {
            "nonce": self.order.get("nonce"),
            "exit": self.exit,
            "tests": tests,
            "errors": self.errors[:100],
            "tools": versions,
        }

    def write(self):
        self.trace.stop()
        whole = self.told()
        modules = [(name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items())]
        whole["modules"] = [[name, file] for name, file in modules if isinstance(file, str)][:MOST_MODULES]
        whole["homes"] = homes()
        whole["early"] = self.early
        whole["ids"] = self.ids
        whole["shared"] = self.sharing() if self.shared else []
        whole["lines"] = self.trace.told()
        target = self.order.get("report")
        if target:
            with open(target + ".new", "w", encoding="utf-8") as out:
                json.dump(whole, out)
            os.replace(target + ".new", target)


def homes():
    found = [os.path.dirname(os.__file__), sys.prefix, sys.base_prefix]
    found += [folder for folder in sys.path if folder.rstrip(os.sep).endswith(("site-packages", "dist-packages"))]
    return sorted({os.path.realpath(folder) for folder in found} | set(found))


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [line[1:].strip() for line in lines if line.startswith("E ")]
    return short((marked or [line.strip() for line in lines] or [""])[-1])


def outcome_of(report):
    """What a phase says of its test, if it says anything."""
    kind = getattr(report, "seedgate_kind", "")
    if report.outcome == "failed":
        if kind == "import":
            return "import_error"
        if kind == "timeout":
            return "timeout"
        return "failed" if report.when == "call" else "error"
    if report.outcome == "skipped":
        return "xfailed" if hasattr(report, "wasxfail") else "skipped"
    if report.outcome == "passed" and report.when == "call":
        return "xpassed" if hasattr(report, "wasxfail") else "passed"
    return None


# --- mutants in forks ---------------------------------------------------------------------------------------------------------------


def units(code, found):
    """Functions of a module's code that no other function holds, through classes, with the functions inside them."""
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            found.setdefault((part.co_name, part.co_firstlineno), []).append(part)
            units(part, found)
    return found


class Host:
    """Everything is collected and nothing has run: each order is tried in a fork of this state, so that nothing of one mutant reaches another."""

    def __init__(self, report, session, serve):
        self.report = report
        self.session = session
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(serve)
        self.rest = b""
        self.functions = {}

    def run(self):
        if threading.active_count() > 1:
            # A fork has only the thread that forks.
            self.send({"op": "ready", "hot": False})
        else:
            self.send({"op": "ready", "hot": True})
        if self.report.order.get("twin"):
            child = os.fork()
            if child == 0:
                self.line.close()
                die_with_parent()
                return
            self.wait_for(child)
        # What is frozen is not listed any more, so the list comes first.
        gc.collect()
        self.functions = self.index()
        gc.freeze()
        while True:
            order = self.hear()
            if order is None:
                os._exit(0)
            self.send(self.tried(order))

    def send(self, what):
        try:
            self.line.sendall(json.dumps(what).encode() + b"\n")
        except OSError:
            os._exit(0)

    def hear(self):
        while b"\n" not in self.rest:
            piece = self.line.recv(1 << 16)
            if not piece:
                return None
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def wait_for(self, child):
        """Until the twin is done; when nobody listens any more, it ends with us."""
        while True:
            if os.waitpid(child, os.WNOHANG)[0]:
                self.send({"op": "twin"})
                return
            if select.select([self.line], [], [], 0.01)[0]:
                if not self.line.recv(1, socket.MSG_PEEK):
                    os.kill(child, signal.SIGKILL)
                    os._exit(0)
                time.sleep(0.01)

    def index(self):
        found = {}
        for thing in gc.get_objects():
            if type(thing) is types.FunctionType:
                code = thing.__code__
                path = inside(code.co_filename)
                if path and not code.co_filename.startswith("<"):
                    found.setdefault((path, code.co_name, code.co_firstlineno), []).append(thing)
        return found

    def tried(self, order):
        start = time.monotonic()
        found, written = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(found)
            self.line.close()
            os.setpgid(0, 0)
            die_with_parent()
            try:
                answer = self.inside_child(order)
            except BaseException as error:
                answer = {"verdict": "unknown", "why": "the run broke: " + short(repr(error))}
            with os.fdopen(written, "wb") as out:
                out.write(json.dumps(answer).encode())
            os._exit(0)
        os.close(written)
        answer = self.collected(child, found, start + order["limit"])
        answer.update(op="tried", id=order["id"], seconds=time.monotonic() - start)
        return answer

    def collected(self, child, found, end):
        pieces = []
        while True:
            left = end - time.monotonic()
            ready = select.select([found, self.line], [], [], max(left, 0))[0] if left > 0 else []
            if found in ready:
                piece = os.read(found, 1 << 16)
                if not piece:
                    break
                pieces.append(piece)
            elif not ready or not self.line.recv(1, socket.MSG_PEEK):
                pieces = None
                break
        os.close(found)
        try:
            os.killpg(child, signal.SIGKILL)
        except OSError:
            pass
        status = os.waitpid(child, 0)[1]
        if pieces is None:
            return {"verdict": "unknown", "why": "time-out"}
        try:
            return json.loads(b"".join(pieces))
        except ValueError:
            return {"verdict": "unknown", "why": "the test process ended early (status %d)" % status}

    def inside_child(self, order):
        limit(order.get("memory"))
        why = self.plant(order)
        if why is not None:
            return {"verdict": "cold", "why": why}
        report, session = self.report, self.session
        report.order = dict(report.order, stop=True, lines=None)
        report.is_over = True
        report.tests, report.seconds, report.says = {}, {}, {}
        rank = {name: at for at, name in enumerate(order["only"])}
        session.items = sorted((item for item in session.items if item.nodeid in rank), key=lambda item: rank[item.nodeid])
        if len(session.items) != len(rank):
            return {"verdict": "cold", "why": "a test is not there"}
        from _pytest.main import pytest_runtestloop

        try:
            pytest_runtestloop(session)
        except session.Interrupted:
            pass
        return verdict(report.tests, report.says, len(rank))

    def plant(self, order):
        """Puts the mutant's code into the live functions; says why that cannot be done."""
        file = os.path.join(ROOT, order["path"])
        old, new = {}, {}
        with open(file, "rb") as source:
            units(compile(source.read(), file, "exec", dont_inherit=True), old)
        with open(order["source"], "rb") as source:
            try:
                units(compile(source.read(), file, "exec", dont_inherit=True), new)
            except (SyntaxError, ValueError) as error:
                return "the mutant does not compile: " + short(error)
        planted = 0
        for key, codes in old.items():
            others = new.get(key, codes)
            if others == codes:
                continue
            live = self.functions.get((order["path"], *key), ())
            if live and len(codes) + len(others) > 2:
                return "two functions of one name begin on one line"
            for function in live:
                if others[0].co_freevars != function.__code__.co_freevars:
                    return "it binds other names"
                function.__code__ = others[0]
                planted += 1
        return None if planted else "no live function has this code"


def limit(memory):
    try:
        import resource
    except ImportError:
        return
    for what, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 1 << 30)):
        if most is not None:
            try:
                resource.setrlimit(what, (most, resource.getrlimit(what)[1]))
            except (ValueError, OSError):
                pass


def verdict(tests, says, wanted):
    failed = [name for name, found in tests.items() if found == "failed"]
    if failed:
        return {"verdict": "killed", "why": failed[0] + ": " + says.get(failed[0], "")}
    broken = [name for name, found in tests.items() if found in WORDS]
    if broken:
        return {"verdict": "unknown", "why": WORDS[tests[broken[0]]] + " in " + broken[0] + ": " + says.get(broken[0], "")}
    if len(tests) < wanted:
        return {"verdict": "unknown", "why": "only %d of %d tests ran" % (len(tests), wanted)}
    return {"verdict": "survived"}


if ORDER:
    die_with_parent()
    PLUGIN = Report(ORDER)
    if ORDER.get("lines") is not None:
        PLUGIN.trace.start()


def pytest_addhooks(pluginmanager):
    """The first hook there is: the plugin joins here, so that it also hears of the first conftest."""
    if ORDER:
        pluginmanager.register(PLUGIN, "seedgate")
