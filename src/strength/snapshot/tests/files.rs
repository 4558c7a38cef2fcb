//! Tests of the fixture files that a card names.

use crate::digest;
use crate::strength::snapshot::tests::World;

const DATA: (&str, &str) = ("tests/fixtures/data.json", "{}");
const MORE: (&str, &str) = ("tests/fixtures/deep/more.json", "[]");

fn files(text: &str) -> Vec<String> {
    let world = World::new(&[DATA, MORE, ("tests/unit/test_a.py", text)]);
    world.card("tests/unit/test_a.py::test_f").files.into_keys().collect()
}

#[test]
fn a_file_is_found_however_a_literal_path_is_put_together() {
    for text in [
        "def test_f():\n    load('tests/fixtures/data.json')\n",
        "def test_f():\n    load('./tests/fixtures/deep/../data.json')\n",
        "def test_f():\n    load('data.json')\n",
        "from pathlib import Path\ndef test_f():\n    Path('tests') / 'fixtures' / 'data.json'\n",
        "from pathlib import Path\ndef test_f():\n    Path('tests', 'fixtures').joinpath('data.json').read_text()\n",
        "from pathlib import Path\nHERE = Path(__file__).parent\ndef test_f():\n    (HERE.parent / 'fixtures' / 'data.json').read_text()\n",
        "import pathlib\ndef test_f():\n    pathlib.Path(__file__).resolve().parents[1] / 'fixtures' / 'data.json'\n",
        "import os\ndef test_f():\n    open(os.path.join(os.path.dirname(__file__), '..', 'fixtures', 'data.json'))\n",
        "DATA = 'tests/fixtures/data.json'\ndef test_f():\n    load(DATA)\n",
        "def data():\n    return load('tests/fixtures/data.json')\ndef test_f():\n    assert data()\n",
        "import pytest\n@pytest.fixture\ndef data():\n    return load('tests/fixtures/data.json')\ndef test_f(data):\n    assert data\n",
    ] {
        assert_eq!(files(text), ["tests/fixtures/data.json"], "{text}");
    }
}

#[test]
fn what_is_no_fixture_or_does_not_exist_is_not_named() {
    for text in [
        "def test_f():\n    load('tests/unit/test_a.py')\n",
        "def test_f():\n    load('tests/fixtures/absent.json')\n",
        "def test_f():\n    load('../../../tests/fixtures/data.json')\n",
        "def test_f():\n    load('/tests/fixtures/data.json')\n",
        "def other():\n    load('tests/fixtures/data.json')\ndef test_f():\n    pass\n",
    ] {
        assert!(files(text).is_empty(), "{text}");
    }
}

#[test]
fn one_file_is_told_by_its_hash_and_several_by_the_folder_digest() {
    let one = World::new(&[DATA, ("tests/test_a.py", "def test_f():\n    load('tests/fixtures/data.json')\n")]);
    assert_eq!(one.card("tests/test_a.py::test_f").fixture_sha256, Some(digest::sha256_hex(b"{}")));
    let two = World::new(&[DATA, MORE, ("tests/test_a.py", "def test_f():\n    load('tests/fixtures/data.json', 'deep/more.json')\n")]);
    let (data, more) = (digest::sha256_hex(b"{}"), digest::sha256_hex(b"[]"));
    let want = digest::over([(DATA.0.as_bytes(), data.as_str()), (MORE.0.as_bytes(), more.as_str())]);
    assert_eq!(two.card("tests/test_a.py::test_f").fixture_sha256, Some(want));
    let none = World::new(&[("tests/test_a.py", "def test_f():\n    assert 1\n")]);
    assert_eq!(none.card("tests/test_a.py::test_f").fixture_sha256, None);
}

#[test]
fn the_policy_binds_files_to_ids() {
    let mut world = World::new(&[DATA, ("tests/test_a.py", "def test_f():\n    assert 1\ndef test_g():\n    assert 1\n")]);
    world.settings.bind.insert("tests/test_a.py::test_f".to_owned(), vec![DATA.0.to_owned()]);
    assert_eq!(world.card("tests/test_a.py::test_f").files.len(), 1);
    assert!(world.card("tests/test_a.py::test_g").files.is_empty());
    world.settings.bind.insert("tests/test_a.py::*".to_owned(), vec![DATA.0.to_owned()]);
    assert_eq!(world.card("tests/test_a.py::test_g").files.len(), 1);
}
