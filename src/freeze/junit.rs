//! Owns reading a `JUnit` report: which tests failed, whole or not at all. No entity is expanded and nothing it names is opened.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use crate::finding::PropId;
use crate::strength::card;

/// Largest report that is read, in bytes.
pub const CAP: u64 = 256 << 20;
/// Deepest nesting that is read.
const DEPTH: usize = 32;
/// Most tests that are read.
const MOST: usize = 2_000_000;
/// Longest message that is kept, in characters.
const SAYS: usize = 200;

/// What a test came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It passed.
    Passed,
    /// It failed, as a test fails.
    Failed,
    /// What prepares it, cleans up or collects it failed: that is no failure of the test.
    Error,
    /// It did not run.
    Skipped,
}

/// One test of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The module and classes, dotted.
    pub class: String,
    /// The name, with its parameters.
    pub name: String,
    /// The file, where the report tells.
    pub file: Option<String>,
    /// What it came to.
    pub state: State,
    /// The failure in a line.
    pub says: String,
}

impl Case {
    /// Whether this is a test of such an id, whatever its parameters.
    pub fn is(&self, id: &PropId) -> bool {
        let path = card::path_of(id);
        let Some(rest) = id.0.get(path.len()..).and_then(|rest| rest.strip_prefix("::")) else { return false };
        let (classes, name) = rest.rsplit_once("::").unwrap_or(("", rest));
        let module = path.strip_suffix(".py").unwrap_or(path).replace('/', ".");
        let class = if classes.is_empty() { module } else { format!("{module}.{}", classes.replace("::", ".")) };
        let own = self.name.split('[').next().unwrap_or_default();
        self.class == class && own == name && self.file.as_ref().is_none_or(|file| file == path)
    }

    /// The test, as people know it.
    pub fn shown(&self) -> String {
        let Some(file) = &self.file else {
            return if self.class.is_empty() { self.name.clone() } else { format!("{}::{}", self.class, self.name) };
        };
        let module = file.strip_suffix(".py").unwrap_or(file).replace('/', ".");
        let classes = self.class.strip_prefix(&module).unwrap_or_default().replace('.', "::");
        format!("{file}{classes}::{}", self.name)
    }
}

/// The tests of a report, in their order.
///
/// # Errors
/// In one sentence, why it is not taken: it is no XML, has a document type, is nested too deep, or does not hold what it says it does.
pub fn read(text: &str) -> Result<Vec<Case>, String> {
    let mut reader = Reader::from_str(text);
    let mut state = Reading::default();
    loop {
        let event = reader.read_event().map_err(|error| format!("it is no XML at byte {}: {error}", reader.error_position()))?;
        match event {
            Event::Eof => return state.whole(),
            Event::DocType(_) => return Err("it has a document type, and none is read".to_owned()),
            Event::Start(start) => {
                state.open(&start)?;
                state.depth.push(start.name().as_ref().to_owned());
                if state.depth.len() > DEPTH {
                    return Err(format!("it is nested deeper than the {DEPTH} levels that are read"));
                }
            }
            Event::Empty(start) => {
                state.open(&start)?;
                state.close(start.name().as_ref());
            }
            Event::End(end) => {
                state.depth.pop();
                state.close(end.name().as_ref());
            }
            _ => {}
        }
    }
}

/// How far a report is read.
#[derive(Default)]
struct Reading {
    depth: Vec<String>,
    cases: Vec<Case>,
    current: Option<Case>,
    /// Tests, failures and errors, as the innermost suites state them.
    stated: Option<[u64; 3]>,
    is_report: bool,
}

impl Reading {
    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        let name = start.name();
        let name: &str = name.as_ref();
        match name {
            "testsuites" | "testsuite" if self.depth.iter().all(|outer| outer == "testsuites" || outer == "testsuite") => {
                self.is_report = true;
                if name == "testsuite" && !self.depth.iter().any(|outer| outer == "testsuite") {
                    self.state(start)?;
                }
            }
            "testcase" if self.is_report && self.current.is_none() => {
                let text = |name| attribute(start, name).map(Option::unwrap_or_default);
                self.current = Some(Case {
                    class: text("classname")?,
                    name: text("name")?,
                    file: attribute(start, "file")?,
                    state: State::Passed,
                    says: String::new(),
                });
            }
            "failure" | "error" | "skipped" if self.depth.last().is_some_and(|outer| outer == "testcase") => {
                let says = attribute(start, "message")?.unwrap_or_default();
                if let Some(case) = &mut self.current {
                    case.worsen(name, &says);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes in what a suite says of itself.
    fn state(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        let mut stated = self.stated.unwrap_or_default();
        for (sum, name) in stated.iter_mut().zip(["tests", "failures", "errors"]) {
            let count = attribute(start, name)?;
            let Some(count) = count else { continue };
            let count: u64 = count.trim().parse().map_err(|_| format!("its number of {name}, {count:?}, is none"))?;
            *sum = sum.saturating_add(count);
        }
        self.stated = Some(stated);
        Ok(())
    }

    fn close(&mut self, name: &str) {
        if name == "testcase" && !self.depth.iter().any(|outer| outer == "testcase") {
            self.cases.extend(self.current.take());
        }
    }

    /// The cases, if they are as many as the report says.
    fn whole(self) -> Result<Vec<Case>, String> {
        let Some([tests, failures, errors]) = self.stated.filter(|_| self.depth.is_empty()) else {
            return Err(if self.is_report { "it ends in the middle" } else { "it is no JUnit report: it has no test suite" }.to_owned());
        };
        if self.cases.len() > MOST {
            return Err(format!("it has more than the {MOST} tests that are read"));
        }
        let bad = self.cases.iter().filter(|case| matches!(case.state, State::Failed | State::Error)).count() as u64;
        // One test can be counted twice: when it fails and its cleaning up fails too.
        if (failures + errors > 0) != (bad > 0) || bad > failures + errors || (self.cases.len() as u64) > tests.max(1) * 2 {
            return Err(format!(
                "it says {tests} tests, {failures} failures and {errors} errors, and holds {} tests of which {bad} failed",
                self.cases.len()
            ));
        }
        Ok(self.cases)
    }
}

impl Case {
    /// An error outweighs a failure: it is never taken for one.
    fn worsen(&mut self, element: &str, says: &str) {
        let state = match element {
            "error" => State::Error,
            "failure" if self.state != State::Error => State::Failed,
            "skipped" if self.state == State::Passed => State::Skipped,
            _ => self.state,
        };
        if state != self.state {
            self.state = state;
            self.says = says.lines().next().unwrap_or_default().chars().take(SAYS).collect();
        }
    }
}

/// An attribute's text; only the five entities of XML itself and characters by their numbers are resolved.
fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    let wrong = |says: String| format!("the attribute {name} of an element {:?} cannot be read: {says}", start.name().as_ref() as &str);
    let found = start.try_get_attribute(name).map_err(|error| wrong(error.to_string()))?;
    let value = found.map(|found| found.normalized_value(XmlVersion::Implicit1_0).map(std::borrow::Cow::into_owned));
    value.transpose().map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{Case, State, read};
    use crate::finding::PropId;

    fn suite(cases: &str, tests: u64, failures: u64, errors: u64) -> String {
        format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><testsuites name=\"pytest tests\"><testsuite name=\"pytest\" errors=\"{errors}\" failures=\"{failures}\" skipped=\"0\" tests=\"{tests}\">{cases}</testsuite></testsuites>"
        )
    }

    const CASES: &str = "<testcase classname=\"tests.test_a.TestX\" name=\"test_y[a-&lt;1&gt;]\" time=\"0.1\" />\
        <testcase classname=\"tests.test_a\" name=\"test_f\"><failure message=\"assert 1 == 2&#10;more\"><![CDATA[<failure>]]></failure></testcase>\
        <testcase classname=\"tests.test_a\" name=\"test_s\"><skipped type=\"pytest.skip\" message=\"no\">here</skipped></testcase>\
        <testcase classname=\"\" name=\"tests.test_b\"><error message=\"collection failure\">E</error></testcase>\
        <testcase classname=\"tests.test_a\" name=\"test_out\"><system-out>&lt;failure/&gt; <x><failure/></x></system-out></testcase>";

    #[test]
    fn each_test_has_its_state_and_nothing_that_it_printed_counts() {
        let cases = read(&suite(CASES, 5, 1, 1)).unwrap();
        let told: Vec<(&str, State, &str)> = cases.iter().map(|case| (&case.name[..], case.state, &case.says[..])).collect();
        assert_eq!(
            told,
            [
                ("test_y[a-<1>]", State::Passed, ""),
                ("test_f", State::Failed, "assert 1 == 2"),
                ("test_s", State::Skipped, "no"),
                ("tests.test_b", State::Error, "collection failure"),
                ("test_out", State::Passed, ""),
            ]
        );
    }

    #[test]
    fn a_case_is_a_test_by_its_whole_address() {
        let case = |class: &str, name: &str, file: Option<&str>| Case {
            class: class.into(),
            name: name.into(),
            file: file.map(str::to_owned),
            state: State::Failed,
            says: String::new(),
        };
        for (class, name, file, id, is) in [
            ("tests.test_a.TestX", "test_y[a::b]", None, "tests/test_a.py::TestX::test_y", true),
            ("tests.test_a.TestX.TestIn", "test_y", None, "tests/test_a.py::TestX::TestIn::test_y", true),
            ("tests.test_a", "test_f", Some("tests/test_a.py"), "tests/test_a.py::test_f", true),
            ("tests.test_a", "test_f", Some("other/test_a.py"), "tests/test_a.py::test_f", false),
            ("tests.test_a", "test_f", None, "tests/test_b.py::test_f", false),
            ("test_a", "test_f", None, "tests/test_a.py::test_f", false),
            ("tests.test_a", "test_ff", None, "tests/test_a.py::test_f", false),
            ("", "tests.test_a", None, "tests/test_a.py::test_f", false),
        ] {
            assert_eq!(case(class, name, file).is(&PropId(id.into())), is, "{class} {name} {id}");
        }
        assert_eq!(case("tests.test_a.TestX", "test_y[1]", Some("tests/test_a.py")).shown(), "tests/test_a.py::TestX::test_y[1]");
        assert_eq!(case("tests.test_a", "test_y", None).shown(), "tests.test_a::test_y");
        assert_eq!(case("", "tests.test_b", None).shown(), "tests.test_b");
    }

    #[test]
    fn what_is_not_whole_is_not_taken() {
        let good = suite(CASES, 5, 1, 1);
        let deep = format!("<testsuite tests=\"1\">{}{}</testsuite>", "<a>".repeat(100), "</a>".repeat(100));
        let bomb = format!("<!DOCTYPE x [<!ENTITY a \"aaaa\">]>{good}");
        for (text, says) in [
            (good[..good.len() - "</testsuites>".len()].to_owned(), "it ends in the middle"),
            (good.replace("</testsuites>", "</x>"), "it is no XML"),
            (suite(CASES, 5, 0, 0), "it says 5 tests, 0 failures and 0 errors, and holds 5 tests of which 2 failed"),
            (suite("", 3, 2, 0), "holds 0 tests of which 0 failed"),
            (bomb, "it has a document type"),
            (deep, "nested deeper"),
            (String::new(), "it is no JUnit report"),
            ("not xml".to_owned(), "it is no JUnit report"),
            ("<html><testcase/></html>".to_owned(), "it is no JUnit report"),
            (good.replace("&#10;", "&a;"), "cannot be read"),
            (good.replace("tests=\"5\"", "tests=\"many\""), "its number of tests"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(says) && !error.contains('\n'), "{error}");
        }
    }
}
