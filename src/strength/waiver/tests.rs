use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use serde_json::{Value, json};

use crate::finding::{Exit, Finding, PropId, Rule};
use crate::strength::waiver::{FOLDER, Subject, Waiver, draft, list, settle};
use crate::tree::{Entry, MemTree, Mode, Oid, RepoPath, Tree, TreeError};

const SPEC: &str = "https://example.invalid/spec#rounding";

fn card(count: u32) -> Value {
    json!({
        "prop_id": "tests/test_a.py::test_x", "kind": "property", "domain_size": "101", "assertion_count": count,
        "fixture_sha256": null, "case_keys": ["'a'", "1"], "bounds": {"n": ["0", null]}, "opaque": null, "files": {},
        "domain": {"tables": [], "arguments": []}, "assertions": ["assert f(n)"], "body_sha256": format!("body {count}"),
    })
}

fn weakened(rule: Rule) -> Finding {
    Finding {
        property: Some(PropId("tests/test_a.py::test_x".into())),
        path: Some("tests/test_a.py".into()),
        says: vec!["assertions 2 -> 1".into()],
        base_card: Some(card(2)),
        patch_card: Some(card(1)),
        ..Finding::new(rule)
    }
}

fn fixture(path: &str, old: &str, new: Option<&str>) -> Finding {
    let state = |sha: &str| json!({"fixture": path, "sha256": sha});
    Finding { path: Some(path.into()), base_card: Some(state(old)), patch_card: new.map(state), ..Finding::new(Rule::FixtureDrift) }
}

/// A draft as a person completes it.
fn completed(finding: &Finding) -> (String, String) {
    let draft = draft(finding).unwrap();
    (
        format!("{FOLDER}/{}", draft.name),
        draft.text.replace("spec = \"\"", &format!("spec = \"{SPEC}\"")) + "\nRounding is now to the cent.\n",
    )
}

fn settled(files: &[(String, String)], findings: Vec<Finding>) -> Vec<Finding> {
    let mut tree = MemTree::default();
    for (path, text) in files {
        tree.put(path, text.as_bytes());
    }
    let changed: Vec<RepoPath> = files.iter().map(|(path, _)| RepoPath::new(path.as_bytes())).collect();
    settle(&tree, &changed, findings).unwrap()
}

fn rules(findings: &[Finding]) -> Vec<Rule> {
    findings.iter().map(|finding| finding.rule).collect()
}

fn words(findings: &[Finding], rule: Rule) -> String {
    findings.iter().filter(|f| f.rule == rule).flat_map(|f| f.says.clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_completed_waiver_settles_every_finding_of_its_cards_and_keeps_their_words() {
    let findings = vec![weakened(Rule::AssertionRemoved), weakened(Rule::CaseRemoved)];
    let file = completed(&findings[0]);
    let after = settled(std::slice::from_ref(&file), findings);
    assert_eq!(rules(&after), [Rule::Waived, Rule::Waived]);
    assert_eq!(after[0].says, [format!("assertion_removed, waived by {} ({SPEC})", file.0), "assertions 2 -> 1".into()]);
    assert_eq!(after[0].rule.exit(), Exit::Waived);
    assert_eq!(after[1].base_card, Some(card(2)));
}

#[test]
fn an_old_waiver_of_the_tree_settles_too_and_an_old_one_that_matches_nothing_is_silent() {
    let (path, text) = completed(&weakened(Rule::AssertionRemoved));
    let mut tree = MemTree::default();
    tree.put(&path, text.as_bytes());
    tree.put("docs/waivers/broken.md", "no head");
    assert_eq!(rules(&settle(&tree, &[], vec![weakened(Rule::AssertionRemoved)]).unwrap()), [Rule::Waived]);
    let other = Finding { patch_card: Some(card(0)), ..weakened(Rule::AssertionRemoved) };
    assert_eq!(rules(&settle(&tree, &[], vec![other]).unwrap()), [Rule::AssertionRemoved]);
}

#[test]
fn a_removed_property_needs_a_waiver_without_a_new_card() {
    let gone = Finding { patch_card: None, ..weakened(Rule::PropertyRemoved) };
    let (path, text) = completed(&gone);
    assert!(!text.contains("[new]"), "{text}");
    assert_eq!(rules(&settled(&[(path, text)], vec![gone.clone()])), [Rule::Waived]);
    let after = settled(&[completed(&weakened(Rule::AssertionRemoved))], vec![gone]);
    assert_eq!(rules(&after), [Rule::PropertyRemoved, Rule::WaiverInvalid]);
    assert_eq!(words(&after, Rule::WaiverInvalid), "[new]: the waiver states a card, measured: nothing is left");
}

#[test]
fn some_rules_are_never_waived() {
    for rule in [Rule::SplitRequired, Rule::UnreadableFile, Rule::WaiverInvalid, Rule::PolicyChanged, Rule::NewProperty] {
        assert_eq!(draft(&weakened(rule)), None, "{rule:?}");
        let after = settled(&[completed(&weakened(Rule::AssertionRemoved))], vec![weakened(rule)]);
        assert_eq!(rules(&after), [rule, Rule::WaiverInvalid], "{rule:?}");
    }
}

#[test]
fn a_draft_waives_nothing_before_spec_and_reason_are_written() {
    let finding = weakened(Rule::AssertionRemoved);
    let raw = draft(&finding).unwrap().text;
    let reason = "\nRounding is now to the cent.\n";
    let spec = |text: &str| raw.replace("spec = \"\"", &format!("spec = \"{text}\""));
    let table = [
        ("as drafted", raw.clone(), "spec is empty\nthe reason"),
        ("only a reason", raw.clone() + reason, "spec is empty"),
        ("only a spec", spec(SPEC), "the reason"),
        ("the template's words as reason", spec(SPEC).replace("<!--", "").replace("-->", ""), "the reason"),
        ("a comment as reason", spec(SPEC) + "<!-- because -->", "the reason"),
        ("an open comment", spec(SPEC) + "<!-- because", "the reason"),
        ("signs as reason", spec(SPEC) + "...", "the reason"),
        ("no file", spec("docs/none.md") + reason, "neither a URL nor a file"),
        ("no host", spec("https:///x") + reason, "is no URL"),
        ("spaces in the URL", spec("https://a b/c") + reason, "is no URL"),
        ("another scheme", spec("file:///etc/passwd") + reason, "neither a URL nor a file"),
        ("a way out of the tree", spec("../spec.md") + reason, "neither a URL nor a file"),
        ("a folder", spec("docs") + reason, "neither a URL nor a file"),
        ("a waiver", spec("docs/waivers/w.md") + reason, "neither a URL nor a file"),
    ];
    for (name, text, wanted) in table {
        let after = settled(&[("docs/waivers/w.md".into(), text)], vec![finding.clone()]);
        assert_eq!(rules(&after), [Rule::AssertionRemoved, Rule::WaiverInvalid], "{name}");
        let said = words(&after, Rule::WaiverInvalid);
        for part in wanted.split('\n') {
            assert!(said.contains(part), "{name}: {said}");
        }
    }
}

#[test]
fn a_spec_may_be_a_file_of_the_candidate_with_or_without_a_place_in_it() {
    for spec in ["docs/spec.md", "docs/spec.md#rounding"] {
        let (path, text) = completed(&weakened(Rule::AssertionRemoved));
        let files = [(path, text.replace(SPEC, spec)), ("docs/spec.md".to_owned(), "# Rounding".to_owned())];
        assert_eq!(rules(&settled(&files, vec![weakened(Rule::AssertionRemoved)])), [Rule::Waived], "{spec}");
    }
}

#[test]
fn a_waiver_of_the_change_that_matches_nothing_says_what_differs() {
    let (path, text) = completed(&weakened(Rule::AssertionRemoved));
    let stale = text.replacen("assertion_count = 2", "assertion_count = 3", 1);
    let after = settled(&[(path.clone(), stale)], vec![weakened(Rule::AssertionRemoved)]);
    assert_eq!(rules(&after), [Rule::AssertionRemoved, Rule::WaiverInvalid]);
    assert_eq!(words(&after, Rule::WaiverInvalid), "[old] assertion_count: the waiver says 3, measured 2");
    let alone = settled(&[(path, text)], vec![]);
    assert_eq!(words(&alone, Rule::WaiverInvalid), "nothing in this change weakens tests/test_a.py::test_x");
}

#[test]
fn a_broken_waiver_of_the_change_is_refused_with_its_line() {
    let (_, good) = completed(&weakened(Rule::AssertionRemoved));
    let table = [
        ("no head", "# Waiver".to_owned(), 1, "the first line is not +++"),
        ("open head", "+++\nspec = \"\"\n".to_owned(), 1, "no closing +++"),
        ("not TOML", good.replace("spec = ", "spec == "), 5, ""),
        ("unknown key", good.replace("spec = ", "speck = \"\"\nspec = "), 5, "unknown key \"speck\""),
        ("another schema", good.replace("waiver/1", "waiver/2"), 2, "this program reads"),
        ("no subject", good.replace("property = ", "# "), 1, "neither a property nor a fixture"),
        ("two subjects", good.replace("spec = ", "fixture = \"f\"\nspec = "), 5, "one waiver, one subject"),
        ("no old card", good.replace("[old", "[new.was"), 1, "[old], is missing"),
        ("a number as spec", good.replace(&format!("{SPEC:?}"), "7"), 5, "spec is integer, not text"),
    ];
    for (name, text, line, words) in table {
        let after = settled(&[("docs/waivers/w.md".into(), text)], vec![]);
        assert_eq!((after[0].rule, after[0].path.as_deref()), (Rule::WaiverInvalid, Some("docs/waivers/w.md")), "{name}");
        assert_eq!(after[0].line, Some(line), "{name}: {:?}", after[0].says);
        assert!(after[0].says[0].contains(words), "{name}: {:?}", after[0].says);
    }
}

#[test]
fn carriage_returns_and_a_byte_order_mark_do_not_matter() {
    let (path, text) = completed(&weakened(Rule::AssertionRemoved));
    let text = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    assert_eq!(rules(&settled(&[(path, text)], vec![weakened(Rule::AssertionRemoved)])), [Rule::Waived]);
}

#[test]
fn only_files_that_lie_in_the_folder_are_waivers() {
    let (_, text) = completed(&weakened(Rule::AssertionRemoved));
    for path in ["docs/waivers/README.md", "docs/waivers/deep/w.md", "docs/waivers/w.txt", "docs/w.md", "notes/docs/waivers/w.md"] {
        let after = settled(&[(path.into(), text.clone())], vec![weakened(Rule::AssertionRemoved)]);
        assert_eq!(rules(&after), [Rule::AssertionRemoved], "{path}");
    }
}

#[test]
fn a_fixture_waiver_settles_the_file_and_the_checks_that_load_only_it() {
    let (old, new) = ("aa", "bb");
    let file = fixture("tests/fixtures/a.json", old, Some(new));
    let mut loads = weakened(Rule::FixtureDrift);
    let with = |sha: &str| {
        let mut card = card(2);
        card["files"] = json!({"tests/fixtures/a.json": sha, "tests/fixtures/b.json": "cc"});
        Some(card)
    };
    (loads.base_card, loads.patch_card) = (with(old), with(new));
    let other = Finding { rule: Rule::AssertionRemoved, ..loads.clone() };
    let after = settled(&[completed(&file)], vec![file.clone(), loads.clone(), other]);
    assert_eq!(rules(&after), [Rule::Waived, Rule::Waived, Rule::AssertionRemoved]);
    loads.patch_card = with("dd");
    let after = settled(&[completed(&file)], vec![file.clone(), loads]);
    assert_eq!(rules(&after), [Rule::Waived, Rule::FixtureDrift]);
    let removed = fixture("tests/fixtures/a.json", old, None);
    assert_eq!(rules(&settled(&[completed(&removed)], vec![removed])), [Rule::Waived]);
    assert_eq!(
        rules(&settled(&[completed(&file)], vec![fixture("tests/fixtures/a.json", old, Some("ee"))])),
        [Rule::FixtureDrift, Rule::WaiverInvalid]
    );
}

#[test]
fn file_names_stay_in_the_folder_are_short_and_differ_with_the_cards() {
    let long = "x".repeat(400);
    let ids = ["../../etc/passwd::x", "a/b.py::C::test[1]", "ü::ß", "", ".", &long, "a\0b\nc", "-rf"];
    for id in ids {
        let finding = Finding { property: Some(PropId(id.into())), ..weakened(Rule::AssertionRemoved) };
        let name = draft(&finding).unwrap().name;
        let stem = name.strip_suffix(".md").unwrap();
        assert!(name.len() <= 100 && !name.starts_with('-'), "{name}");
        assert!(stem.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)), "{name}");
    }
    let other = Finding { patch_card: Some(card(0)), ..weakened(Rule::AssertionRemoved) };
    assert_ne!(draft(&other).unwrap().name, draft(&weakened(Rule::AssertionRemoved)).unwrap().name);
    assert_eq!(draft(&weakened(Rule::CaseRemoved)).unwrap().name, draft(&weakened(Rule::AssertionRemoved)).unwrap().name);
}

/// A tree with one entry that is no file or is too large.
struct Odd(Entry, bool);

impl Tree for Odd {
    fn entry(&self, _: &RepoPath) -> Result<Option<Entry>, TreeError> {
        Ok(Some(self.0.clone()))
    }
    fn list(&self, _: &[u8]) -> Result<Vec<(RepoPath, Entry)>, TreeError> {
        Ok(vec![(RepoPath::new("docs/waivers/w.md"), self.0.clone())])
    }
    fn blob(&self, oid: &Oid, cap: u64) -> Result<Vec<u8>, TreeError> {
        let missing = TreeError::Missing { oid: oid.clone(), path: None };
        Err(if self.1 { TreeError::TooLarge { oid: oid.clone(), size: cap + 1, cap, path: None } } else { missing })
    }
}

#[test]
fn links_and_giants_are_refused_by_name_and_a_missing_object_is_a_fault() {
    let oid = Oid::from_hex(&"a".repeat(40)).unwrap();
    let path = [RepoPath::new("docs/waivers/w.md")];
    let entry = |mode| Entry { mode, oid: oid.clone() };
    let link = settle(&Odd(entry(Mode::Symlink), true), &path, vec![]).unwrap();
    assert!(words(&link, Rule::WaiverInvalid).contains("links are not followed"));
    let giant = settle(&Odd(entry(Mode::File), true), &path, vec![]).unwrap();
    assert!(words(&giant, Rule::WaiverInvalid).contains("are more than the 1048576 that are read"));
    let error = settle(&Odd(entry(Mode::File), false), &path, vec![]).unwrap_err();
    assert!(error.to_string().contains("docs/waivers/w.md"), "{error}");
}

/// A tree that must not be read.
struct Sealed;

impl Tree for Sealed {
    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, TreeError> {
        Err(TreeError::Store(format!("{path} was read")))
    }
    fn list(&self, _: &[u8]) -> Result<Vec<(RepoPath, Entry)>, TreeError> {
        Err(TreeError::Store("the folder was read".into()))
    }
    fn blob(&self, oid: &Oid, _: u64) -> Result<Vec<u8>, TreeError> {
        Err(TreeError::Store(format!("{oid} was read")))
    }
}

#[test]
fn no_waiver_is_read_where_none_could_matter() {
    let changed = [RepoPath::new("src/a.py"), RepoPath::new("docs/waivers/README.md")];
    let findings = vec![weakened(Rule::NewProperty), Finding::new(Rule::SplitRequired)];
    assert_eq!(rules(&settle(&Sealed, &changed, findings).unwrap()), [Rule::NewProperty, Rule::SplitRequired]);
    assert!(settle(&Sealed, &changed, vec![weakened(Rule::CaseRemoved)]).is_err());
}

#[test]
fn a_listed_waiver_tells_its_subject_and_what_keeps_it_a_draft() {
    let mut tree = MemTree::default();
    let raw = draft(&weakened(Rule::AssertionRemoved)).unwrap();
    tree.put(&format!("{FOLDER}/{}", raw.name), raw.text.as_bytes());
    tree.put("docs/waivers/broken.md", "x");
    let found = list(&tree).unwrap();
    assert!(found[0].read.is_err());
    assert_eq!(found[1].read.as_ref().map(|w| w.subject.clone()), Ok(Subject::Property("tests/test_a.py::test_x".into())));
    assert_eq!(found[1].faults.len(), 2);
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::collection::vec(".{0,6}", 0..4).prop_map(Value::from),
        prop::collection::btree_map(".{0,4}", ".{0,6}", 0..3).prop_map(|map| json!(map)),
    ]
}

fn any_card() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z_\u{e9} \"+]{1,8}", leaf(), 0..6).prop_map(|fields| json!(fields))
}

fn any_finding() -> impl Strategy<Value = Finding> {
    (".{0,20}", any_card(), prop::option::of(any_card())).prop_map(|(id, base_card, patch_card)| Finding {
        property: Some(PropId(id)),
        base_card: Some(base_card),
        patch_card,
        ..Finding::new(Rule::CaseRemoved)
    })
}

proptest! {
    #[test]
    fn draft_and_completion_settle_exactly_that_finding(finding in any_finding(), other in any_finding()) {
        let (path, text) = completed(&finding);
        assert_eq!(rules(&settled(&[(path.clone(), text.clone())], vec![finding.clone()])), [Rule::Waived]);
        let differs = other.property != finding.property;
        let after = settled(&[(path, text)], vec![finding, other]);
        assert!(!differs || rules(&after) == [Rule::Waived, Rule::CaseRemoved]);
    }

    #[test]
    fn a_card_that_moved_in_any_field_is_not_settled(finding in any_finding(), field in "[a-z]{9,12}", old in any::<bool>()) {
        let waiver = completed(&finding);
        let mut moved = finding;
        let card = if old { &mut moved.base_card } else { &mut moved.patch_card };
        match card.as_mut().and_then(Value::as_object_mut) {
            Some(fields) => match fields.iter_mut().find(|(_, value)| !value.is_null()) {
                Some((_, value)) => *value = json!([value.clone(), "moved"]),
                None => drop(fields.insert(field, json!(1))),
            },
            None => *card = Some(json!({})),
        }
        assert_eq!(rules(&settled(&[waiver], vec![moved])), [Rule::CaseRemoved, Rule::WaiverInvalid]);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,80}", head in "(schema|spec|old|new|property|\\[|\\]|=|\"|\\+|\n| |[a-z]){0,40}") {
        drop(Waiver::parse(&text));
        drop(Waiver::parse(&format!("+++\n{head}\n+++\n{text}")));
    }
}
