"""Tries the runners against real servers: what fails on the way is `unknown`, and this machine's verdict stands. Called by tests/runners.sh."""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

import servers
from servers import BUG, FAR, PRICE, Bench, Project, processes, until

# How long a call, or silence, may keep anybody (src/trial/runner): with two more attempts, and a slow machine.
BOUND = 120
JOB = ".seedgate/job/seedgate_job.py"


def remote(url, more="", head=""):
    return '[runner]\n%s\n[runner.remote]\nendpoint = "%s"\n%s\n' % (head, url, more)


def ssh(server, folder, identity="client", hosts="known_hosts", head=""):
    import getpass

    own = (getpass.getuser(), server.port, folder, identity, folder, hosts)
    return '[runner]\n%s\n[runner.ssh]\nhost = "%s@127.0.0.1"\nport = %d\nidentity = "%s/%s"\nknown_hosts = "%s/%s"\n' % ((head,) + own)


def same(found, wanted, what=""):
    assert found == wanted, "%s: %r, not %r" % (what, found, wanted)


def held(row, word, why=None):
    same(row["verdict"], word, row)
    if why is not None:
        assert (row.get("why") or "").startswith(why), row


def agrees(result, exit, word):
    code, said, rows = result
    same(code, exit, said)
    far = rows.get("remote") or rows["ssh"]
    same((rows["local"]["verdict"], far["verdict"], far["beside_local"]), (word, word, "agree"), said)
    return rows


def unknown(result, exit, why):
    """The other machine says nothing, this one's verdict stands, and it is said so."""
    code, said, rows = result
    same(code, exit, said)
    far = rows.get("remote") or rows["ssh"]
    held(far, "unknown", why)
    assert "beside_local" not in far and "what was said here stands" in said, said
    return far


# --- the groups ---------------------------------------------------------------------------------------------------------------------


def conformance(bench):
    """The digests are those that an encoder of its own and the server's parser come to."""
    node = bench.casd()
    project = Project(bench, remote(node.url), files=[("src/deep/er/x.txt", "x"), ("src/run.sh", "true\n")]).pinned([5])
    row = agrees(project.replay("remote"), 0, "pass")["remote"]
    top, below = servers.directory(os.path.join(project.top, "src"))
    wanted = b"".join(servers.field(2, servers.digest(message)) for message in [top, *below])
    same(servers.fields(servers.call(node.url, "ContentAddressableStorage/FindMissingBlobs", wanted)), {}, "missing folders")
    tree = servers.call(node.url, "ContentAddressableStorage/FindMissingBlobs", servers.field(2, servers.named(row["action"])) + servers.field(2, servers.named(row["input_root"])))
    same(servers.fields(tree), {}, "missing action and root")


def cache(bench):
    """The first is run, the same again is remembered where that is welcome, and never where it is not."""
    node = bench.casd()
    project = Project(bench, remote(node.url)).pinned([5, 99999])
    found = [agrees(project.replay("remote", *more), 2, "fail")["remote"]["cached"] for more in (["--cached"], ["--cached"], [])]
    same(found, [False, True, False], "cached")


def broken(bench):
    """A missing interpreter or a broken sandbox is neither a pass nor a failure of the property."""
    node, bad = bench.casd(), bench.casd(binds=["/nowhere-at-all:/usr"])
    for change, exit in ((PRICE, 0), (BUG, 2)):
        project = Project(bench, remote(node.url, 'python = "python9"'), change=change).pinned([5, 99999])
        unknown(project.replay("remote"), exit, "no_verdict")
        project = Project(bench, remote(bad.url), change=change).pinned([5, 99999])
        unknown(project.replay("remote"), exit, "no_verdict")


def broken_here(bench):
    """The same on this machine: bubblewrap that does not work, and an interpreter that is none."""
    project = Project(bench, "").pinned([5, 99999])
    programs = os.path.join(project.home, "programs")
    os.makedirs(programs)
    for name in ("bwrap", "python-that-is-none"):
        with open(os.path.join(programs, name), "w") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod(file.name, 0o755)
    path = project.environment["PATH"]
    project.environment["PATH"] = programs + ":" + path
    code, said, rows = project.replay("local")
    same(code, 65, said)
    held(rows["local"], "unknown", "no_verdict")
    assert not os.path.exists(os.path.join(project.top, ".seedgate/ledger.json")), "a row in the ledger"
    os.remove(os.path.join(programs, "bwrap"))
    code, said, rows = project.replay("local", "--python", os.path.join(programs, "python-that-is-none"))
    same(code, 65, said)
    held(rows["local"], "unknown", "no_verdict")


def no_sandbox(bench):
    """Without bubblewrap it says so; with it, the tree's code reaches neither the network nor the system's files."""
    project = Project(bench, '[runner]\nsandbox = "off"\n').pinned([5])
    code, said, rows = project.replay("local")
    same((code, rows["local"]["sandbox"]), (0, "none"), said)
    assert "not shut off" in said, said
    mark = os.path.join(bench.top, "written")
    extra = "open(%r, 'w').close() if not os.path.exists('/tree') else None" % mark
    project = Project(bench, "", extra=extra).pinned([5])
    code, said, rows = project.replay("local", "--max-steps", "0")
    same((code, rows["local"]["sandbox"], os.path.exists(mark)), (2, "bubblewrap", False), said)


def timeout(bench):
    """A job that takes too long there is ended, and nothing of it is left."""
    node = bench.casd()
    extra = "time.sleep(300) if %s else None" % FAR
    project = Project(bench, remote(node.url, head="deadline = 6"), change=PRICE, extra=extra).pinned([5])
    begun = time.monotonic()
    unknown(project.replay("remote", "--limit", "200"), 0, "timeout")
    assert time.monotonic() - begun < BOUND
    assert until(lambda: not processes(JOB)), "a process is left"


def interrupted(bench):
    """Ctrl-C cancels what runs there."""
    node = bench.casd()
    project = Project(bench, remote(node.url), change=PRICE, extra="time.sleep(300) if %s else None" % FAR).pinned([5])
    child = project.start(*project.replaying("remote", "--limit", "200"))
    assert until(lambda: processes(JOB), 60), "it does not begin"
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    same(child.returncode, 70, "exit")
    assert until(lambda: not processes(JOB)), "it goes on there"


def down(bench):
    """Nobody listens: said at once, and the verdict is this machine's."""
    for change, exit in ((PRICE, 0), (BUG, 2)):
        project = Project(bench, remote("http://127.0.0.1:%d" % servers.port()), change=change).pinned([5, 99999])
        far = unknown(project.replay("remote"), exit, "unavailable")
        same(len(far["attempts"]), 3, "attempts")


def ended(bench, which):
    """The server ends in the middle of a job."""
    node = bench.casd()
    project = Project(bench, remote(node.url), change=PRICE, extra="time.sleep(300) if %s else None" % FAR).pinned([5])
    child = project.start(*project.replaying("remote", "--limit", "200"))
    assert until(lambda: processes(JOB), 60), "it does not begin"
    node.signal(which)
    out, err = child.communicate(timeout=BOUND)
    same(child.returncode, 0, err)
    far = [row for row in project.rows() if row["runner"] == "remote"]
    same(len(far), 1, "rows")
    held(far[0], "unknown", "unavailable")
    for left in processes(JOB):
        os.kill(left, signal.SIGKILL)


def killed(bench):
    ended(bench, signal.SIGKILL)


def terminated(bench):
    ended(bench, signal.SIGTERM)


def hung(bench):
    """A server that takes connections and answers nothing: every call has a deadline."""
    node = bench.casd()
    node.signal(signal.SIGSTOP)
    project = Project(bench, remote(node.url), change=PRICE).pinned([5])
    begun = time.monotonic()
    unknown(project.replay("remote"), 0, "unavailable")
    assert time.monotonic() - begun < BOUND


def two_nodes(bench):
    """Twelve jobs over two nodes, one of which is killed: all twelve verdicts, none twice."""
    hub = bench.store()
    nodes = [bench.casd(jobs=1, hub=hub.port) for _ in range(2)]
    proxy = bench.haproxy(nodes)
    extra = "time.sleep(0.01) if %s else None" % FAR
    project = Project(bench, remote(proxy.url, head="jobs = 4"), change=PRICE, extra=extra)
    child = project.start("props", "run", "--runner", "remote", "--python", servers.PYTHON, "--trials", "60", "--tree", "full")
    assert until(lambda: processes(JOB), 120), "it does not begin"
    time.sleep(1)
    nodes[0].signal(signal.SIGKILL)
    out, err = child.communicate(timeout=300)
    same(child.returncode, 0, err)
    far = [row for row in project.rows() if row["runner"] == "remote"]
    same([row["verdict"] for row in far], ["pass"] * 12, [row.get("why") for row in far])
    same(len({row["job_sha256"] for row in far}), 12, "jobs")
    same({row["beside_local"] for row in far}, {"agree"}, "beside")


def forged(bench):
    """Whoever writes into the action cache fools an exploration, which is recorded as a difference, and never a run that counts."""
    node = bench.casd()
    project = Project(bench, remote(node.url), change=PRICE).pinned([5])
    row = agrees(project.replay("remote", "--cached"), 0, "pass")["remote"]
    found = servers.call(node.url, "ContentAddressableStorage/BatchReadBlobs", servers.field(2, servers.named("%s/%d" % (row["verdict_sha256"], size(node, row)))))
    verdict = json.loads(servers.fields(servers.fields(found)[1][0])[2][0])
    verdict["runs"] = [{"ran": 1, "invalid": 0, "first": {"number": 0, "again": True, "failure": {"type": "Forged", "place": None, "message": ""}}}]
    text = json.dumps(verdict).encode()
    servers.call(node.url, "ContentAddressableStorage/BatchUpdateBlobs", servers.field(2, servers.field(1, servers.digest(text)) + servers.field(2, text)))
    result = servers.field(2, servers.field(1, ".seedgate/job/verdict.json") + servers.field(2, servers.digest(text)))
    servers.call(node.url, "ActionCache/UpdateActionResult", servers.field(2, servers.named(row["action"])) + servers.field(3, result))
    code, said, rows = project.replay("remote", "--cached")
    same((code, rows["remote"]["cached"], rows["remote"]["beside_local"]), (2, True, "disagree"), said)
    frozen(project)
    code, out, err = project.seedgate("freeze", "check")
    assert code == 2 and "disagree" in out, (code, out, err)
    rows = agrees(project.replay("remote"), 0, "pass")
    same(rows["remote"]["cached"], False, "cached")
    code, out, err = project.seedgate("freeze", "check")
    assert "disagree" not in out, out


def size(node, row):
    """The size of the verdict, as the action's result has it."""
    result = servers.fields(servers.call(node.url, "ActionCache/GetActionResult", servers.field(2, servers.named(row["action"]))))
    return servers.fields(servers.fields(result[2][0])[2][0])[2][0]


def large(bench):
    """A blob of more than one message, both small and large ones beside it."""
    node = bench.casd()
    big = hashlib.shake_256(b"seedgate").digest(9 << 20)
    extra = "assert len(open('tests/fixtures/big.bin', 'rb').read()) == %d" % len(big)
    files = [("tests/fixtures/big.bin", big)] + [("tests/fixtures/part%d.bin" % at, hashlib.shake_256(b"%d" % at).digest(700 << 10)) for at in range(12)]
    project = Project(bench, remote(node.url), change=PRICE, extra=extra, files=files).pinned([5])
    agrees(project.replay("remote"), 0, "pass")


def mutual_tls(bench):
    """Behind mutual TLS: with the client's key it runs; without one, or with another authority, it does not."""
    node, keys, other = bench.casd(), bench.keys(), bench.keys()
    proxy = bench.haproxy([node], "ssl crt %s/server.pem ca-file %s/ca.crt verify required alpn h2" % (keys, keys))
    url = proxy.url.replace("http:", "https:")
    client = 'cert = "%s/client.crt"\nkey = "%s/client.key"\n'
    agrees(Project(bench, remote(url, 'ca = "%s/ca.crt"\n' % keys + client % (keys, keys)), change=PRICE).pinned([5]).replay("remote"), 0, "pass")
    for policy in ('ca = "%s/ca.crt"\n' % keys, 'ca = "%s/ca.crt"\n' % keys + client % (other, other), 'ca = "%s/ca.crt"\n' % other + client % (keys, keys)):
        unknown(Project(bench, remote(url, policy), change=PRICE).pinned([5]).replay("remote"), 0, "unavailable")


def by_ssh(bench):
    """Behind ssh it runs; with a wrong host key, or a key that is not let in, it does not, and nothing is tried twice."""
    server, folder = bench.sshd(bench.seedgate + " runner-exec --python " + servers.PYTHON)
    agrees(Project(bench, ssh(server, folder)).pinned([5, 99999]).replay("ssh"), 2, "fail")
    for more in ({"hosts": "wrong_hosts"}, {"identity": "other_client"}):
        far = unknown(Project(bench, ssh(server, folder, **more), change=PRICE).pinned([5]).replay("ssh"), 0, "refused")
        same(len(far["attempts"]), 1, "attempts")


def ssh_far_side(bench):
    """The far side is ended, hangs, or has no interpreter: no verdict, in time, and nothing is left there."""
    server, folder = bench.sshd(bench.seedgate + " runner-exec --python " + servers.PYTHON + " --sandbox off")
    # The far side's tree lies in a folder of its own; here it lies in the cache.
    extra = "time.sleep(300) if os.getcwd().endswith('/tree') else None"
    # ssh itself ends alike when its command was killed and when the line broke: that is tried again.
    for which, why in ((signal.SIGKILL, "unavailable"), (signal.SIGTERM, "no_verdict"), (None, "timeout")):
        project = Project(bench, ssh(server, folder, head="deadline = 12" if which is None else ""), change=PRICE, extra=extra).pinned([5])
        child = project.start(*project.replaying("ssh", "--limit", "200"))
        assert until(lambda: processes("runner-exec"), 60), "it does not begin"
        while which is not None and child.poll() is None:
            # As soon as it is past its start: only then does it hear SIGTERM.
            time.sleep(1)
            for far in processes("runner-exec"):
                os.kill(far, which)
        out, err = child.communicate(timeout=BOUND)
        same(child.returncode, 0, err)
        held([row for row in project.rows() if row["runner"] == "ssh"][0], "unknown", why)
        assert until(lambda: not processes("runner-exec") and not far_jobs()), "the far side goes on"
    server, folder = bench.sshd(bench.seedgate + " runner-exec --python python9")
    unknown(Project(bench, ssh(server, folder), change=PRICE).pinned([5]).replay("ssh"), 0, "no_verdict")
    server.signal(signal.SIGKILL)
    unknown(Project(bench, ssh(server, folder), change=PRICE).pinned([5]).replay("ssh"), 0, "unavailable")


def far_jobs():
    """Jobs of a far side: their script lies in the tree."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % entry, "rb") as file:
                found += [entry for part in file.read().split(b"\0") if part.endswith(b"/tree/" + JOB.encode())]
        except OSError:
            pass
    return found


def ssh_tar(bench):
    """What is not what its digest says, or leads out, is not run."""
    import io
    import tarfile

    def run(content, sha256):
        said = subprocess.run([bench.seedgate, "runner-exec", "--python", servers.PYTHON], input=content, env={"PATH": os.environ["PATH"], "SSH_ORIGINAL_COMMAND": sha256}, capture_output=True)
        return said.returncode, said.stdout, said.stderr.decode()

    def tar(name, link=None):
        held = io.BytesIO()
        with tarfile.open(fileobj=held, mode="w") as file:
            entry = tarfile.TarInfo(name)
            if link:
                entry.type, entry.linkname = tarfile.SYMTYPE, link
            file.addfile(entry, io.BytesIO())
        return held.getvalue()

    good = tar("a.py")
    own = lambda content: hashlib.sha256(content).hexdigest()
    for content, sha256, code, says in (
        (good, "0" * 64, 65, "SHA-256"),
        (good, "touch /tmp/x", 64, "64 hex digits"),
        (good + b"x", own(good), 65, "SHA-256"),
        (tar("../out"), own(tar("../out")), 65, "leads out"),
        (tar("/tmp/seedgate-out"), own(tar("/tmp/seedgate-out")), 65, "leads out"),
        (tar("link", "/etc/passwd"), own(tar("link", "/etc/passwd")), 65, "leads out"),
        (good, own(good), 70, "no_verdict"),
    ):
        found = run(content, sha256)
        same(found[:2], (code, b""), found)
        assert says in found[2], found


def same_bytes(bench):
    """The same job has the same verdict, byte for byte, wherever it runs."""
    node = bench.casd()
    server, folder = bench.sshd(bench.seedgate + " runner-exec --python " + servers.PYTHON)
    policy = remote(node.url) + ssh(server, folder).replace("[runner]\n", "")
    extra = "assert n != 7, (object(), time)"
    project = Project(bench, policy, extra=extra).pinned([5, 7, 99999, -1000])
    rows = {}
    for runner in ("local", "ssh", "remote"):
        rows.update(project.replay(runner, "--cached")[2])
    same(sorted(rows), ["local", "remote", "ssh"], "runners")
    for key in ("job_sha256", "action", "verdict_sha256"):
        same(len({row[key] for row in rows.values()}), 1, {name: row[key] for name, row in rows.items()})


def secrets(bench):
    """A tree with a path on the list of secrets is run here only: nobody is even called."""
    called = []
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def accept():
            try:
                while True:
                    called.append(listener.accept())
            except OSError:
                pass

        threading.Thread(target=accept, daemon=True).start()
        url = "http://127.0.0.1:%d" % listener.getsockname()[1]
        far = unknown(Project(bench, remote(url), change=PRICE, files=[("deploy/.env", "KEY=1\n")]).pinned([5]).replay("remote"), 0, "secrets: nothing was sent: deploy/.env")
        same((called, far["attempts"]), ([], []), "calls")
        listener.shutdown(socket.SHUT_RDWR)


def network(bench):
    """No policy opens the network for a job."""
    project = Project(bench, remote("http://127.0.0.1:1", '[runner.remote.platform]\nnetwork = "on"'))
    code, out, err = project.seedgate("props", "run", "--runner", "remote")
    assert code == 65 and "a job has no network" in err, (code, out, err)


def chain(bench):
    """From a counterexample by candidates to a base replay elsewhere, and exploratory seeds that decide nothing."""
    node = bench.casd()
    project = Project(bench, remote(node.url)).pinned([5, 99999])
    same(project.replay("remote")[0], 2, "replay")
    code, out, err = project.seedgate("ledger", "replay-base", "--base", "HEAD~1", "--runner", "remote", "--python", servers.PYTHON)
    assert code == 0 and out.startswith("promote"), (code, out, err)
    base = [row for row in project.rows() if row["kind"] == "base"]
    same([(row["runner"], row["verdict"]) for row in base], [("local", "pass"), ("remote", "pass")], "base")
    code, out, err = project.seedgate("props", "run", "--runner", "remote", "--trials", "5", "--explore", "3", "--python", servers.PYTHON)
    far = [row for row in project.rows() if row["kind"] == "props" and row["runner"] == "remote"]
    same((len(far), len([row for row in project.rows() if row["kind"] == "props" and row["runner"] == "local"])), (15, 12), err)


# --- the probe ----------------------------------------------------------------------------------------------------------------------

AGE = "def grown(age):\n    return age >= 18\n\n\ndef total(xs):\n    t = 0\n    for x in xs:\n        t += x\n    return t\n"
AGED = "from age import grown, total\n\n\ndef test_grown():\n    assert grown(18) and not grown(17)\n\n\ndef test_total():\n    {extra}\n    assert total([1, 2]) == 3\n"
PYTEST = "python3 -m pytest -q tests/test_age.py"


def aged(bench, policy, extra="pass", files=()):
    files = [("src/age.py", AGE), ("tests/test_age.py", AGED.format(extra=extra)), *files]
    return Project(bench, policy, change=PRICE, files=files)


def probing(runner, tests=PYTEST, *more):
    own = ["--runner", runner] if runner else []
    return ["probe", "--tests", tests, "--python", servers.PYTHON, "--budget", "8", "--json", *own, *more]


def probed(project, runner, tests=PYTEST, *more):
    """The exit, the record, what was said, and the rows by runner and by what each is about."""
    code, out, err = project.seedgate(*probing(runner, tests, *more))
    rows = {}
    for row in project.rows():
        same(row["kind"], "probe", row)
        assert row["prop_id"] not in rows.setdefault(row["runner"], {}), "twice in the record: %s" % row["prop_id"]
        rows[row["runner"]][row["prop_id"]] = row
    return code, json.loads(out) if out else None, err, rows


def alone(bench):
    """The record of this machine without jobs."""
    code, out, err = aged(bench, "").seedgate(*probing(None, PYTEST.replace("python3", servers.PYTHON)))
    record = json.loads(out)
    same((code, record["counts"]["killed"]), (0, 8), err)
    return record


def told(record):
    return [(mutant["id"], mutant["outcome"]) for mutant in record["mutants"]]


def unknown_there(found, plain, why):
    """The other machine says nothing of any job, and the record is this machine's own."""
    code, record, err, rows = found
    same((code, told(record)), (0, told(plain)), err)
    far = rows.get("remote") or rows["ssh"]
    same(sorted(far), sorted(rows["local"]), "jobs")
    for row in far.values():
        held(row, "unknown", why)
        assert "beside_local" not in row, row
    assert "what was said here stands" in err, err
    return far


def probe(bench):
    """Mutants as jobs: here, behind ssh and on a server the same bytes as this machine alone, and many in flight."""
    hub = bench.store()
    proxy = bench.haproxy([bench.casd(jobs=1, hub=hub.port) for _ in range(2)])
    server, folder = bench.sshd(bench.seedgate + " runner-exec --python " + servers.PYTHON)
    plain = alone(bench)
    for runner, policy in (("local", ""), ("ssh", ssh(server, folder)), ("remote", remote(proxy.url, head="jobs = 4"))):
        code, record, err, rows = probed(aged(bench, policy), runner)
        same((code, told(record)), (0, told(plain)), err)
        same({name: len(of) for name, of in rows.items()}, {name: 9 for name in {"local", runner}}, "one row for the twin and for each mutant")
        for name, row in rows[runner].items():
            here = rows["local"][name]
            same(row["verdict"], "pass" if name.startswith("unmutated") else "fail", row)
            same([row[key] for key in ("job_sha256", "action", "verdict_sha256", "cached")], [here[key] for key in ("job_sha256", "action", "verdict_sha256")] + [False], name)
            if runner != "local":
                same(row["beside_local"], "agree", name)
                assert row["endpoint"] and row["attempts"], row


def probe_broken(bench):
    """A missing interpreter, a missing pytest or a broken sandbox there is never a kill, and never a survivor."""
    node, bad = bench.casd(), bench.casd(binds=["/nowhere-at-all:/usr"])
    plain = alone(bench)
    unknown_there(probed(aged(bench, remote(node.url, 'python = "python9"')), "remote"), plain, "no_verdict")
    unknown_there(probed(aged(bench, remote(bad.url)), "remote"), plain, "no_verdict")
    gone = "if [ \"$PWD\" = /tree ]; then python3 -S -m pytest -q; else %s; fi" % PYTEST
    project = aged(bench, remote(node.url))
    code, record, err, rows = probed(project, "remote", gone)
    same((code, told(record)), (0, told(plain)), err)
    held(rows["remote"]["unmutated code (patch tests)"], "unknown", "no_report")
    assert {row["verdict"] for row in rows["remote"].values()} == {"unknown"}, rows["remote"]
    # The mutant alone is broken there: an import that fails, a process that is killed, a test that hangs.
    for broken in ("import no_such_module", "os.kill(os.getpid(), 9)", "time.sleep(300)"):
        source = "import os, time\n\n\ndef there():\n    pass\n\n\nif %s:\n    there()\n\n\n" % FAR
        project = aged(bench, remote(node.url), files=[("src/age.py", source + AGE)])
        patch = os.path.join(project.home, "fault.patch")
        with open(patch, "w") as file:
            file.write("--- a/src/age.py\n+++ b/src/age.py\n@@ -5 +5 @@\n-    pass\n+    %s\n" % broken)
        code, out, err = project.seedgate("probe", "--tests", PYTEST, "--python", servers.PYTHON, "--json", "--runner", "remote", "--mutant", patch, "--limit", "10")
        far = [row for row in project.rows() if row["runner"] == "remote"]
        same([row["verdict"] for row in far], ["pass", "unknown"], (broken, err, far))
        # Here it survives, which is what counts.
        same((code, json.loads(out)["counts"]["survived"]), (2, 1), err)


def probe_down(bench):
    """Nobody listens, a server that hangs, one that is killed among the mutants: bounded, recorded, and this machine's verdicts stand."""
    plain = alone(bench)
    far = unknown_there(probed(aged(bench, remote("http://127.0.0.1:%d" % servers.port())), "remote"), plain, "unavailable")
    # The unmutated tests are asked for three times, the mutants not at all.
    same(sorted(len(row["attempts"]) for row in far.values()), [0] * 8 + [3], "attempts")
    node = bench.casd()
    node.signal(signal.SIGSTOP)
    begun = time.monotonic()
    unknown_there(probed(aged(bench, remote(node.url)), "remote"), plain, "unavailable")
    assert time.monotonic() - begun < BOUND
    node = bench.casd(jobs=1)
    project = aged(bench, remote(node.url, head="jobs = 2"), extra="import os, time; time.sleep(300) if %s and total([1, 1]) != 2 else None" % FAR)
    child = project.start(*probing("remote"))
    assert until(lambda: project.rows() and processes(JOB) and any(row["runner"] == "remote" for row in project.rows()), 120), "it does not begin"
    time.sleep(1)
    node.signal(signal.SIGKILL)
    out, err = child.communicate(timeout=BOUND)
    same((child.returncode, json.loads(out)["counts"]["killed"]), (0, 8), err)
    far = [row for row in project.rows() if row["runner"] == "remote"]
    same((len(far), {row["verdict"] for row in far} <= {"pass", "fail", "unknown"}, "unknown" in {row["verdict"] for row in far}), (9, True, True), far)
    assert all(row["why"].startswith("unavailable") for row in far if row["verdict"] == "unknown"), far
    for left in processes(JOB):
        os.kill(left, signal.SIGKILL)


def probe_differs(bench):
    """A mutant that is noticed on one machine only is a difference, and blocks a freeze until it is gone."""
    node = bench.casd()
    tests = "import os\n\nfrom age import grown, total\n\n\ndef test_grown():\n    assert grown(18) and not grown(17)\n\n\ndef test_total():\n    assert total([1, 2]) == 3 or %s\n" % FAR
    project = aged(bench, remote(node.url), files=[("tests/test_age.py", tests)])
    code, record, err, rows = probed(project, "remote")
    same((code, record["counts"]["survived"]), (2, 0), err)
    assert "disagree" in {row.get("beside_local") for row in rows["remote"].values()} and "disagree: the remote runner" in err, err
    frozen(project)
    code, out, err = project.seedgate("freeze", "check")
    assert code == 2 and "disagree" in out, (code, out, err)


def frozen(project):
    project.write(".seedgate/freeze.json", json.dumps({"schema": "seedgate.freeze/1", "entries": [
        {"test": "tests/test_other.py::test_other", "owner": "me", "expires": "2999-01-01", "token": {"verdict": "freeze_eligible", "fixture_digest": "0" * 64}}]}))


GROUPS = [
    conformance, cache, broken, broken_here, no_sandbox, timeout, interrupted, down, killed, terminated, hung, two_nodes, forged, large,
    mutual_tls, by_ssh, ssh_far_side, ssh_tar, same_bytes, secrets, network, chain, probe, probe_broken, probe_down, probe_differs,
]


def main():
    options, _ = servers.arguments()
    passed, failed = 0, []
    for group in GROUPS:
        if options.only and not any(group.__name__.startswith(name) for name in options.only):
            continue
        bench, begun = Bench(options.seedgate, options.buildbox), time.monotonic()
        try:
            group(bench)
            passed += 1
            print("ok      %-14s %5.1f s" % (group.__name__, time.monotonic() - begun), flush=True)
        except Exception:
            failed.append(group.__name__)
            print("FAILED  %s\n%s" % (group.__name__, traceback.format_exc()), flush=True)
        finally:
            bench.close()
    print("%d passed, %d failed" % (passed, len(failed)))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
