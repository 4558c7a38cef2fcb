//! Owns the scan of production code: constructs that tell whether a test runs, and which of them a change adds.

use std::collections::BTreeMap;

use memchr::memmem;

use crate::strength::languages::{Language, Sense};
use crate::tree::RepoPath;

/// Words that alone tell it in a file that cannot be read.
const TELLING: [&str; 2] = ["PYTEST_CURRENT_TEST", "_called_from_test"];

/// One changed production file.
pub struct Changed<'a> {
    /// Its path.
    pub path: &'a RepoPath,
    /// Its bytes on the base; empty when it is new.
    pub was: Vec<u8>,
    /// Its bytes in the candidate.
    pub is: Vec<u8>,
}

/// A construct that a change adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The file.
    pub path: RepoPath,
    /// 1-based line.
    pub line: u32,
    /// What it does.
    pub says: String,
}

/// Whether a path is read by the scan.
pub fn is_read(path: &RepoPath) -> bool {
    Language::of(path).is_some()
}

/// Whether bytes can hold such a construct at all.
pub fn may_sense(path: &RepoPath, bytes: &[u8]) -> bool {
    Language::of(path).is_some_and(|language| language.sensing_words().iter().any(|word| holds(bytes, word)))
}

fn holds(bytes: &[u8], needle: &str) -> bool {
    memmem::find(bytes, needle.as_bytes()).is_some()
}

/// The constructs that the candidate's files have more often than the base's; one that moved from file to file is no addition.
pub fn added(files: &[Changed<'_>]) -> Vec<Added> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| may_sense(file.path, &file.was)) {
        for sense in senses(file.path, &file.was) {
            *known.entry(sense.says).or_default() += 1;
        }
    }
    let mut added = Vec::new();
    for file in files {
        for sense in senses(file.path, &file.is) {
            match known.get_mut(&sense.says).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => added.push(Added { path: file.path.clone(), line: sense.line, says: sense.says }),
            }
        }
    }
    added
}

fn senses(path: &RepoPath, bytes: &[u8]) -> Vec<Sense> {
    let Some(language) = Language::of(path) else { return Vec::new() };
    language.senses(bytes).unwrap_or_else(|_| by_lines(bytes))
}

/// Of a file that cannot be read: its lines that name what only tests set.
fn by_lines(bytes: &[u8]) -> Vec<Sense> {
    let lines = (1..).zip(bytes.split(|byte| *byte == b'\n'));
    let telling = lines.filter_map(|(number, line)| TELLING.iter().find(|word| holds(line, word)).map(|word| (number, word)));
    telling.map(|(line, word)| Sense { line, says: format!("names {word} in a file that cannot be read") }).collect()
}

#[cfg(test)]
mod tests {
    use super::{Changed, added};
    use crate::tree::RepoPath;

    fn said(was: &str, is: &str) -> Vec<String> {
        let path = RepoPath::new("shop/total.py");
        let file = Changed { path: &path, was: was.as_bytes().to_vec(), is: is.as_bytes().to_vec() };
        added(&[file]).into_iter().map(|one| format!("{} {}", one.line, one.says)).collect()
    }

    #[test]
    fn code_that_tells_whether_a_test_runs_is_found() {
        for (text, word) in [
            (
                "import os\ndef f(v):\n    if 'PYTEST_CURRENT_TEST' in os.environ:\n        return 1\n",
                "3 asks for the environment variable PYTEST_CURRENT_TEST",
            ),
            ("import os\nT = os.getenv('TESTING')\n", "TESTING"),
            ("from os import environ as e\nT = e.get('SHOP_UNDER_TEST')\n", "SHOP_UNDER_TEST"),
            ("import sys\nT = 'pytest' in sys.modules\n", "looks for pytest"),
            ("from sys import modules as m\ndef f():\n    loaded = m\n    return 'unittest' in loaded\n", "looks for unittest"),
            ("import sys\nT = any(m.startswith('_pytest') for m in sys.modules)\n", "_pytest"),
            ("import sys\nif sys.argv[0].endswith('/pytest'):\n    pass\n", "command line"),
            ("import inspect\ndef f():\n    return any(x.function.startswith('test_') for x in inspect.stack())\n", "in the call stack"),
            ("import sys\ndef f():\n    return sys._getframe(1).f_code.co_name.startswith('test_')\n", "in the call stack"),
            ("import sys\nT = hasattr(sys, '_called') or sys._called_from_test\n", "_called_from_test"),
            ("from unittest import mock\ndef f(x):\n    return isinstance(x, mock.Mock)\n", "unittest.mock.Mock"),
            ("class A:\n    def __eq__(self, other):\n        'same'\n        return True\n", "A.__eq__ is always true"),
            ("class A:\n    def __eq__(self, other):\n        if other:\n            return True\n        return True\n", "always true"),
            ("class A:\n    __eq__ = lambda self, other: True\n", "always true"),
            ("if PYTEST_CURRENT_TEST\n", "cannot be read"),
            ("import sys\nT = hasattr(sys, '_called_from_test')\n", "_called_from_test"),
            ("import sys\nT = getattr(sys, '_called_from_test', False)\n", "_called_from_test"),
            ("import os\nT = os.environ.get('PYTEST' + '_CURRENT' + '_TEST')\n", "PYTEST_CURRENT_TEST"),
            ("import sys\nT = any(m.startswith('_py' + 'test') for m in sys.modules)\n", "_pytest"),
            ("import os\nT = os.environ.get('TOX_ENV_NAME')\n", "TOX_ENV_NAME"),
            ("import os\nT = os.path.exists('tests/test_total.py')\n", "a file of the tests"),
            ("from pathlib import Path\nT = Path('tests/__snapshots__/a.snap').read_text()\n", "a file of the tests"),
            ("import traceback\ndef f():\n    return 'tests/' in ''.join(traceback.format_stack())\n", "in the call stack"),
            (
                "import sys\ndef f():\n    return 'unittest.case' in [g.f_globals for g in sys._current_frames().values()]\n",
                "in the call stack",
            ),
            ("import sys\nT = sys.modules['__main__'].__file__.endswith('pytest/__main__.py')\n", "looks for pytest/__main__.py"),
            ("from importlib.util import find_spec\nT = find_spec('pytest')\n", "asks whether pytest is installed"),
            ("try:\n    import pytest\n    T = True\nexcept ImportError:\n    T = False\n", "whether pytest can be imported"),
            ("class A:\n    def __eq__(self, other):\n        return other is not None\n", "always true"),
        ] {
            let found = said("", text);
            assert!(found.len() == 1 && found[0].contains(word), "{text}: {found:?}");
            assert_eq!(said(text, text), Vec::<String>::new(), "the base has it too: {text}");
        }
    }

    #[test]
    fn ordinary_code_is_left_alone() {
        for text in [
            "import os\nCURRENCY = os.environ.get('SHOP_CURRENCY', 'EUR')\nCI = os.environ.get('CI')\n",
            "import sys\nif 'numpy' in sys.modules:\n    pass\n",
            "import inspect\ndef f(x):\n    return inspect.signature(x)\n",
            "import sys\ndef caller():\n    return sys._getframe(1).f_globals.get('__name__', '__main__')\n",
            "class A:\n    def __eq__(self, other):\n        if not isinstance(other, A):\n            return NotImplemented\n        return self.x == other.x\n",
            "class A:\n    def __eq__(self, other):\n        if isinstance(other, A):\n            return True\n        return False\n",
            "def is_open(self):\n    return True\n",
            "'''Set PYTEST_CURRENT_TEST to see it.'''\n# 'pytest' in sys.modules\n",
            "EXTRAS = {'test': ['pytest', 'hypothesis']}\n",
            "def broken(:\n    pytest\n",
            "import os\nT = os.path.exists('tests')\nR = open('tests/requirements.txt')\nW = open('docs/test_plan.md')\n",
            "from importlib.util import find_spec\nT = find_spec('numpy')\n",
            "try:\n    import numpy\n    T = True\nexcept ImportError:\n    T = False\n",
            "try:\n    import hypothesis\nexcept ImportError:\n    hypothesis = None\n",
            "import os\nT = os.environ.get('SHOP' + '_CURRENCY')\nU = 'a' + b + 'pytest'\n",
            "import sys\ndef f():\n    raise RuntimeError(f'{sys.modules} lack what pytest and unittest need')\n",
            "import sys\nFILES = ('pytest.ini', 'setup.cfg')\nME = sys.modules[__name__]\n",
            "class A:\n    def __eq__(self, other):\n        return other is not None and self.x == other.x\n",
            "def cases(root):\n    return [p for p in root.glob('**/*.py') if p.name.startswith('test_')]\n",
        ] {
            assert_eq!(said("", text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn what_moves_from_file_to_file_is_not_new() {
        let text = b"import sys\nT = 'pytest' in sys.modules\n".to_vec();
        let (old, new) = (RepoPath::new("a.py"), RepoPath::new("b.py"));
        let gone = Changed { path: &old, was: text.clone(), is: Vec::new() };
        let here = Changed { path: &new, was: Vec::new(), is: text };
        assert_eq!(added(&[gone, here]), []);
    }
}
