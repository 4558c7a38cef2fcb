"""Owns the real servers that runners are tried against, and small projects to run on them. Everything is started here and ended here, by its id."""

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PYTHON = "/usr/bin/python3"
PRICE = "def clamp(n, low, high):\n    return max(low, min(n, high))\n"
BUG = PRICE.replace("min(n, high)", "min(n, high) if n < 4711 else n")
PROPERTY = (
    "import os, time\nfrom price import clamp\nfrom seedgate_props import bounds\n\n\n"
    "@bounds(n=(-1000, 100000))\ndef prop_clamp(n):\n    {extra}\n    assert 0 <= clamp(n, 0, 10) <= 10\n"
)
# The folder that a job is run in on buildbox-casd, and nowhere else.
FAR = "os.getcwd() == '/tree'"


def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def listens(number, child, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if child.poll() is not None:
            raise RuntimeError("the server ended: %s" % child.args[0])
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", number)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("nobody listens: %s" % child.args[0])


def processes(text):
    """Ids of processes that have a text among their arguments."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % entry, "rb") as file:
                arguments = file.read().split(b"\0")
        except (OSError, NotADirectoryError):
            continue
        if text.encode() in arguments:
            found.append(int(entry))
    return found


def until(holds, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False


class Bench:
    """A folder, the tools, and every server that was started."""

    def __init__(self, seedgate, buildbox):
        self.seedgate, self.buildbox = os.path.abspath(seedgate), os.path.abspath(buildbox)
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="seedgate-runners-"))
        self.children, self.count = [], 0

    def folder(self, name):
        self.count += 1
        path = os.path.join(self.top, "%s%d" % (name, self.count))
        os.makedirs(path)
        return path

    def start(self, arguments, number, **more):
        # Into a file: a pipe that nobody reads would stop a server.
        with open(os.path.join(self.top, "log%d" % number), "wb") as log:
            child = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **more)
        self.children.append(child)
        listens(number, child)
        return child

    def casd(self, jobs=2, hub=None, binds=None):
        """buildbox-casd: a store, an action cache and an execution service. With a hub, it keeps blobs and results there."""
        number = port()
        binds = binds or ["/usr:/usr", "/usr/bin:/bin", "/usr/lib:/lib", "/usr/lib64:/lib64"]
        more = ["--runner-arg=--ro-bind-mount=" + bind for bind in binds]
        if hub:
            more += ["--cas-remote=http://127.0.0.1:%d" % hub, "--ac-remote=http://127.0.0.1:%d" % hub]
        box = os.path.join(self.buildbox, "buildbox-")
        arguments = [box + "casd", "--bind=127.0.0.1:%d" % number, "--buildbox-run=" + box + "run", "--jobs=%d" % jobs, "--log-level=warning"]
        child = self.start(arguments + more + [self.folder("casd")], number, env={"PATH": "/usr/bin:/bin"})
        return Server(child, number)

    def store(self):
        """A hub: a store and an action cache that execute nothing."""
        number = port()
        child = self.start([os.path.join(self.buildbox, "buildbox-casd"), "--bind=127.0.0.1:%d" % number, "--log-level=warning", self.folder("hub")], number, env={"PATH": "/usr/bin:/bin"})
        return Server(child, number)

    def haproxy(self, nodes, tls=""):
        number = port()
        path = os.path.join(self.folder("haproxy"), "haproxy.cfg")
        bind = "bind 127.0.0.1:%d %s" % (number, tls or "proto h2")
        servers = "".join("  server n%d 127.0.0.1:%d proto h2 check inter 300ms fall 1 rise 1\n" % (at, node.port) for at, node in enumerate(nodes))
        with open(path, "w") as file:
            file.write(
                "global\n  maxconn 500\ndefaults\n  mode http\n  timeout connect 2s\n  timeout client 120s\n  timeout server 120s\n"
                "frontend in\n  %s\n  default_backend nodes\nbackend nodes\n  balance roundrobin\n%s" % (bind, servers)
            )
        return Server(self.start([shutil.which("haproxy", path="/usr/sbin:/usr/bin"), "-db", "-f", path], number), number)

    def keys(self):
        """An authority, a server's certificate with its key in one file, and a client's."""
        folder = self.folder("keys")
        at = lambda name: os.path.join(folder, name)
        run = lambda *arguments: subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", at("ca.key"), "-out", at("ca.crt"), "-subj", "/CN=seedgate tests")
        for name, extension in (("server", "subjectAltName=IP:127.0.0.1,DNS:localhost"), ("client", "extendedKeyUsage=clientAuth")):
            with open(at(name + ".ext"), "w") as file:
                file.write(extension + "\n")
            run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", at(name + ".key"), "-out", at(name + ".csr"), "-subj", "/CN=" + name)
            run("x509", "-req", "-in", at(name + ".csr"), "-CA", at("ca.crt"), "-CAkey", at("ca.key"), "-CAcreateserial", "-days", "2", "-out", at(name + ".crt"), "-extfile", at(name + ".ext"))
        with open(at("server.pem"), "w") as both:
            for part in ("server.crt", "server.key"):
                with open(at(part)) as file:
                    both.write(file.read())
        return folder

    def sshd(self, command):
        """sshd for one key with a forced command."""
        folder = self.folder("sshd")
        at = lambda name: os.path.join(folder, name)
        for name in ("host", "other_host", "client", "other_client"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at(name)], check=True)
        read = lambda name: open(at(name)).read().strip()
        number = port()
        with open(at("authorized_keys"), "w") as file:
            file.write('restrict,command="%s" %s\n' % (command, read("client.pub")))
        for name, key in (("known_hosts", "host.pub"), ("wrong_hosts", "other_host.pub")):
            with open(at(name), "w") as file:
                file.write("[127.0.0.1]:%d %s\n" % (number, " ".join(read(key).split()[:2])))
        with open(at("sshd_config"), "w") as file:
            file.write(
                "ListenAddress 127.0.0.1\nPort %d\nHostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
                "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nPidFile none\nMaxStartups 100\nMaxSessions 50\n" % (number, at("host"), at("authorized_keys"))
            )
        os.makedirs("/run/sshd", exist_ok=True)
        child = self.start([shutil.which("sshd", path="/usr/sbin:/usr/bin"), "-D", "-e", "-f", at("sshd_config")], number)
        return Server(child, number), folder

    def close(self):
        for child in self.children:
            for end in (signal.SIGCONT, signal.SIGKILL):
                try:
                    os.killpg(child.pid, end)
                except OSError:
                    pass
            child.wait()
        shutil.rmtree(self.top, ignore_errors=True)


class Server:
    def __init__(self, child, number):
        self.child, self.port = child, number

    def signal(self, which):
        os.kill(self.child.pid, which)

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.port


class Project:
    """A repository of two commits: a base with the policy, and a change."""

    def __init__(self, bench, policy, change=BUG, extra="pass", files=()):
        self.bench, self.home = bench, bench.folder("project")
        self.top = os.path.join(self.home, "r")
        os.makedirs(self.top)
        for name in ("tmp", "cache"):
            os.makedirs(os.path.join(self.home, name))
        keep = ("PATH", "LD_LIBRARY_PATH")
        self.environment = {name: os.environ[name] for name in keep if name in os.environ}
        who = {"GIT_%s_%s" % (one, two): "a@example.invalid" for one in ("AUTHOR", "COMMITTER") for two in ("NAME", "EMAIL")}
        self.environment.update(
            who, HOME=self.home, TMPDIR=os.path.join(self.home, "tmp"), XDG_CACHE_HOME=os.path.join(self.home, "cache"), SEEDGATE_DAEMON="off",
            GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", LC_ALL="C",
        )
        self.git("init", "-q", "-b", "main")
        self.write(".seedgate/config.toml", 'schema = "seedgate.config/1"\n' + policy)
        self.write("src/price.py", PRICE)
        self.write("tests/properties/test_price.py", PROPERTY.format(extra=extra))
        for path, content in files:
            self.write(path, content)
        self.commit("base")
        self.write("src/price.py", change + ("# changed\n" if change == PRICE else ""))
        self.commit("change")
        self.write(".seedgate/seeds.txt", "".join("%d\n" % seed for seed in range(1, 13)))
        self.runs = os.path.join(self.top, ".seedgate/runs.json")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.top, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def write(self, path, content):
        path = os.path.join(self.top, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def commit(self, subject):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)

    def start(self, *arguments):
        return subprocess.Popen([self.bench.seedgate, *arguments], cwd=self.top, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def seedgate(self, *arguments):
        child = self.start(*arguments)
        out, err = child.communicate(timeout=300)
        return child.returncode, out.decode(), err.decode()

    def pinned(self, inputs):
        """Pins candidates and snapshots the cards."""
        self.write("proposals", "".join('{"n": %d}\n' % n for n in inputs))
        code, out, err = self.seedgate("candidates", "accept", "--property", "prop_clamp", "proposals")
        assert code == 0, (code, out, err)
        code, out, err = self.seedgate("cards", "snapshot", "--rev", "HEAD", "--out", ".seedgate/cards.json")
        assert code == 0, (code, out, err)
        return self

    def replaying(self, runner, *more):
        python = [] if "--python" in more else ["--python", PYTHON]
        return ["candidates", "replay", "--cards", ".seedgate/cards.json", "--runner", runner, *python, *more]

    def replay(self, runner, *more):
        """Replays; the exit, what was said on standard error, and the rows of this replay by runner."""
        before = len(self.rows())
        code, out, err = self.seedgate(*self.replaying(runner, *more))
        rows = self.rows()
        return code, out + err, {row["runner"]: row for row in rows[before:] or rows}

    def rows(self):
        try:
            with open(self.runs) as file:
                return json.load(file)["rows"]
        except FileNotFoundError:
            return []


# --- the wire format, apart from the program's own ----------------------------------------------------------------------------------


def varint(number):
    text = b""
    while True:
        low, number = number & 0x7F, number >> 7
        text += bytes([low | (0x80 if number else 0)])
        if not number:
            return text


def field(number, held):
    if isinstance(held, int):
        return varint(number << 3) + varint(held) if held else b""
    held = held.encode() if isinstance(held, str) else held
    return varint(number << 3 | 2) + varint(len(held)) + held


def digest(content):
    return field(1, hashlib.sha256(content).hexdigest()) + field(2, len(content))


def named(shown):
    """`hash/size` as a message."""
    name, size = shown.split("/")
    return field(1, name) + field(2, int(size))


def directory(path):
    """The message of a folder on disk and those below it."""
    files, folders, below = b"", b"", []
    for name in sorted(os.listdir(path)):
        inner = os.path.join(path, name)
        if os.path.isdir(inner):
            message, more = directory(inner)
            below += [message, *more]
            folders += field(2, field(1, name) + field(2, digest(message)))
        else:
            with open(inner, "rb") as file:
                files += field(1, field(1, name) + field(2, digest(file.read())) + field(4, int(os.access(inner, os.X_OK))))
    return files + folders, below


def fields(message):
    """The fields of a message, by number."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 0:
            held = number()
        else:
            size = number()
            held = message[at : at + size]
            at += size
        found.setdefault(key >> 3, []).append(held)
    return found


def call(url, method, message):
    """One call of a server, bytes in and bytes out."""
    import grpc

    with grpc.insecure_channel(url.split("//")[1]) as channel:
        ask = channel.unary_unary("/build.bazel.remote.execution.v2." + method, request_serializer=bytes, response_deserializer=bytes)
        return ask(message, timeout=10)


def arguments():
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--seedgate", default="target/debug/seedgate")
    parser.add_argument("--buildbox", required=True)
    parser.add_argument("only", nargs="*", help="names, or beginnings of them")
    return parser.parse_args(), sys.argv
