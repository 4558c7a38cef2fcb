//! Properties that are run: what each outcome is called, what a property may not do, and that nothing is left behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::project::{Project, appears, gone, property, python, runs};

const PRICE: &str = "def total(xs):\n    t = 0\n    for x in xs:\n        t += x\n    return t\n\n\ndef clamp(n, low, high):\n    return max(low, min(n, high))\n";
const PLAIN: &str = "from price import clamp, total\nfrom seedgate_props import bounds, cases\n\n\n@bounds(n=(-1000, 1000))\ndef prop_clamp(n):\n    assert 0 <= clamp(n, 0, 10) <= 10\n\n\n@cases([([], 0), ([1, 2], 3), ([7], 7)])\ndef prop_total(xs, wanted):\n    assert total(xs) == wanted\n\n\ndef prop_empty():\n    assert total([]) == 0\n";
const FILES: [(&str, &str); 2] = [("src/price.py", PRICE), ("tests/properties/test_price.py", PLAIN)];

/// A project of one file of properties.
fn with(properties: &str) -> Project {
    let text = format!("import os, sys\nfrom seedgate_props import bounds\n\n{properties}");
    let project = Project::new(&[("src/price.py", PRICE)]);
    project.commit("properties", &[("tests/properties/test_it.py", &text)]);
    project
}

#[test]
fn properties_that_hold_are_run_and_end_in_0() {
    let project = Project::new(&FILES);
    project.commit("nothing", &[]);
    let (said, record) = project.run(&[]);
    assert_eq!(said.code, Some(0), "{} {}", said.out, said.err);
    assert_eq!((record["schema"].as_str(), record["seeds"][1].as_str()), (Some("seedgate.props/1"), Some("2")));
    let clamp = property(&record, "prop_clamp");
    assert_eq!((clamp["status"].as_str(), clamp["domain_size"].as_str()), (Some("pass"), Some("2001")));
    assert_eq!(clamp["runs"].as_array().map(Vec::len), Some(3));
    assert_eq!(clamp["runs"][0]["ran"], 100);
    let total = property(&record, "prop_total");
    assert_eq!((total["runs"][0]["from"].as_str(), total["runs"][0]["ran"].as_u64()), (Some("exhausted"), Some(3)));
    assert_eq!(property(&record, "prop_empty")["runs"][0]["ran"], 1);
    assert_eq!(project.left(), Vec::<String>::new());
}

#[test]
fn what_fails_is_told_with_its_seed_and_raw_input_and_ends_in_2() {
    let project = Project::new(&FILES);
    project.commit("bug", &[("src/price.py", &PRICE.replace("min(n, high)", "n"))]);
    let before = project.sandbox.line(["count-objects", "-v"]);
    let (said, record) = project.run(&["--tree", "production-only"]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    let run = &property(&record, "prop_clamp")["runs"][0];
    assert_eq!((run["outcome"].as_str(), run["seed"].as_str()), (Some("fail"), Some("1")));
    assert!(run["input"]["n"].as_i64().is_some_and(|n| n > 10), "{run}");
    assert_eq!(
        (run["failure"]["type"].as_str(), run["failure"]["place"].as_str()),
        (Some("AssertionError"), Some("tests/properties/test_price.py:7"))
    );
    assert_eq!(run["failure"]["message"], "assert 0 <= clamp(n, 0, 10) <= 10");
    assert_eq!(property(&record, "prop_total")["status"], "pass");
    let text = project.seedgate(&["props", "run", "prop_clamp"]);
    assert!(text.out.contains("failed  tests/properties/test_price.py::prop_clamp\n    on    seed 1, input "), "{}", text.out);
    // The repository is as it was.
    assert_eq!(project.sandbox.line(["count-objects", "-v"]), before);
    assert_eq!(project.sandbox.line(["status", "--porcelain"]), "?? .seedgate/");
}

#[test]
fn the_same_seeds_give_the_same_record() {
    let project = Project::new(&FILES);
    project.commit("bug", &[("src/price.py", &PRICE.replace("min(n, high)", "n"))]);
    assert_eq!(project.run(&[]).1, project.run(&[]).1);
}

#[test]
fn only_the_production_side_is_taken_unless_all_of_it_is_asked_for() {
    let project = Project::new(&FILES);
    let weaker = PLAIN.replace("(-1000, 1000)", "(0, 10)");
    project.commit(
        "bug and a weaker test",
        &[("src/price.py", &PRICE.replace("min(n, high)", "n")), ("tests/properties/test_price.py", &weaker)],
    );
    let (said, record) = project.run(&["--tree", "production-only"]);
    assert_eq!((said.code, property(&record, "prop_clamp")["domain_size"].as_str()), (Some(2), Some("2001")));
    let (said, record) = project.run(&["--tree", "full"]);
    assert_eq!((said.code, property(&record, "prop_clamp")["domain_size"].as_str()), (Some(0), Some("11")));
}

#[test]
fn crashes_hangs_and_memory_are_failures_that_name_themselves_and_stop_nobody_else() {
    let project = with(
        "@bounds(n=(0, 3))\ndef prop_signal(n):\n    if n == 2:\n        os.kill(os.getpid(), 11)\n\n\
         @bounds(n=(0, 3))\ndef prop_leaves(n):\n    if n == 2:\n        os._exit(3)\n\n\
         @bounds(n=(0, 3))\ndef prop_hangs(n):\n    while n == 2:\n        pass\n\n\
         @bounds(n=(0, 3))\ndef prop_eats(n):\n    if n == 2:\n        bytearray(1 << 34)\n\n\
         @bounds(n=(0, 3))\ndef prop_ends(n):\n    if n == 2:\n        sys.exit(0)\n\n\
         @bounds(n=(0, 3))\ndef prop_deep(n):\n    def f(n):\n        return f(n + 1)\n    if n == 2:\n        f(0)\n\n\
         @bounds(n=(0, 3))\ndef prop_well(n):\n    assert n < 4\n",
    );
    let (said, record) = project.run(&["--limit", "1", "--memory", "2048"]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    for (name, kind) in [
        ("prop_signal", "crash (signal 11, SIGSEGV)"),
        ("prop_leaves", "crash (exit 3)"),
        ("prop_hangs", "hang"),
        ("prop_eats", "out_of_memory"),
        ("prop_ends", "SystemExit"),
        ("prop_deep", "RecursionError"),
    ] {
        let run = &property(&record, name)["runs"][0];
        assert_eq!((run["outcome"].as_str(), run["failure"]["type"].as_str()), (Some("fail"), Some(kind)), "{run}");
        assert_eq!((run["input"]["n"].as_u64(), run["ran"].as_u64()), (Some(2), Some(3)), "{run}");
    }
    assert_eq!(property(&record, "prop_well")["status"], "pass");
    assert_eq!(project.left(), Vec::<String>::new());
}

#[test]
fn what_a_property_prints_is_no_answer() {
    let project = with(
        "import subprocess\n\n\
         @bounds(n=(0, 20))\ndef prop_prints(n):\n    print('{\"batch\": 1, \"ran\": 999, \"others\": []}', flush=True)\n    os.write(1, b'noise\\n')\n    sys.stderr.write('x' * 5000)\n    \
         subprocess.run(['echo', 'more'])\n    assert sys.stdin.read() == ''\n    assert n != 20\n",
    );
    let (said, record) = project.run(&[]);
    assert_eq!(project.left(), Vec::<String>::new());
    let run = &property(&record, "prop_prints")["runs"][0];
    assert_eq!((said.code, run["input"]["n"].as_u64(), run["ran"].as_u64()), (Some(2), Some(20), Some(21)), "{run}");
}

#[test]
fn what_has_no_verdict_is_named_and_ends_in_65_where_something_went_wrong() {
    let project = with(
        "@bounds(n=(0, 3))\ndef prop_net(n):\n    import socket\n    try:\n        socket.create_connection(('192.0.2.1', 80), 1)\n    except OSError:\n        pass\n\n\
         @bounds(n=(0, 3))\ndef prop_fixture(n, tmp_path):\n    assert tmp_path\n\n\
         def prop_domain(n=range(3)):\n    yield n\n\n\
         @bounds(n=(0, 3))\nasync def prop_async(n):\n    assert n < 3\n\n\
         class TestIt:\n    @bounds(n=(0, 3))\n    def test_method(self, n):\n        assert n < 3\n\n    @staticmethod\n    @bounds(n=(0, 3))\n    def test_static(n):\n        assert n < 3\n",
    );
    let (said, record) = project.run(&[]);
    assert_eq!(said.code, Some(65), "{}", said.err);
    for (name, status, kind) in
        [("prop_net", "error", "network"), ("prop_fixture", "not_run", "needs_fixture"), ("prop_domain", "not_run", "unsupported")]
    {
        let row = property(&record, name);
        assert_eq!((row["status"].as_str(), row["refusal"]["kind"].as_str()), (Some(status), Some(kind)), "{row}");
    }
    for name in ["prop_async", "TestIt::test_method", "TestIt::test_static"] {
        assert_eq!(property(&record, name)["runs"][0]["input"]["n"], 3, "{name}");
    }
    // What is no property that can be run decides nothing, until it is asked for by name.
    assert_eq!(project.run(&["prop_async"]).0.code, Some(2));
    assert_eq!(project.run(&["prop_fixture"]).0.code, Some(65));
    assert_eq!(project.seedgate(&["props", "run", "prop_none"]).code, Some(64));
    let listed = project.seedgate(&["props", "list", "--check"]);
    assert!(listed.out.contains("needs_fixture: the domain does not give its argument tmp_path"), "{}", listed.out);
    assert!(listed.out.ends_with("6 properties, 4 can be run\n"), "{}", listed.out);
}

#[test]
fn a_module_that_cannot_be_imported_is_no_pass() {
    for (text, kind) in [
        ("import nowhere_at_all\n", "import_failed"),
        ("os._exit(0)\n", "import_failed"),
        ("import socket\nsocket.getaddrinfo('example.org', 80)\n", "network"),
    ] {
        let project = with(&format!("{text}\n@bounds(n=(0, 3))\ndef prop_a(n):\n    assert True\n"));
        let (said, record) = project.run(&[]);
        assert_eq!((said.code, property(&record, "prop_a")["refusal"]["kind"].as_str()), (Some(65), Some(kind)), "{record:#}");
    }
}

#[test]
fn what_fails_once_and_not_again_is_a_flake() {
    let project = with("SEEN = []\n\n@bounds(n=(0, 3))\ndef prop_remembers(n):\n    SEEN.append(n)\n    assert len(SEEN) != 3\n");
    let (said, record) = project.run(&[]);
    assert_eq!((said.code, property(&record, "prop_remembers")["status"].as_str()), (Some(2), Some("flake")));
}

#[test]
fn fresh_seeds_neither_block_nor_clear() {
    let project = with("@bounds(n=(0, 1 << 60))\ndef prop_large(n):\n    assert n % 8\n");
    fs::write(project.sandbox.top.join("none.txt"), "# nothing\n").expect("a file");
    for (seeds, says) in [("none.txt", "holds no seed"), ("missing.txt", "one whole number a line")] {
        let said = project.seedgate(&["props", "run", "--seeds", seeds]);
        assert_eq!(said.code, Some(65), "{}", said.err);
        assert!(said.err.contains(says), "{}", said.err);
    }
    // One input of some seed passes; among 400 fresh ones some fail.
    let holds = (1..20_u64).find(|seed| {
        fs::write(project.sandbox.top.join("seeds.txt"), seed.to_string()).expect("a file");
        project.run(&["--seeds", "seeds.txt", "--trials", "1"]).0.code == Some(0)
    });
    assert!(holds.is_some());
    let (said, record) = project.run(&["--seeds", "seeds.txt", "--trials", "1", "--explore", "400"]);
    assert_eq!(said.code, Some(0), "{}", said.out);
    let runs = property(&record, "prop_large")["runs"].as_array().expect("runs").clone();
    assert!(runs.iter().any(|run| run["from"] == "explore" && run["outcome"] == "fail"));
}

#[test]
fn the_environment_of_a_property_is_bare_and_the_same_for_everybody() {
    let project = with(
        "@bounds(n=(0, 0))\ndef prop_bare(n):\n    assert not [name for name in os.environ if name.startswith(('GIT_', 'SECRET'))]\n    assert os.listdir(os.environ['HOME']) == []\n    \
         assert sorted({'a', 'b', 'c', 'd'}) == ['a', 'b', 'c', 'd'] and os.environ['PYTHONHASHSEED'] == '0'\n    assert os.path.isfile('src/price.py') and not os.path.exists('.git')\n",
    );
    let said = project
        .command(&["props", "run", "--tree", "full"])
        .env("SECRET_TOKEN", "x")
        .env("GIT_TRACE", "0")
        .output()
        .expect("seedgate runs");
    assert_eq!(said.status.code(), Some(0), "{}", String::from_utf8_lossy(&said.stdout));
}

#[test]
fn what_a_property_starts_ends_with_it() {
    let mark = format!("1{}", std::process::id());
    let project = with(&format!(
        "import subprocess\n\n@bounds(n=(0, 0))\ndef prop_starts(n):\n    subprocess.Popen(['sleep', '100{mark}'])\n    if n == 0:\n        while True:\n            pass\n"
    ));
    let (said, record) = project.run(&["--limit", "0.5"]);
    assert_eq!((said.code, property(&record, "prop_starts")["runs"][0]["failure"]["type"].as_str()), (Some(2), Some("hang")));
    assert!(gone(&format!("100{mark}")));
}

#[test]
#[cfg(target_os = "linux")]
fn no_process_and_no_file_outlives_an_interrupted_run_and_no_process_a_killed_one() {
    for (signal, code) in [("INT", Some(70)), ("TERM", Some(70)), ("KILL", None)] {
        let project = with(
            "@bounds(n=(0, 0))\ndef prop_waits(n):\n    open(os.environ['HOME'] + '/../../here', 'w').close()\n    while True:\n        pass\n",
        );
        let mut child = project
            .command(&["props", "run", "--tree", "full", "--limit", "600"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("seedgate");
        assert!(appears(&project.temporary().join("here")));
        let mark = project.temporary().display().to_string();
        assert!(runs(&mark));
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
        assert_eq!(child.wait().expect("an end").code(), code, "{signal}");
        assert!(gone(&mark), "{signal}");
        if signal != "KILL" {
            assert_eq!(project.left(), ["here"], "{signal}");
        }
    }
}

#[test]
fn hypothesis_and_pytest_are_unwrapped() {
    let Some(python) = python("hypothesis_and_pytest_are_unwrapped") else { return };
    let project = Project::new(&[("src/price.py", PRICE)]);
    let text = "import pytest\nimport unittest\nfrom hypothesis import HealthCheck, assume, given, note, reject, settings, strategies as st, target\nfrom price import clamp\n\n\n\
        @given(st.integers(0, 9), st.booleans())\ndef test_by_position(n, flag):\n    note('x')\n    target(float(n))\n    assert isinstance(flag, bool) and n < 9\n\n\n\
        @settings(max_examples=5, suppress_health_check=list(HealthCheck))\n@given(pair=st.tuples(st.integers(0, 3), st.binary(max_size=1)))\ndef test_by_name(pair):\n    assume(pair[1])\n    assert type(pair) is tuple and type(pair[1]) is bytes and pair[1] != b'\\xff'\n\n\n\
        @given(st.integers(0, 3))\ndef test_rejects(n):\n    reject()\n\n\n\
        class TestPrice:\n    @pytest.mark.parametrize('n', [1, 2, pytest.param(30, id='big')])\n    @given(low=st.integers(0, 1))\n    def test_both(self, n, low):\n        assert clamp(n, low, 10) < 10\n\n\n\
        class Case(unittest.TestCase):\n    def setUp(self):\n        self.ready = True\n\n    @given(st.sets(st.integers(0, 5), min_size=3))\n    def test_unit(self, xs):\n        self.assertTrue(self.ready and isinstance(xs, set))\n        self.assertNotIn(5, xs)\n\n\n\
        @pytest.mark.skip(reason='later')\n@given(st.integers(0, 3))\ndef test_skipped(n):\n    assert False\n\n\n\
        @given(st.integers(0, 3))\ndef test_skips(n):\n    if n < 3:\n        pytest.skip('not here')\n    assert n == 3\n\n\n\
        @given(st.integers(0, 3))\n@pytest.mark.parametrize('k', [1], indirect=True)\ndef test_indirect(n, k):\n    assert n\n";
    project.commit("tests", &[("tests/test_price.py", text)]);
    let (said, record) = project.run(&["--python", python.to_str().expect("text")]);
    assert_eq!(said.code, Some(2), "{record:#}");
    for (name, input) in [("test_by_position", r#"{"flag":false,"n":9}"#), ("test_both", r#"{"low":0,"n":30}"#)] {
        let run = &property(&record, name)["runs"][0];
        assert_eq!((run["outcome"].as_str(), run["input"].to_string().as_str()), (Some("fail"), input), "{run}");
    }
    let by_name = property(&record, "test_by_name");
    assert!(by_name["status"] == "fail" && by_name["runs"][0]["invalid"].as_u64() > Some(0), "{by_name}");
    assert_eq!(property(&record, "Case::test_unit")["runs"][0]["failure"]["type"], "AssertionError");
    for (name, status) in [("test_rejects", "not_run"), ("test_skipped", "not_run"), ("test_skips", "pass"), ("test_indirect", "not_run")] {
        assert_eq!(property(&record, name)["status"], status, "{name}: {record:#}");
    }
}

#[test]
fn an_editable_install_of_the_project_is_an_error_and_never_a_verdict() {
    let Some(python) = python("an_editable_install_of_the_project_is_an_error_and_never_a_verdict") else { return };
    let setup = "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n\n[project]\nname = \"price\"\nversion = \"1\"\n\n[tool.setuptools]\npackage-dir = {\"\" = \"python\"}\npy-modules = [\"price\"]\n";
    let project = Project::new(&[("python/price.py", PRICE), ("tests/properties/test_price.py", PLAIN), ("pyproject.toml", setup)]);
    let own = project.sandbox.beside("venv");
    let made = Command::new(&python).args(["-m", "venv", "--without-pip"]).arg(&own).status().expect("a venv");
    assert!(made.success());
    let site = |venv: &Path| fs::read_dir(venv.join("lib")).expect("lib").flatten().next().expect("python").path().join("site-packages");
    let shared = site(python.parent().and_then(Path::parent).expect("a venv"));
    fs::write(site(&own).join("shared.pth"), shared.display().to_string()).expect("a path");
    let own_python = own.join("bin/python");
    let pip = ["install", "-q", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "-e"];
    let mut install = Command::new(&python);
    let installed = install.args(["-m", "pip", "--python"]).arg(&own_python).args(pip).arg(&project.sandbox.top).output().expect("pip");
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let own_python = own_python.to_str().expect("text");

    // The candidate is broken and the work tree is whole, so a replay against the install would pass.
    project.commit("bug", &[("python/price.py", &PRICE.replace("min(n, high)", "n"))]);
    project.sandbox.write("python/price.py", PRICE);
    let (said, record) = project.run(&["prop_clamp", "--python", own_python]);
    let row = property(&record, "prop_clamp");
    assert_eq!((said.code, row["refusal"]["kind"].as_str()), (Some(65), Some("outside_tree")), "{row:#}");
    assert!(row["refusal"]["message"].as_str().is_some_and(|says| says.contains("price was loaded from")), "{row:#}");

    // The policy of the base says where the code is: then it is the tree's, whatever is installed.
    let policy = "schema = \"seedgate.config/1\"\n[worker]\npath = [\"python\"]\n";
    project.commit("policy", &[(".seedgate/config.toml", policy)]);
    project.commit("nothing", &[]);
    let (said, record) = project.run(&["prop_clamp", "--python", own_python]);
    assert_eq!((said.code, property(&record, "prop_clamp")["status"].as_str()), (Some(2), Some("fail")));
}

#[test]
fn what_is_no_worker_or_breaks_the_protocol_gives_no_verdict() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = with("@bounds(n=(0, 3))\ndef prop_a(n):\n    assert True\n");
    let hello = r#"read l; echo '{"seedgate.worker":1,"language":"x","version":"1"}'; read l; "#;
    let open = r#"echo '{"property":0}'; read l; echo '{"modules":[]}'; read l; "#;
    for (script, code, says) in [
        ("exit 3".to_owned(), 69, "ended (exit 3)"),
        ("read l; echo noise".to_owned(), 70, "broke its protocol"),
        (r#"read l; echo '{"seedgate.worker":2,"language":"x","version":"1"}'"#.to_owned(), 69, "seedgate.worker/2"),
        (r#"read l; echo '{"error":{"kind":"protocol","message":"too old"}}'"#.to_owned(), 69, "too old"),
        (format!("{hello}echo '[]'"), 70, "broke its protocol"),
        (format!(r#"{hello}{open}echo '{{"batch":9,"ran":4,"others":[]}}'"#), 70, "batch 9"),
        (format!(r#"{hello}{open}echo '{{"batch":1,"ran":999,"others":[]}}'"#), 70, "999 inputs ran"),
        (format!(r#"{hello}{open}echo '{{"batch":1,"ran":2,"others":[]}}'"#), 70, "2 inputs ran"),
        (format!(r#"{hello}{open}echo '{{"batch":1,"ran":4,"others":[{{"input":7,"outcome":"fail","type":"E"}}]}}'"#), 70, "no input 7"),
        (format!(r#"{hello}{open}echo '{{"batch":1,"ran":4,"others":[{{"input":1,"outcome":"mood"}}]}}'"#), 70, "mood"),
    ] {
        let program = project.sandbox.top.join("fake");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
        let said = project.seedgate(&["props", "run", "--tree", "full", "--python", "./fake", "--out", "props.json"]);
        assert_eq!(said.code, Some(code), "{script}: {}", said.err);
        assert!(said.err.contains(says), "{script}: {}", said.err);
        assert!(!project.sandbox.top.join("props.json").exists(), "{script}");
    }
    let said = project.seedgate(&["props", "run", "--python", "no-such-python"]);
    assert_eq!((said.code, said.err.contains("no no-such-python on PATH")), (Some(69), true), "{}", said.err);
}

#[test]
fn processes_that_start_at_once_share_one_tree() {
    let project = Project::new(&FILES);
    project.commit("nothing", &[]);
    let start = || project.command(&["props", "run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("seedgate");
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    for mut child in children {
        assert_eq!(child.wait().expect("an end").code(), Some(0));
    }
    let cache = project.sandbox.beside("cache").join("seedgate/trees");
    let kept: Vec<String> =
        fs::read_dir(cache).expect("trees").map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    let trees = kept.iter().filter(|name| name.len() == 64).count();
    assert_eq!((trees, kept.iter().any(|name| name.starts_with('.'))), (1, false), "{kept:?}");
}
