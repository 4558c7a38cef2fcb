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
        ("", "@pytest.fixture(autouse=True)\ndef calm(monkeypatch):\n    monkeypatch.setattr('shop.total.clamp', abs)\n"),
        ("@pytest.fixture\ndef cart():\n    return Cart()\n", "@pytest.fixture\ndef cart():\n    return mock.Mock()\n"),
        ("@pytest.fixture\ndef cart():\n    return Cart()\n", "@pytest.fixture\ndef cart():\n    pytest.skip('x')\n"),
        ("a = 1\n", "a = (\n"),
    ] {
        let found = in_project("tests/conftest.py", was, is);
        assert_eq!(found.len(), 1, "{is}: {found:?}");
    }
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
    ] {
        let _ = in_project(path, "x", &deep);
        let _ = in_project(path, &deep, "\u{feff}\0\r\n\\");
    }
}
