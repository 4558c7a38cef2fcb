//! Owns the tests of the harness: tables of changes that take strength away, and of those that do not.

use std::collections::BTreeSet;

use crate::strength::harness::{Sight, is_harness, losses};
use crate::tree::{Change, MemTree, RepoPath, Tree as _};

type Files<'a> = &'a [(&'a str, &'a str)];

/// Ids are counted from the number of `before`, so that the same text has different ids in two trees.
fn tree(files: Files<'_>, before: usize) -> MemTree {
    let mut tree = MemTree::default();
    for number in 0..before {
        tree.put("unused", format!("unused {number}"));
    }
    for (path, text) in files {
        tree.put(path, *text);
    }
    tree
}

/// What is said of the change from some files to others.
fn said(was: Files<'_>, is: Files<'_>) -> Vec<String> {
    let (base, patch) = (tree(was, 0), tree(is, was.len() + 1));
    let paths: BTreeSet<RepoPath> = was.iter().chain(is).map(|(path, _)| RepoPath::new(*path)).collect();
    let entry = |tree: &MemTree, path: &RepoPath| tree.entry(path).unwrap();
    let changes: Vec<Change> =
        paths.iter().map(|path| Change { path: path.clone(), old: entry(&base, path), new: entry(&patch, path) }).collect();
    let counts = |path: &RepoPath| !path.to_string().contains("fixtures/");
    let sight = Sight { base: &base, patch: &patch, counts: &counts };
    let text = |files: Files<'_>, change: &Change| {
        files.iter().rfind(|(path, _)| change.path == RepoPath::new(*path)).map(|(_, text)| (*text).to_owned())
    };
    let own: Vec<&Change> = changes.iter().filter(|change| text(was, change) != text(is, change)).collect();
    losses(&sight, &own).unwrap().into_iter().map(|loss| format!("{}:{} {}", loss.path, loss.line.unwrap_or(0), loss.says)).collect()
}

const TESTS: [(&str, &str); 4] =
    [("tests/test_a.py", "a"), ("tests/properties/test_b.py", "b"), ("tests/fixtures/test_c.py", "c"), ("src/a.py", "d")];

/// The same in a project with tests.
fn in_project(path: &str, was: &str, is: &str) -> Vec<String> {
    let with = |text: &'static str| -> Vec<(&str, &str)> { TESTS.iter().copied().chain([("same", text)]).collect() };
    let (mut base, mut patch) = (with("same"), with("same"));
    base.extend((!was.is_empty()).then_some((path, was)));
    patch.extend((!is.is_empty()).then_some((path, is)));
    said(&base, &patch)
}

#[test]
fn keys_of_pytest_that_drop_repeat_or_silence_tests_are_losses() {
    for (was, is, word) in [
        ("", "addopts = -k fast", "-k \"fast\""),
        ("testpaths = tests", "testpaths = tests/properties", "does not collect tests/test_a.py"),
        ("", "norecursedirs = properties", "does not collect tests/properties/test_b.py"),
        ("", "addopts = --ignore=tests/properties", "does not collect tests/properties/test_b.py"),
        ("", "python_files = check_*.py", "does not collect"),
        ("", "python_functions = test_c* test_o*", "drops tests named test"),
        ("python_classes = Test Check", "python_classes = Test", "drops tests named Check"),
        ("xfail_strict = true", "", "xfail_strict: true -> nothing"),
        ("xfail_strict = true", "xfail_strict = false", "xfail_strict: true -> \"false\""),
        ("filterwarnings =\n    error\n    ignore::UserWarning", "filterwarnings =\n    ignore::UserWarning", "\"error\" is gone"),
        ("filterwarnings =\n    error", "filterwarnings =\n    error\n    ignore", "for every warning"),
        ("addopts = --strict-markers", "", "--strict-markers is gone"),
        ("", "reruns = 2", "reruns"),
        ("", "addopts = -o python_functions=check_*", "drops tests named test"),
        ("", "addopts = --override-ini=python_files=check_*.py", "does not collect"),
        ("xfail_strict = true", "xfail_strict = true\naddopts = -o xfail_strict=false", "xfail_strict"),
        ("", "addopts = --ignore-glob=*test_b*", "does not collect tests/properties/test_b.py"),
        ("addopts = --cov-fail-under=95", "addopts = --cov-fail-under=10", "95 -> 10"),
        ("asyncio_mode = auto", "", "asyncio_mode: auto -> nothing"),
    ] {
        let text = |keys: &str| format!("[pytest]\n{keys}\n");
        let found = in_project("pytest.ini", &text(was), &text(is));
        assert!(found.len() == 1 && found[0].contains(word), "{was:?} -> {is:?}: {found:?}");
    }
}

#[test]
fn stricter_wider_and_unrelated_keys_of_pytest_hold() {
    for (was, is) in [
        ("testpaths = tests", "testpaths = tests\naddopts = --strict-markers\nxfail_strict = true\nmarkers =\n    flaky: rerun"),
        ("", "testpaths = tests"),
        ("testpaths = tests", ""),
        ("testpaths = tests docs", "testpaths = tests"),
        ("addopts = -k fast", ""),
        ("", "norecursedirs = fixtures .git"),
        ("", "python_files = test_*.py check_*.py"),
        ("", "python_functions = test_* check_*"),
        ("", "minversion = 8\ntimeout = 10\nlog_cli = true\naddopts = -ra -q -n auto"),
        ("addopts = --strict-markers --strict-config", "strict = true\naddopts = --strict"),
        ("filterwarnings =\n    error::UserWarning", "filterwarnings =\n    error\n    ignore:x:DeprecationWarning"),
        ("xfail_strict = true", "strict_xfail = true"),
        ("", "addopts = -o python_functions='test_* check_*' -o log_cli=true"),
        ("", "addopts = --ignore-glob=*.txt"),
        ("asyncio_mode = auto", "anyio_mode = auto"),
        ("", "asyncio_mode = auto"),
    ] {
        let text = |keys: &str| format!("[pytest]\n{keys}\n");
        assert_eq!(in_project("pytest.ini", &text(was), &text(is)), Vec::<String>::new(), "{was:?} -> {is:?}");
    }
}

#[test]
fn a_file_that_outranks_another_counts_by_its_effect() {
    let toml = "[tool.pytest.ini_options]\naddopts = [\"--strict-markers\"]\nxfail_strict = true\n";
    let with = |extra: Files<'static>| -> Vec<(&str, &str)> {
        TESTS.iter().copied().chain([("pyproject.toml", toml)]).chain(extra.iter().copied()).collect()
    };
    for (extra, number) in [
        (&[("pytest.ini", "")][..], 2),
        (&[(".pytest.ini", "[pytest]\naddopts = --strict-markers\nxfail_strict = true\n")], 0),
        (&[("tox.ini", "[pytest]\naddopts = -k a\n")], 0),
        (&[("setup.cfg", "[tool:pytest]\naddopts = -k a\n")], 0),
        (&[("sub/pytest.ini", "[pytest]\n")], 0),
    ] {
        let found = said(&with(&[]), &with(extra));
        assert_eq!(found.len(), number, "{extra:?}: {found:?}");
    }
    let found = said(&[("pyproject.toml", toml)], &[("pyproject.toml", "[tool.pytest.ini_options\n")]);
    assert!(found.len() == 1 && found[0].contains("cannot be read"), "{found:?}");
    assert_eq!(said(&[("pyproject.toml", "[project]\n")], &[("pyproject.toml", "[project\n")]), Vec::<String>::new());
}

const WORKFLOW: &str = "\
on: [pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: pip install -e . pytest
      - run: pytest -q
";

#[test]
fn a_workflow_that_runs_less_or_does_not_mind_a_failure_is_a_loss() {
    let path = ".github/workflows/ci.yml";
    for (from, to, word) in [
        ("pytest -q\n", "pytest -q || true\n", "passed over"),
        ("pytest -q\n", "pytest -q || echo failed\n", "passed over"),
        ("pytest -q\n", "|\n          set +e\n          pytest -q\n          echo done\n", "not looked at"),
        ("pytest -q\n", "pytest -q | tee log\n", "in a pipe"),
        ("pytest -q\n", "python -O -m pytest -q\n", "-O"),
        ("pytest -q\n", "PYTHONOPTIMIZE=1 pytest -q\n", "-O"),
        ("pytest -q\n", "pytest -q\n        env:\n          PYTHONOPTIMIZE: 1\n", "-O"),
        ("pytest -q\n", "pytest -q\n        env:\n          PYTEST_ADDOPTS: -k fast\n", "-k"),
        ("pytest -q\n", "pytest -q\n        continue-on-error: true\n", "continue-on-error"),
        ("    runs-on", "    continue-on-error: ${{ true }}\n    runs-on", "continue-on-error"),
        ("pytest -q\n", "pytest -q\n        if: ${{ false }}\n", "if: "),
        ("pytest -q\n", "pytest -q tests/test_a.py\n", "does not run tests/properties/test_b.py"),
        ("pytest -q\n", "pytest -q -m fast\n", "-m"),
        ("pytest -q\n", "pytest -q --deselect tests/test_a.py::test_x\n", "--deselect"),
        ("pytest -q\n", "echo pytest -q\n", "not run any more"),
        ("      - run: pytest -q\n", "      - {run: pytest -q}\n", "not run any more"),
        ("      - run: pytest -q\n", "", "not run any more"),
        ("on: [pull_request]", "on: workflow_dispatch", "no change of code starts it"),
        ("on: [pull_request]", "on:\n  pull_request:\n    branches: [never]", "branches never"),
        ("on: [pull_request]", "on:\n  pull_request:\n    branches:\n      - never\n  push:\n    tags: ['v*']", "no usual change"),
        ("on: [pull_request]", "on:\n  pull_request:\n    branches-ignore: ['**']", "branches-ignore **"),
        ("on: [pull_request]", "on:\n  pull_request:\n    types: [closed]", "types closed"),
        ("on: [pull_request]", "on:\n  pull_request:\n    paths-ignore: ['**.py']", "no change of tests/"),
        ("on: [pull_request]", "on:\n  pull_request:\n    paths: ['docs/**']", "no change of tests/"),
        ("on: [pull_request]", "on:\n  pull_request:\n    paths: ['**', '!tests/**']", "no change of tests/"),
        ("on: [pull_request]", "on:\n  pull_request:\n    paths: ['tests/**']", "no change of src/a.py"),
        ("    runs-on", "    if: github.event_name == 'schedule'\n    runs-on", "if: github.event_name"),
        ("    runs-on", "    if: startsWith(github.ref, 'refs/tags/')\n    runs-on", "refs/tags"),
        ("pytest -q\n", "pytest -q\n        if: failure()\n", "failure()"),
        ("pytest -q\n", "pytest -q\n        if: ${{ 1 == 2 && always() }}\n", "1 == 2"),
        ("  test:\n", "  never:\n    if: false\n    steps:\n      - run: ls\n  test:\n    needs: [never]\n", "needs: never"),
        (
            "  test:\n",
            "  a:\n    if: false\n    steps:\n      - run: ls\n  b:\n    needs: a\n    steps:\n      - run: ls\n  test:\n    needs:\n      - b\n",
            "needs: b",
        ),
        ("pytest -q\n", "if false; then pytest -q; fi\n", "always false"),
        ("pytest -q\n", "|\n          if [ 1 = 2 ]; then\n            pytest -q\n          fi\n", "always false"),
        ("pytest -q\n", "|\n          exit 0\n          pytest -q\n", "ends before it"),
        ("pytest -q\n", "true || pytest -q\n", "never runs behind"),
        ("pytest -q\n", "|\n          pytest() { true; }\n          pytest -q\n", "a function"),
        ("pytest -q\n", "|\n          alias pytest=true\n          pytest -q\n", "an alias"),
        ("pytest -q\n", "|\n          pytest -q\n          echo done\n        shell: bash {0}\n", "not looked at"),
        (
            "    steps:",
            "    defaults:\n      run:\n        shell: bash +e {0}\n    steps:\n      - run: |\n          pytest -q\n          ls\n    x:",
            "not looked at",
        ),
        ("pytest -q\n", "pytest -q -o python_functions=check_*\n", "drops tests named test"),
        ("pytest -q\n", "pytest -q -o python_files=test_a.py\n", "-o: does not run tests/properties/test_b.py"),
        ("pytest -q\n", "pytest -q --ignore-glob '*test_b*'\n", "does not run tests/properties/test_b.py"),
        ("pytest -q\n", "pytest -q --hypothesis-seed=0\n", "--hypothesis-seed 0"),
        ("pytest -q\n", "pytest -q -o xfail_strict=false\n", "less strict"),
    ] {
        assert!(WORKFLOW.contains(from), "{from}");
        let found = in_project(path, WORKFLOW, &WORKFLOW.replace(from, to));
        assert!(found.len() == 1 && found[0].contains(word), "{to:?}: {found:?}");
    }
    assert_eq!(in_project(path, WORKFLOW, "").len(), 1, "the whole file is removed");
}

#[test]
fn a_workflow_that_grows_or_runs_the_same_otherwise_holds() {
    let path = ".github/workflows/ci.yml";
    for (from, to) in [
        ("checkout@v4", "checkout@v5"),
        ("    runs-on", "    strategy:\n      matrix:\n        python: [\"3.11\", \"3.12\"]\n    runs-on"),
        ("      - run: pytest -q\n", "      - name: pytest\n        run: |\n          # all of them\n          pytest -q\n"),
        ("pytest -q\n", "pytest -q tests\n"),
        ("pytest -q\n", "python -m pytest -ra --cov src --cov-report xml -n auto\n"),
        ("pytest -q\n", "uv run --with x pytest -q\n"),
        ("pytest -q\n", "coverage run -m pytest -q && coverage report\n"),
        ("pytest -q\n", "pytest -q || exit 1\n"),
        ("pytest -q\n", "pytest -q 2>&1\n"),
        ("pytest -q\n", "pytest -q | tee log\n        shell: bash\n"),
        ("pytest -q\n", "tox -e py\n"),
        ("pytest -q\n", "make test\n"),
        ("pytest -q\n", "pytest -q\n        continue-on-error: ${{ matrix.experimental }}\n        if: runner.os == 'Linux'\n"),
        ("pip install -e . pytest", "pip install -e . || true"),
        ("on: [pull_request]", "on:\n  push:\n    branches: [main]\n  pull_request:\n"),
        ("  test:\n", "  checks:\n"),
        ("on: [pull_request]", "on:\n  pull_request:\n    branches: [main, 'release/**']"),
        ("on: [pull_request]", "on:\n  push:\n    branches: [production]\n  pull_request:\n    types: [opened, synchronize]"),
        ("on: [pull_request]", "on:\n  pull_request:\n    paths-ignore: ['**.md', 'docs/**', LICENSE]"),
        ("on: [pull_request]", "on:\n  pull_request:\n    paths: ['src/**', 'tests/**', .github/workflows/ci.yml]"),
        ("on: [pull_request]", "on: [pull_request, push, schedule]"),
        ("    runs-on", "    if: github.event_name != 'schedule'\n    runs-on"),
        ("    runs-on", "    if: github.event_name == 'push' || github.event_name == 'schedule'\n    runs-on"),
        ("    runs-on", "    if: github.repository == 'shop/shop' && !failure()\n    runs-on"),
        ("  test:\n", "  build:\n    steps:\n      - run: ls\n  test:\n    needs: build\n"),
        ("  test:\n", "  never:\n    if: failure()\n    steps:\n      - run: ls\n  test:\n    needs: never\n    if: always()\n"),
        (
            "      - run: pytest -q\n",
            "      - run: pytest -q\n  nightly:\n    if: github.event_name == 'schedule'\n    steps:\n      - run: pytest -q --slow\n",
        ),
        (
            "pytest -q\n",
            "|\n          if [ -f x ]; then\n            ls\n          fi\n          for i in 1 2; do\n            ls\n          done\n          pytest -q\n          exit 0\n",
        ),
        ("pytest -q\n", "|\n          run() { ls; exit 0; }\n          pytest -q\n"),
        ("pytest -q\n", "|\n          test -d x || { mkdir x; }\n          true && pytest -q\n"),
        ("pytest -q\n", "pytest -q\n        shell: bash -euo pipefail {0}\n"),
        ("pytest -q\n", "|\n          function quit {\n            exit 0\n          }\n          pytest -q\n"),
        ("pytest -q\n", "|\n          cat > a.sh <<'X'\n          exit 0\n          X\n          pytest -q\n"),
        ("pytest -q\n", "pytest -q --splits 2 --group ${{ matrix.group }}\n"),
        ("pytest -q\n", "pytest -q -o python_files='test_*.py check_*.py' -o log_cli=true\n"),
    ] {
        assert!(WORKFLOW.contains(from), "{from}");
        let found = in_project(path, WORKFLOW, &WORKFLOW.replace(from, to));
        assert_eq!(found, Vec::<String>::new(), "{to:?}");
    }
}

#[test]
fn a_command_that_another_file_of_the_tree_runs_is_not_lost() {
    let old = "script:\n  - pytest -q\n";
    let path = ".github/workflows/ci.yml";
    assert_eq!(said(&[(".travis.yml", old)], &[(path, WORKFLOW)]), Vec::<String>::new());
    assert_eq!(said(&[(".travis.yml", old), (path, WORKFLOW)], &[(path, WORKFLOW)]), Vec::<String>::new());
    let idle = WORKFLOW.replace("[pull_request]", "workflow_dispatch");
    assert_eq!(said(&[(".travis.yml", old), (path, &idle)], &[(path, &idle)]).len(), 1);
}

#[test]
fn seedgates_own_step_stays_in_the_workflow() {
    let path = ".github/workflows/ci.yml";
    let with = |step: &str| format!("{WORKFLOW}{step}");
    let check = "      - run: seedgate check --base origin/main --head HEAD\n";
    for (was, is, word) in [
        (check, "", "not run any more"),
        (check, "      - run: seedgate check --base origin/main --head HEAD || true\n", "passed over"),
        (check, "      - run: make check\n", "not run any more"),
        (check, "      - run: seedgate check\n        continue-on-error: true\n", "continue-on-error"),
        ("      - uses: seedgate/action@v1\n", "", "not run any more"),
    ] {
        let found = in_project(path, &with(was), &with(is));
        assert!(found.len() == 1 && found[0].contains(word), "{is:?}: {found:?}");
    }
    for (was, is) in [
        (check, "      - uses: seedgate/action@v2\n"),
        (check, "      - name: gate\n        run: seedgate check --base $BASE --head HEAD\n"),
        ("", check),
        ("      - run: seedgate --version\n", ""),
    ] {
        assert_eq!(in_project(path, &with(was), &with(is)), Vec::<String>::new(), "{is:?}");
    }
}

#[test]
fn a_target_of_tests_that_does_nothing_any_more_is_a_loss_whatever_the_workflows_run() {
    let ci = (".github/workflows/ci.yml", WORKFLOW);
    for (path, was, is, number) in [
        ("Makefile", "test:\n\tpytest -q\n", ".PHONY: test\ntest:\n\t@echo ok\n", 1),
        ("Makefile", "test:\n\tpytest -q\n", "test:\n\nlint:\n\truff check\n", 1),
        ("Makefile", "test:\n\tpytest -q\n", "test: unit\n\nunit:\n\tpython run.py\n", 0),
        ("Makefile", "test:\n\tpytest -q\n", "lint:\n\truff check\n", 0),
        ("package.json", "{\"scripts\": {\"test\": \"pytest -q\"}}", "{\"scripts\": {\"test\": \"exit 0\"}}", 1),
    ] {
        let found = said(&[TESTS.as_slice(), &[ci, (path, was)]].concat(), &[TESTS.as_slice(), &[ci, (path, is)]].concat());
        assert_eq!(found.len(), number, "{is:?}: {found:?}");
    }
}

#[test]
fn a_target_or_a_script_that_runs_less_does_not_stand_for_what_it_replaces() {
    let path = ".github/workflows/ci.yml";
    for (command, behind, text, number) in [
        ("make quick", "Makefile", "quick:\n\tpytest -k text\n\ntest:\n\tpytest -q\n", 1),
        ("make test", "Makefile", "quick:\n\tpytest -k text\n\ntest:\n\tpytest -q\n", 0),
        ("make test", "Makefile", "test: unit\nunit:\n\tpytest -q\n", 0),
        ("./ci/test.sh", "ci/test.sh", "#!/bin/sh\npytest tests/test_a.py\n", 1),
        ("bash ci/test.sh", "ci/test.sh", "#!/bin/sh\nset -e\npytest -ra\necho done\n", 0),
    ] {
        let after = WORKFLOW.replace("pytest -q\n", &format!("{command}\n"));
        let base = [TESTS.as_slice(), &[(path, WORKFLOW), (behind, text)]].concat();
        let patch = [TESTS.as_slice(), &[(path, after.as_str()), (behind, text)]].concat();
        let found = said(&base, &patch);
        assert_eq!(found.len(), number, "{command} {text}: {found:?}");
    }
}

#[test]
fn coverage_that_is_asked_for_does_not_sink() {
    let toml = "[tool.coverage.report]\nfail_under = 95\n";
    for (path, was, is, number) in [
        (".coveragerc", "[report]\nfail_under = 95\n", "[report]\nfail_under = 10\n", 1),
        (".coveragerc", "[report]\nfail_under = 95\n", "[report]\nshow_missing = true\n", 1),
        (".coveragerc", "[report]\nfail_under = 95\n", "[report]\nfail_under = 97.5\n", 0),
        ("pyproject.toml", toml, "[tool.coverage.report]\nfail_under = 5\n", 1),
        ("pyproject.toml", "[project]\n", toml, 0),
        ("setup.cfg", "[coverage:report]\nfail_under = 95\n", "[coverage:report]\nfail_under = 90\n", 1),
    ] {
        let found = in_project(path, was, is);
        assert_eq!(found.len(), number, "{path} {is:?}: {found:?}");
    }
    assert_eq!(said(&[(".coveragerc", "[report]\nfail_under = 95\n")], &[("pyproject.toml", toml)]), Vec::<String>::new());
    let by_option = "[pytest]\naddopts = --cov-fail-under=95\n";
    assert_eq!(said(&[(".coveragerc", "[report]\nfail_under = 95\n")], &[("pytest.ini", by_option)]), Vec::<String>::new());
}

#[test]
fn a_new_module_in_the_place_of_the_runners_own_is_a_loss() {
    for path in ["pytest.py", "hypothesis/__init__.py", "sitecustomize.py", "src/unittest.py", "tests/pytest.py"] {
        let found = in_project(path, "", "def main(): return 0\n");
        assert!(found.len() == 1 && found[0].contains("in the place of"), "{path}: {found:?}");
        assert_eq!(in_project(path, "a = 1\n", "a = 2\n"), Vec::<String>::new(), "{path}");
        assert_eq!(in_project(path, "a = 1\n", ""), Vec::<String>::new(), "{path}");
    }
    for path in ["tests/unittest/__init__.py", "shop/pytest.py", "docs/hypothesis.py", "pytest_shop.py", "pytest.md"] {
        assert_eq!(in_project(path, "", "a = 1\n"), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn commands_in_quotes_are_read() {
    let nox =
        "import nox\n\n@nox.session\ndef tests(session):\n    session.install('.')\n    session.run('pytest', '-q', *session.posargs)\n";
    let from = "'-q', *session.posargs";
    let jenkins = "pipeline { stages { stage('t') { steps { sh 'pytest' } } } }\n";
    let poe = "[tool.poe.tasks]\ntest = \"pytest\"\nlint = { cmd = \"ruff check\" }\n";
    let hatch = "[tool.hatch.envs.test.scripts]\ntest = [\"pytest\"]\n";
    for (path, was, is, number) in [
        ("noxfile.py", nox, nox.replace(from, "'-q', '-k', 'text'"), 1),
        ("noxfile.py", nox, nox.replace(from, "'-q', success_codes=[0, 1]"), 1),
        ("noxfile.py", nox, nox.replace("session.run('pytest'", "# session.run('pytest'"), 1),
        ("noxfile.py", nox, nox.replace(from, "'-q', \"-ra\", *session.posargs, env={'A': 'b'}, success_codes=[0]"), 0),
        ("noxfile.py", nox, nox.replace("session.run('pytest'", "session.run('python', '-m', 'pytest'"), 0),
        ("noxfile.py", nox, format!("{nox}\n@nox.session\ndef lint(session):\n    session.run('ruff')\n"), 0),
        ("Jenkinsfile", jenkins, jenkins.replace("'pytest'", "'pytest || true'"), 1),
        ("Jenkinsfile", jenkins, jenkins.replace("sh 'pytest'", "sh(script: 'pytest', returnStatus: true)"), 1),
        ("Jenkinsfile", jenkins, jenkins.replace("'pytest'", "\"\"\"pip install .\npytest -ra\"\"\""), 0),
        ("pyproject.toml", poe, poe.replace("pytest", "pytest -k text"), 1),
        ("pyproject.toml", poe, poe.replace("\"pytest\"", "{ cmd = \"pytest\", ignore_fail = true }"), 1),
        ("pyproject.toml", poe, poe.replace("\"pytest\"", "{ shell = \"pytest -q\", help = \"tests\" }"), 0),
        ("pyproject.toml", hatch, hatch.replace("pytest", "pytest tests/test_a.py"), 1),
        ("pyproject.toml", hatch, hatch.replace("\"pytest\"", "\"pytest -q\", \"coverage report\""), 0),
    ] {
        let found = in_project(path, was, &is);
        assert_eq!(found.len(), number, "{path} {is}: {found:?}");
    }
}

#[test]
fn make_tox_scripts_and_package_files_are_read_too() {
    for (path, was, is, number) in [
        ("Makefile", "test:\n\tpytest -q\n", "test:\n\t-pytest -q\n", 1),
        ("Makefile", "test:\n\tpytest -q\n", "test:\n\t@pytest -q; true\n", 1),
        ("Makefile", "test:\n\tpytest -q\n", ".IGNORE:\ntest:\n\tpytest -q\n", 1),
        ("Makefile", "test:\n\tpytest -q\n", "test: build\n\t@echo go\n\t@pytest -q \\\n\t  -ra\n", 0),
        ("tox.ini", "[testenv]\ncommands = pytest {posargs}\n", "[testenv]\ncommands =\n    -pytest {posargs}\n", 1),
        ("tox.ini", "[testenv]\ncommands = pytest {posargs}\n", "[testenv]\nignore_outcome = true\ncommands = pytest\n", 1),
        ("tox.ini", "[testenv]\ncommands = pytest {posargs}\n", "[testenv]\ncommands = {envpython} -m pytest {posargs:tests}\n", 0),
        ("ci/run.sh", "set -e\npytest\necho done\n", "pytest\necho done\n", 1),
        ("ci/run.sh", "set -e\npytest\n", "set -euo pipefail\npytest | tee log\n", 0),
        ("package.json", "{\"scripts\": {\"test\": \"vitest run\"}}", "{\"scripts\": {\"test\": \"vitest run -t slug\"}}", 1),
        (
            "package.json",
            "{\"scripts\": {\"test\": \"vitest run\"}}",
            "{\"scripts\": {\"test\": \"vitest run --coverage\", \"lint\": \"x\"}}",
            0,
        ),
        (
            ".github/workflows/a.yml",
            "on: push\njobs:\n  a:\n    steps:\n    - run: cargo test --locked\n",
            "on: push\njobs:\n  a:\n    steps:\n    - run: cargo test --no-run\n",
            1,
        ),
        (".gitlab-ci.yml", "test:\n  script:\n    - pytest\n", "test:\n  allow_failure: true\n  script:\n    - pytest\n", 1),
        (".gitlab-ci.yml", "test:\n  script:\n    - pytest\n", ".test:\n  script:\n    - pytest\n", 1),
        (".gitlab-ci.yml", "test:\n  script:\n    - pytest\n", ".test:\n  script:\n    - pytest\nall:\n  extends: .test\n", 0),
        (".gitlab-ci.yml", "test:\n  script:\n    - pytest\n", "test:\n  script:\n    - pytest\n  rules:\n    - when: never\n", 1),
        (".gitlab-ci.yml", "test:\n  script:\n    - pytest\n", "test:\n  script:\n    - pytest\n  only: [schedules]\n", 1),
        (
            ".gitlab-ci.yml",
            "test:\n  script:\n    - pytest\n",
            "test:\n  script:\n    - pytest\n  rules:\n    - if: $CI_COMMIT_TAG\n      when: never\n    - when: on_success\n",
            0,
        ),
        (
            ".gitlab-ci.yml",
            "test:\n  script:\n    - pytest\n",
            "test:\n  script:\n    - pytest\n  rules:\n    - if: $CI_MERGE_REQUEST_ID\n    - when: never\n",
            0,
        ),
        (".gitlab-ci.yml", "test:\n  script:\n    - pytest\n", "test:\n  stage: test\n  script:\n    - pip install .\n    - pytest\n", 0),
    ] {
        let found = in_project(path, was, is);
        assert_eq!(found.len(), number, "{path} {is:?}: {found:?}");
    }
}

#[test]
fn hooks_of_pytest_that_can_drop_tests_or_rewrite_outcomes_are_losses() {
    for (was, is) in [
        ("", "def pytest_collection_modifyitems(config, items):\n    items[:] = [i for i in items if 'clamp' not in i.name]\n"),
        ("", "def pytest_collection_modifyitems(items):\n    for i in items:\n        i.add_marker(pytest.mark.skip(reason='x'))\n"),
        ("", "def pytest_collection_modifyitems(items):\n    drop(items)\n"),
        ("", "def pytest_collection_modifyitems(items):\n    alias = items\n    alias.clear()\n"),
        (
            "",
            "@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    out = yield\n    out.get_result().outcome = 'passed'\n",
        ),
        ("", "def pytest_runtest_makereport(item, call):\n    setattr(call, 'excinfo', None)\n"),
        ("", "def pytest_ignore_collect(collection_path, config):\n    return collection_path.name.endswith('_props.py') or None\n"),
        ("", "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"),
        (
            "",
            "@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_call(item):\n    try:\n        yield\n    except AssertionError:\n        pass\n",
        ),
        ("", "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n"),
        ("", "def pytest_configure(config):\n    config.option.keyword = 'fast'\n"),
        ("", "class Plugin:\n    def pytest_runtest_setup(self, item):\n        pytest.skip('later')\n"),
        (
            "SKIP = ['a']\ndef pytest_ignore_collect(path):\n    return path in SKIP\n",
            "SKIP = ['a', 'b']\ndef pytest_ignore_collect(path):\n    return path in SKIP\n",
        ),
        ("", "collect_ignore = ['test_a.py']\n"),
        ("", "collect_ignore_glob = ['*_a.py']\n"),
        ("", "import pytest\npytest.skip('all', allow_module_level=True)\n"),
        ("", "import atexit, os\natexit.register(os._exit, 0)\n"),
        ("", "import atexit, os\natexit.register(lambda: os._exit(0))\n"),
        ("", "import contextlib\nimport pytest\npytest.raises = lambda *a, **k: contextlib.suppress(Exception)\n"),
        ("", "import builtins\nbuiltins.AssertionError = type('E', (BaseException,), {})\n"),
        ("", "import src.a\ndef calm(v):\n    return v\nsrc.a.clamp = calm\n"),
        ("", "from src import a\nsetattr(a, 'clamp', lambda v: v)\n"),
        ("", "def pytest_load_initial_conftests(args):\n    args[:] = ['-k', 'text']\n"),
        ("", "@pytest.fixture(autouse=True)\ndef calm(monkeypatch):\n    monkeypatch.setattr('shop.total.clamp', abs)\n"),
        ("@pytest.fixture\ndef cart():\n    return Cart()\n", "@pytest.fixture\ndef cart():\n    return mock.Mock()\n"),
        ("@pytest.fixture\ndef cart():\n    return Cart()\n", "@pytest.fixture\ndef cart():\n    pytest.skip('x')\n"),
        ("a = 1\n", "a = (\n"),
    ] {
        let found = in_project("tests/conftest.py", was, is);
        assert_eq!(found.len(), 1, "{is}: {found:?}");
    }
    assert_eq!(in_project("tests/__init__.py", "", "import pytest\npytest.skip('x', allow_module_level=True)\n").len(), 1);
    assert_eq!(in_project("tests/plugin.py", "", "def pytest_ignore_collect(path):\n    return True\n").len(), 1);
}

#[test]
fn plain_fixtures_and_hooks_that_only_look_hold() {
    for (was, is) in [
        ("", "@pytest.fixture\ndef empty():\n    return []\n"),
        ("@pytest.fixture\ndef gone():\n    return 1\n", "import pytest\n"),
        ("", "@pytest.fixture\ndef docker():\n    pytest.skip('no docker')\n"),
        ("", "@pytest.fixture(autouse=True)\ndef env(monkeypatch, tmp_path):\n    monkeypatch.setenv('HOME', str(tmp_path))\n"),
        (
            "",
            "def pytest_collection_modifyitems(items):\n    items.sort(key=lambda i: i.name)\n    for i in items:\n        i.add_marker(pytest.mark.asyncio)\n",
        ),
        (
            "",
            "@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_makereport(item, call):\n    rep = yield\n    setattr(item, 'rep_' + rep.when, rep)\n    return rep\n",
        ),
        ("", "def pytest_configure(config):\n    config.addinivalue_line('markers', 'slow: slow')\n"),
        ("", "def pytest_report_header(config):\n    return 'x'\n"),
        ("", "def pytest_ignore_collect(path):\n    return None\n"),
        (
            "def pytest_ignore_collect(path):\n    return path == 'a'\n",
            "def pytest_ignore_collect( path ):  # as before\n    return path == \"a\"\n",
        ),
        ("", "collect_ignore = ['setup.py']\n"),
        ("", "import sys\nimport src.a\nsys.dont_write_bytecode = True\nsrc.a.CURRENCY = 'EUR'\n"),
        ("", "import time\ntime.sleep = lambda s: None\n"),
        ("", "import atexit, shutil\natexit.register(shutil.rmtree, 'x')\n"),
        ("", "def pytest_load_initial_conftests(args):\n    args[:] = ['-n', '2'] + args\n"),
        ("a = (\n", "a = 1\n"),
    ] {
        assert_eq!(in_project("tests/conftest.py", was, is), Vec::<String>::new(), "{is}");
    }
}

#[test]
fn seedgates_own_entries_and_gits_hooks_stay_where_they_are() {
    let lefthook = "pre-commit:\n  commands:\n    seedgate:\n      run: seedgate hook pre-commit\npre-push:\n  commands:\n    seedgate:\n      run: seedgate hook pre-push\n";
    let pre_commit = "repos:\n- repo: https://example.invalid/seedgate\n  rev: v1\n  hooks:\n  - id: seedgate\n";
    for (path, was, is, number) in [
        ("lefthook.yml", lefthook, lefthook.split("pre-push").next().unwrap(), 1),
        ("lefthook.yml", lefthook, "", 2),
        (
            "lefthook.yml",
            lefthook,
            &lefthook.replace("      run: seedgate hook pre-push", "      skip: true\n      run: seedgate hook pre-push"),
            1,
        ),
        ("lefthook.yml", lefthook, &lefthook.replace("hook pre-push", "hook pre-push || true"), 1),
        ("lefthook.yml", lefthook, &format!("{lefthook}    lint:\n      run: ruff check\n"), 0),
        (".pre-commit-config.yaml", pre_commit, &pre_commit.replace("  - id: seedgate", "  - id: ruff"), 1),
        (".pre-commit-config.yaml", pre_commit, &pre_commit.replace("rev: v1", "rev: v2"), 0),
        (".pre-commit-config.yaml", pre_commit, &format!("{pre_commit}    files: ^docs/\n"), 1),
        (".pre-commit-config.yaml", pre_commit, &format!("{pre_commit}    exclude: .*\n"), 1),
        (".pre-commit-config.yaml", pre_commit, &format!("exclude: .*\n{pre_commit}"), 1),
        (".pre-commit-config.yaml", pre_commit, &format!("exclude: ^vendor/\n{pre_commit}"), 0),
        (".pre-commit-config.yaml", pre_commit, &format!("{pre_commit}    files: ^docs/\n    always_run: true\n"), 0),
        (".pre-commit-config.yaml", pre_commit, &format!("{pre_commit}  - id: ruff\n    files: ^docs/\n"), 0),
        ("lefthook-local.yml", "", "pre-commit:\n  commands:\n    seedgate:\n      skip: true\n", 1),
        ("lefthook-local.yml", "", "pre-commit:\n  commands:\n    seedgate:\n      run: echo ok\n", 1),
        ("lefthook-local.yml", "", "pre-commit:\n  skip: true\n", 1),
        ("lefthook-local.yml", "", "pre-commit:\n  commands:\n    ruff:\n      skip: true\n", 0),
        (".husky/pre-commit", "seedgate hook pre-commit\n", "npm test\n", 1),
        (".husky/pre-commit", "npm test\n", "npm run lint\n", 0),
        ("setup.sh", "", "git config core.hooksPath .none\n", 1),
        ("Makefile", "", "init:\n\tgit config core.hooksPath .none\n", 1),
        (".gitconfig", "", "[core]\n\thooksPath = /dev/null\n", 1),
        ("AGENTS.md", "", "Commit with `git commit --no-verify` when tests are slow.\n", 1),
        ("AGENTS.md", "", "Never commit with --no-verify.\n", 0),
        ("AGENTS.md", "", "Run the tests. Write small commits.\n", 0),
        ("CLAUDE.md", "", "Do not wait for hooks. Use LEFTHOOK=0 git commit.\n", 1),
        ("scripts/save.sh", "", "git commit -n -m wip\n", 1),
        ("scripts/save.sh", "", "git commit --no-edit\n", 0),
    ] {
        let found = in_project(path, was, is);
        assert_eq!(found.len(), number, "{path}: {is}: {found:?}");
    }
}

#[test]
fn runners_of_other_languages_are_read() {
    let vitest = "export default defineConfig({\n  test: {\n    include: ['tests/**/*.test.ts'],\n  },\n});\n";
    for (path, was, is, number) in [
        ("Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\nautotests = false\n", 1),
        ("Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\n[[test]]\nname = \"t\"\ntest = false\n", 1),
        ("Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"b\"\n[dependencies]\nserde = \"1\"\n", 0),
        (
            ".config/nextest.toml",
            "[profile.default]\nretries = 0\n",
            "[profile.default]\nretries = { backoff = \"fixed\", count = 2 }\n",
            1,
        ),
        (
            ".config/nextest.toml",
            "[profile.default]\nretries = 3\n",
            "[profile.default]\nretries = 0\n[profile.ci.junit]\npath = \"j\"\n",
            0,
        ),
        ("vitest.config.ts", vitest, &vitest.replace("test: {", "test: {\n    retry: 3,"), 1),
        ("vitest.config.ts", vitest, &vitest.replace("test: {", "test: {\n    exclude: ['tests/slug.test.ts'],"), 1),
        ("vitest.config.ts", vitest, &vitest.replace("tests/**", "tests/unit/**"), 1),
        ("vitest.config.ts", vitest, &vitest.replace("test: {", "test: {\n    passWithNoTests: true,"), 1),
        ("vitest.config.ts", vitest, &vitest.replace("test: {", "test: {\n    coverage: { exclude: ['a.ts'] }, // exclude: ['x']\n"), 0),
        ("vitest.config.ts", vitest, &vitest.replace("test: {", "test: {\n    exclude: ['node_modules/**'], globals: true,"), 0),
    ] {
        let found = in_project(path, was, is);
        assert_eq!(found.len(), number, "{path}: {is}: {found:?}");
    }
}

#[test]
fn only_harness_files_are_read_and_hostile_ones_do_no_harm() {
    for path in ["src/a.rs", "README.md", "data.json", "docs/index.rst", "src/main.c", ".github/CODEOWNERS"] {
        assert!(!is_harness(&RepoPath::new(path)), "{path}");
    }
    let deep = "- ".repeat(5000) + "run: pytest\n" + &"(".repeat(50_000) + &"{[".repeat(20_000) + "${{ \u{1f600} '";
    for path in [
        ".github/workflows/a.yml",
        "Makefile",
        "tox.ini",
        "package.json",
        "a.sh",
        "lefthook.yml",
        "vitest.config.ts",
        "pytest.ini",
        "AGENTS.md",
        "noxfile.py",
        "Jenkinsfile",
        "pyproject.toml",
        ".gitlab-ci.yml",
        "lefthook-local.yml",
        ".coveragerc",
    ] {
        let _ = in_project(path, "x", &deep);
        let _ = in_project(path, &deep, "\u{feff}\0\r\n\\");
    }
}

#[test]
fn what_cargo_and_its_runners_leave_out_is_told() {
    let (cargo, settings, nextest, mutants) = ("Cargo.toml", ".cargo/config.toml", ".config/nextest.toml", ".cargo/mutants.toml");
    let package = "[package]\nname = \"a\"\n";
    let manifest = |rest: &str| format!("{package}{rest}");
    for (path, was, is, number) in [
        (cargo, package.to_owned(), manifest("[profile.test]\noverflow-checks = false\n"), 1),
        (cargo, package.to_owned(), manifest("[profile.test]\ndebug-assertions = false\n"), 1),
        (cargo, package.to_owned(), manifest("[profile.test]\nopt-level = 2\n"), 0),
        (cargo, package.to_owned(), manifest("[lib]\ndoctest = false\n"), 1),
        (cargo, package.to_owned(), manifest("[[test]]\nname = \"t\"\nharness = false\n"), 1),
        (settings, String::new(), "[env]\nPROPTEST_CASES = \"8\"\n".to_owned(), 1),
        (settings, String::new(), "[env]\nPROPTEST_CASES = { value = \"8\", force = true }\n".to_owned(), 1),
        (settings, String::new(), "[env]\nPROPTEST_CASES = \"5000\"\n".to_owned(), 0),
        (settings, String::new(), "[env]\nPROPTEST_MAX_DEFAULT_SIZE_RANGE = \"1\"\n".to_owned(), 1),
        (settings, String::new(), "[env]\nPROPTEST_RNG_SEED = \"1\"\n".to_owned(), 1),
        (settings, String::new(), "[env]\nPROPTEST_DISABLE_FAILURE_PERSISTENCE = \"1\"\n".to_owned(), 1),
        (settings, String::new(), "[env]\nQUICKCHECK_TESTS = \"3\"\n".to_owned(), 1),
        (settings, String::new(), "[target.x86_64-unknown-linux-gnu]\nrunner = \"/bin/true\"\n".to_owned(), 1),
        (settings, String::new(), "[target.'cfg(all())']\nrunner = [\"echo\", \"ok\"]\n".to_owned(), 1),
        (settings, String::new(), "[target.wasm32-unknown-unknown]\nrunner = \"wasm-bindgen-test-runner\"\n".to_owned(), 0),
        (nextest, "[profile.default]\n".to_owned(), "[profile.default]\ndefault-filter = \"not test(slow)\"\n".to_owned(), 1),
        (nextest, "[profile.default]\n".to_owned(), "[[profile.default.overrides]]\nfilter = \"test(a)\"\nretries = 4\n".to_owned(), 1),
        (mutants, String::new(), "exclude_globs = [\"src/money.rs\"]\n".to_owned(), 1),
        (mutants, "exclude_re = [\"a\", \"b\"]\n".to_owned(), "exclude_re = [\"a\"]\n".to_owned(), 0),
    ] {
        let found = in_project(path, &was, &is);
        assert_eq!(found.len(), number, "{path}: {is}: {found:?}");
    }
}
