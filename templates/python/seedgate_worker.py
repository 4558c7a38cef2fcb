"""Owns the Python side of seedgate.worker/1 (docs/worker-protocol.md): finds the properties of one tree and calls them. Standard library only."""

import faulthandler
import importlib
import importlib.util
import inspect
import json
import linecache
import mmap
import os
import sys

PROTOCOL = 1
MOST_TEXT = 400
MOST_FRAMES = 2000
PID = os.getpid()
# What an input did on the side; looked at after every call.
NETWORK = []
NETWORK_EVENTS = frozenset(
    ["socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"]
)


class Refused(Exception):
    """What cannot be served, with the word that names why."""

    def __init__(self, kind, says):
        super().__init__(says)
        self.kind = kind


class Invalid(BaseException):
    """The input does not meet the property's assumptions."""


class NetworkUse(OSError):
    """Somebody asked for the network."""


# --- values -------------------------------------------------------------------------------------------------------------------------


def tagged(found):
    """A JSON object as the value it stands for."""
    if len(found) != 1:
        return found
    ((tag, held),) = found.items()
    if not tag.startswith("$"):
        return found
    if tag == "$int":
        negative, digits = held.startswith("-"), held.lstrip("-")
        whole = int(digits, 16) if digits.startswith("0x") else int(digits)
        return -whole if negative else whole
    if tag == "$map":
        return {key: value for key, value in held}
    reader = READERS.get(tag)
    if reader is None:
        raise Refused("unreadable_input", "no value is tagged " + tag)
    return reader(held)


READERS = {"$float": float, "$bytes": bytes.fromhex, "$tuple": tuple, "$set": set, "$frozenset": frozenset}


def read(line):
    """A line of the protocol. Without a tag in it, the plain reader is enough and faster."""
    if b'"$' in line:
        return json.loads(line, object_hook=tagged)
    return json.loads(line)


# --- what the tree's code may not do ------------------------------------------------------------------------------------------------


def audit(event, arguments):
    if event in NETWORK_EVENTS:
        address = arguments[1] if event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind") else None
        # Sockets of the file system stay on this machine.
        if isinstance(address, (str, bytes)):
            return
        NETWORK.append(event)
        raise NetworkUse("seedgate: no network in a property (" + event + ")")


class AfterImport:
    """Does something to a module as soon as it is imported, whoever imports it."""

    def __init__(self, name, then):
        self.name, self.then = name, then
        if name in sys.modules:
            then(sys.modules[name])
        else:
            sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                self.then(module)

            spec.loader.exec_module = exec_module
        return spec


def patch_hypothesis(module):
    def assume(condition):
        if not condition:
            raise Invalid()
        return True

    def reject():
        raise Invalid()

    def quiet(*_, **__):
        return None

    home = getattr(sys.modules.get("hypothesis.configuration"), "set_hypothesis_home_dir", None)
    if home is not None and "HOME" in os.environ:
        # Not into the tree: what is written there would be taken for a change of it.
        home(os.path.join(os.environ["HOME"], ".hypothesis"))
    for name, stand_in in (("assume", assume), ("reject", reject), ("note", quiet), ("event", quiet), ("target", quiet)):
        for place in (module, sys.modules.get("hypothesis.control")):
            if place is not None and hasattr(place, name):
                setattr(place, name, stand_in)


class Generators:
    """The generators of chance that a process shares. Every input meets them in the same state. Seeding takes longer than many a property,
    so it is done only where somebody has drawn, which shows in the state itself: it is read where the interpreter keeps it."""

    def __init__(self):
        # Pairs of what seeds one, and what says whether it moved since; a module that is imported later adds its own.
        self.all = []
        AfterImport("random", self.of_random)
        AfterImport("numpy.random", self.of_numpy)

    def of_random(self, module):
        inst = getattr(module, "_inst", None)
        kept = getattr(sys.modules.get("_random"), "Random", None)
        if kept is None or not isinstance(inst, kept):
            return
        # The object's head, the place in the state, the state's 624 words.
        head, size = object.__basicsize__, 4 * 625
        address = id(inst) + head if kept.__basicsize__ >= head + size else None

        def told():
            state = inst.getstate()[1]
            return [state[-1], *state[:-1]]

        self.watch(inst, address, 0, told)

    def of_numpy(self, module):
        inst = getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None)
        address = getattr(getattr(getattr(inst, "_bit_generator", None), "ctypes", None), "state_address", None)
        if inst is None:
            return

        def told():
            state = inst.get_state()
            return [*map(int, state[1]), int(state[2])]

        # The state's 624 words, the place in it.
        self.watch(inst, address, 624, told)

    def watch(self, inst, address, place, told):
        """A draw moves the place, or at the end of a round the words; another seed has other words."""
        moved = always
        words = None if address is None else words_at(address, 625)
        if words is not None:
            inst.seed(1)
            inst.random_sample() if hasattr(inst, "random_sample") else inst.random()
            if list(words) == told():
                moved = moved_from(inst, words, place)
        inst.seed(0)
        self.all.append((inst.seed, moved))

    def reset(self):
        for seed, _ in self.all:
            seed(0)


def always():
    return True


def words_at(address, count):
    if sys.implementation.name != "cpython":
        return None
    try:
        import ctypes
    except ImportError:
        return None
    return memoryview((ctypes.c_uint32 * count).from_address(address)).cast("B").cast("I")


def moved_from(inst, words, place):
    inst.seed(0)
    word = 1 if place == 0 else 0
    start, first, second = words[place], words[word], words[word + 1]
    return lambda: words[place] != start or words[word + 1] != second or words[word] != first


def limit(memory):
    try:
        import resource
    except ImportError:
        return
    for what, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 1 << 30)):
        if most is None:
            continue
        hard = resource.getrlimit(what)[1]
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):
            pass


def die_with_parent():
    """On Linux the kernel ends this process with the one that started it, whatever a property is doing."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, 9)
    except (ImportError, OSError, AttributeError):
        return


# --- finding a property -------------------------------------------------------------------------------------------------------------


class Tree:
    """The folder whose code is under test."""

    def __init__(self, root, path):
        self.root = os.path.realpath(root)
        self.inside = self.root + os.sep
        self.loaded = {}
        roots = [os.path.join(self.root, part) for part in path]
        sys.path[:0] = [folder for folder in roots if os.path.isdir(folder)]

    def module(self, path):
        file = os.path.join(self.root, *path.split("/"))
        folder, name = os.path.split(file)
        if file in self.loaded:
            return self.loaded[file]
        parts = [name[: -len(".py")]]
        # As pytest does: the package's own name, from the first folder that is none.
        while os.path.isfile(os.path.join(folder, "__init__.py")) and folder != self.root:
            folder, name = os.path.split(folder)
            parts.insert(0, name)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        if parts == ["conftest"]:
            # There may be one in every folder, and the innermost is the one that goes by the name.
            sys.modules.pop("conftest", None)
        module = importlib.import_module(".".join(parts))
        if os.path.realpath(getattr(module, "__file__", None) or "") != os.path.realpath(file):
            spec = importlib.util.spec_from_file_location("seedgate_" + "_".join(path[: -len(".py")].split("/")), file)
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
        self.loaded[file] = module
        return module

    def conftests(self, path):
        """What pytest imports before a module: the conftest.py of the folders above it, outermost first."""
        folders = path.split("/")[:-1]
        files = ["/".join(folders[:depth] + ["conftest.py"]) for depth in range(len(folders) + 1)]
        return [self.module(file) for file in files if os.path.isfile(os.path.join(self.root, file))]

    def place(self, traceback):
        """Path, line and function of the innermost frame of the tree."""
        found, seen = None, 0
        while traceback is not None and seen < MOST_FRAMES:
            code = traceback.tb_frame.f_code
            if code.co_filename.startswith(self.inside):
                found = code.co_filename[len(self.inside) :] + ":" + str(traceback.tb_lineno)
            traceback, seen = traceback.tb_next, seen + 1
        return found

    def line(self, place):
        """The source at a place: what a bare assert says."""
        path, _, number = (place or "").rpartition(":")
        return linecache.getline(self.inside + path, int(number)).strip()[:MOST_TEXT] if path else ""


def split_id(whole):
    """The path of an id, and the names after it."""
    at = whole.find(".py::")
    if at < 0:
        raise Refused("not_found", "this worker serves functions of Python files, not " + whole)
    return whole[: at + 3], whole[at + 5 :].split("::")


def marks_of(*owners):
    for owner in owners:
        marks = getattr(owner, "pytestmark", [])
        for mark in marks if isinstance(marks, (list, tuple)) else [marks]:
            mark = getattr(mark, "mark", mark)
            if isinstance(getattr(mark, "name", None), str):
                yield mark


def refuse_marks(marks):
    for mark in marks:
        arguments, keywords = getattr(mark, "args", ()), getattr(mark, "kwargs", {})
        reason = str(keywords.get("reason", ""))
        if mark.name == "skip" or (mark.name == "skipif" and any(isinstance(value, bool) and value for value in arguments)):
            raise Refused("skipped", reason or "it is marked " + mark.name)
        if mark.name == "xfail" and (not arguments or any(isinstance(value, bool) and value for value in arguments)):
            raise Refused("skipped", reason or "it is marked xfail")
        if mark.name == "usefixtures" and arguments:
            raise Refused("needs_fixture", "it uses the pytest fixture " + ", ".join(map(str, arguments)))
        if mark.name == "parametrize" and keywords.get("indirect"):
            raise Refused("needs_fixture", "its parameters go through a pytest fixture (indirect)")


def refuse_autouse(*owners):
    for owner in owners:
        for name, value in list(vars(owner).items()):
            marker = getattr(value, "_fixture_function_marker", None) or getattr(value, "_pytestfixturefunction", None)
            if marker is not None and getattr(marker, "autouse", False) is True:
                raise Refused("needs_fixture", "every test here uses the pytest fixture " + name + " (autouse)")


def bare(function):
    """The function under `@given`, as often as there is one."""
    for _ in range(16):
        inner = getattr(getattr(function, "hypothesis", None), "inner_test", None)
        if inner is None:
            break
        function = inner
    return function


def refuse_arguments(function, names, bound):
    """Every argument must be given by the domain, and every one of the domain taken."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return
    patched = len([part for part in getattr(function, "patchings", []) if getattr(part, "attribute_name", None) is None])
    taken = parameters[int(bound) :]
    open_ended = any(p.kind is p.VAR_KEYWORD for p in taken)
    known = [p.name for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    needed = [p.name for p in taken if p.name in known and p.default is p.empty]
    positions = [name for name in names if name.isdigit()]
    missing = [name for name in needed if name not in names][len(positions) :]
    if len(missing) > patched:
        raise Refused("needs_fixture", "the domain does not give its argument " + ", ".join(missing) + ", which may be a pytest fixture")
    unknown = [name for name in names if name not in known and not name.isdigit()]
    if unknown and not open_ended:
        raise Refused("unsupported", "it has no argument " + ", ".join(unknown))


class Property:
    """A function that is ready to be called with inputs."""

    def __init__(self, tree, whole, names):
        path, parts = split_id(whole)
        conftests = tree.conftests(path)
        module = tree.module(path)
        owner, owners, found = module, [module], None
        for part in parts:
            if found is not None:
                owner = found
                owners.append(owner)
            found = inspect.getattr_static(owner, part, None)
            if found is None:
                raise Refused("not_found", "there is no " + part + " in " + path)
        kind = type(found)
        outer = found.__func__ if kind in (staticmethod, classmethod) else found
        if not callable(outer) or inspect.isclass(outer):
            raise Refused("unsupported", "it is no function")
        refuse_marks(marks_of(*owners, outer))
        refuse_autouse(*conftests, *owners)
        for skipped in owners + [outer]:
            if getattr(skipped, "__unittest_skip__", False):
                raise Refused("skipped", str(getattr(skipped, "__unittest_skip_why__", "")) or "it is skipped")
        function = bare(outer)
        in_class = inspect.isclass(owner)
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise Refused("unsupported", "it is a generator")
        refuse_arguments(function, names, in_class and kind is not staticmethod)
        self.positions = sorted((name for name in names if name.isdigit()), key=int)
        self.call = self.callable(module, owner if in_class else None, kind, function, parts[-1])

    def callable(self, module, cls, kind, function, name):
        run = function
        if inspect.iscoroutinefunction(function):
            import asyncio

            def run(*args, **kwargs):
                return asyncio.run(function(*args, **kwargs))

        once(module, "setup_module", module)
        if cls is None:
            before, after = getattr(module, "setup_function", None), getattr(module, "teardown_function", None)
            return around(run, before, after, function) if before or after else self.placed(run)
        if kind is staticmethod:
            return self.placed(run)
        if kind is classmethod:
            return self.placed(lambda *args, **kwargs: run(cls, *args, **kwargs))
        if "unittest" in sys.modules and issubclass(cls, sys.modules["unittest"].TestCase):
            return self.placed(of_unittest(cls, name, function))
        once(cls, "setup_class", None)
        return self.placed(of_class(cls, run, function))

    def placed(self, run):
        if not self.positions:
            return run

        def call(**kwargs):
            return run(*[kwargs.pop(name) for name in self.positions], **kwargs)

        return call


def once(owner, name, argument):
    """Runs a set-up that a runner runs once."""
    setup = getattr(owner, name, None)
    if setup is None or (name, owner) in once.done:
        return
    once.done.add((name, owner))
    try:
        takes = len(inspect.signature(setup).parameters)
    except (TypeError, ValueError):
        takes = 0
    setup(argument) if takes and argument is not None else setup()


once.done = set()


def around(run, before, after, argument):
    def hook(of):
        if of is not None:
            of(argument) if inspect.signature(of).parameters else of()

    def call(**kwargs):
        hook(before)
        try:
            run(**kwargs)
        finally:
            hook(after)

    return call


def of_class(cls, run, function):
    has_hooks = hasattr(cls, "setup_method") or hasattr(cls, "teardown_method")
    if not has_hooks:
        return lambda *args, **kwargs: run(cls(), *args, **kwargs)

    def call(*args, **kwargs):
        instance = cls()
        around(lambda: run(instance, *args, **kwargs), getattr(instance, "setup_method", None), getattr(instance, "teardown_method", None), function)()

    return call


def of_unittest(cls, name, function):
    if ("setUpClass", cls) not in once.done:
        once.done.add(("setUpClass", cls))
        cls.setUpClass()

    def call(*args, **kwargs):
        instance = cls(name)
        try:
            instance.setUp()
            if inspect.iscoroutinefunction(function):
                import asyncio

                asyncio.run(whole(instance, args, kwargs))
            else:
                function(instance, *args, **kwargs)
            instance.tearDown()
        finally:
            instance.doCleanups()

    async def whole(instance, args, kwargs):
        if hasattr(instance, "asyncSetUp"):
            await instance.asyncSetUp()
        try:
            await function(instance, *args, **kwargs)
        finally:
            if hasattr(instance, "asyncTearDown"):
                await instance.asyncTearDown()

    return call


# --- outcomes -----------------------------------------------------------------------------------------------------------------------


def told(why):
    try:
        text = str(why)
    except BaseException as worse:
        text = "its message cannot be had: " + type(worse).__name__
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"


def type_name(kind):
    return kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else str(kind.__module__) + "." + kind.__qualname__


def outcome(tree, why):
    """What an exception says of an input."""
    kind = type(why)
    name = type_name(kind)
    if isinstance(why, Invalid) or name == "hypothesis.errors.UnsatisfiedAssumption":
        return {"outcome": "invalid"}
    if name in ("unittest.case.SkipTest", "_pytest.outcomes.Skipped", "Skipped"):
        return {"outcome": "invalid"}
    if isinstance(why, Refused):
        return {"outcome": "error", "kind": why.kind, "message": told(why)}
    place = tree.place(why.__traceback__)
    found = {"outcome": "fail", "type": name, "place": place, "message": told(why) or tree.line(place)}
    if isinstance(why, MemoryError):
        found.update(type="out_of_memory", restart=True)
    return found


def homes():
    """The standard library, and where modules are installed; not the prefix, which may hold projects too."""
    installed = [folder for folder in sys.path if os.path.basename(folder) in ("site-packages", "dist-packages")]
    return [os.path.realpath(folder) for folder in [os.path.dirname(os.__file__)] + installed]


class Server:
    def __init__(self, lines, answers):
        self.lines, self.answers = lines, answers
        self.tree, self.progress = None, None
        self.generators = None
        self.properties = []
        self.reported = set()

    def serve(self):
        for line in self.lines:
            try:
                asked = read(line)
                answer = getattr(self, "on_" + str(asked.get("op")), self.on_unknown)(asked)
            except Refused as why:
                answer = {"error": {"kind": why.kind, "message": told(why)}}
            except Exception as why:
                answer = {"error": {"kind": "worker", "message": type_name(type(why)) + ": " + told(why)}}
            # A child that a property forked must not answer in its parent's place.
            if os.getpid() != PID:
                os._exit(0)
            self.answers.write(json.dumps(answer).encode() + b"\n")
            self.answers.flush()

    def on_unknown(self, asked):
        raise Refused("protocol", "no such request")

    def on_hello(self, asked):
        if asked.get("seedgate.worker") != PROTOCOL:
            raise Refused("protocol", "this worker speaks seedgate.worker/1")
        if sys.version_info < (3, 8):
            raise Refused("protocol", "the worker needs Python 3.8 or newer, and this is " + sys.version.split()[0])
        if asked.get("progress"):
            with open(asked["progress"], "r+b") as file:
                self.progress = memoryview(mmap.mmap(file.fileno(), 16)).cast("I")
        self.tree = Tree(asked["root"], asked.get("path", []))
        limit(asked.get("memory"))
        sys.addaudithook(audit)
        self.generators = Generators()
        AfterImport("hypothesis", patch_hypothesis)
        version = ".".join(map(str, sys.version_info[:3]))
        return {"seedgate.worker": PROTOCOL, "language": "python", "version": version, "executable": sys.executable, "home": homes()}

    def on_open(self, asked):
        NETWORK.clear()
        self.generators.reset()
        try:
            found = Property(self.tree, asked["id"], asked["arguments"])
        except Refused:
            raise
        except BaseException as why:
            if type_name(type(why)) in ("unittest.case.SkipTest", "_pytest.outcomes.Skipped", "Skipped"):
                raise Refused("skipped", told(why)) from None
            place = self.tree.place(why.__traceback__)
            says = type_name(type(why)) + ": " + told(why) + (" at " + place if place else "")
            raise Refused("network" if NETWORK else "import_failed", says) from None
        self.properties.append(found)
        return {"property": len(self.properties) - 1}

    def on_run(self, asked):
        found, batch, most = self.properties[asked["property"]], asked["batch"], asked.get("stop_after", 0)
        call, progress, others = found.call, self.progress, []
        if progress is None:
            progress = [0, 0, 0, 0]
        progress[1], progress[0] = 0, batch & 0xFFFFFFFF
        os.chdir(self.tree.root)
        generators = self.generators.all
        ran, failed = 0, 0
        for ran, given in enumerate(asked["inputs"], 1):
            progress[1] = ran
            for seed, moved in generators:
                if moved():
                    seed(0)
            try:
                call(**given)
                if not NETWORK:
                    continue
                result = None
            except BaseException as why:
                if os.getpid() != PID:
                    os._exit(1)
                result = outcome(self.tree, why)
            if NETWORK:
                result = {"outcome": "error", "kind": "network", "message": "it asked for the network: " + NETWORK[0]}
                NETWORK.clear()
            result["input"] = ran - 1
            others.append(result)
            failed += result["outcome"] == "fail"
            if result.get("restart") or result["outcome"] == "error" or (most and failed >= most):
                break
        progress[1] = 0
        return {"batch": batch, "ran": ran, "others": others, "loaded": len(sys.modules)}

    def on_modules(self, asked):
        """Every module outside the standard library that was loaded since the last time, with its file."""
        fresh = []
        own = os.path.realpath(os.path.dirname(os.__file__)) + os.sep
        for name, module in list(sys.modules.items()):
            if name in self.reported or name == "__main__":
                continue
            self.reported.add(name)
            try:
                file = getattr(module, "__file__", None)
            except Exception:
                file = None
            file = os.path.realpath(file) if isinstance(file, str) else ""
            if file and not (file.startswith(own) and not file.startswith((own + "site-packages", own + "dist-packages"))):
                fresh.append([name, file])
        return {"modules": fresh}


def main():
    die_with_parent()
    lines = os.fdopen(os.dup(0), "rb", 1 << 20)
    answers = os.fdopen(os.dup(1), "wb", 1 << 16)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if folder not in ("", here)]
    # Last, for a project that has no decorators of its own.
    sys.path.append(os.path.join(here, "spare"))
    faulthandler.enable()
    Server(lines, answers).serve()


if __name__ == "__main__":
    main()
