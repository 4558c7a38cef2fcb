//! What a change takes away is kept by all that decides it: told again it is the same, and nothing that decides it is left out.

use seedgate::finding::Rule;
use seedgate::gate::facts::memo::Memo;
use seedgate::gate::facts::{Audit, Counts, Facts};
use seedgate::gate::judge::Judgement;
use seedgate::gate::run::{self, Subject};
use seedgate::tree::Oid;

use crate::sandbox::Sandbox;

const BOTH: &str = "from helpers import check\n\n\ndef test_x():\n    check(f(1))\n    assert f(2)\n";
const ONE: &str = "from helpers import check\n\n\ndef test_x():\n    assert f(2)\n";

/// Commits judged with one memo.
struct Bench {
    sandbox: Sandbox,
    audit: Audit,
}

impl Bench {
    fn new(audit: Audit) -> Self {
        Bench { sandbox: Sandbox::new(&[]), audit }
    }

    fn commit(&self, path: &str, text: &str) -> Oid {
        self.sandbox.write(path, text);
        self.sandbox.commit_all(path)
    }

    fn judge(&self, facts: &Facts, commits: &[Oid]) -> Vec<Judgement> {
        run::judge(&self.sandbox.open(), facts, &Subject::Commits(commits), &|| ()).unwrap().judgements
    }

    /// With the memo, as a process of its own; they must be those without it.
    fn told(&self, commits: &[Oid]) -> (Vec<Judgement>, Counts) {
        let facts = Facts::layered(Some(Memo::at(self.sandbox.beside("facts"), Memo::CAP)), None).audited(self.audit);
        let judgements = self.judge(&facts, commits);
        facts.flush();
        assert_eq!(judgements, self.judge(&Facts::cold(), commits));
        (judgements, facts.counts())
    }
}

fn rules(judgement: &Judgement) -> Vec<Rule> {
    judgement.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn judged_again_no_blob_is_read_and_the_findings_are_the_same() {
    let bench = Bench::new(Audit::Some);
    bench.commit("tests/helpers.py", "def check(x):\n    assert x\n");
    let before = bench.commit("tests/test_a.py", BOTH);
    let weaker = bench.commit("tests/test_a.py", ONE);
    let (first, cold) = bench.told(&[before.clone(), weaker.clone()]);
    assert_eq!((rules(&first[0]), rules(&first[1])), (vec![Rule::NewProperty], vec![Rule::OracleWeakened]));
    assert!(cold.cold > 0 && cold.memo == 0, "{cold:?}");
    let repeated: Vec<Oid> = std::iter::repeat_n([before, weaker], 3).flatten().collect();
    let (again, warm) = bench.told(&repeated);
    assert_eq!(again[..2], first[..]);
    assert!(warm.memo >= 6, "{warm:?}");
}

#[test]
fn audited_at_every_answer_the_findings_are_the_same() {
    let bench = Bench::new(Audit::All);
    let before = bench.commit("tests/test_a.py", BOTH);
    let weaker = bench.commit("tests/test_a.py", ONE);
    let (first, _) = bench.told(&[before.clone(), weaker.clone()]);
    let (again, _) = bench.told(&[before, weaker]);
    assert_eq!(first, again);
}

/// One edit, made on bases that differ in a single thing: each base has its own verdict.
#[test]
fn the_same_edit_on_another_base_is_judged_by_that_base() {
    let bench = Bench::new(Audit::Some);
    let git = |arguments: &[&str]| drop(bench.sandbox.git(arguments));
    bench.commit("tests/test_a.py", BOTH);
    git(&["branch", "start"]);
    let config = "schema = \"seedgate.config/1\"\n[partition]\nproduction = [\"tests/**\"]\n";
    let bases = [
        ("tests/helpers.py", "def check(x):\n    assert x\n", true),
        ("tests/helpers.py", "def check(x):\n    print(x)\n", false),
        ("tests/helpers.py", "def check(x):\n    assert x or True\n", true),
        (".seedgate/config.toml", config, false),
    ];
    for (path, text, _) in bases.iter().chain(&bases) {
        git(&["checkout", "-q", "--detach", "start"]);
        bench.commit("tests/helpers.py", "def check(x):\n    assert x\n");
        bench.commit(path, text);
        let edited = bench.commit("tests/test_a.py", ONE);
        bench.told(&[edited]);
    }
    for (path, text, is_refused) in bases {
        git(&["checkout", "-q", "--detach", "start"]);
        bench.commit("tests/helpers.py", "def check(x):\n    assert x\n");
        bench.commit(path, text);
        let edited = bench.commit("tests/test_a.py", ONE);
        let (judged, _) = bench.told(&[edited]);
        assert_eq!(rules(&judged[0]).contains(&Rule::OracleWeakened), is_refused, "{path}: {text}");
    }
}

#[test]
fn what_the_policy_of_waivers_and_levels_says_is_never_kept() {
    let bench = Bench::new(Audit::Some);
    bench.commit("tests/helpers.py", "def check(x):\n    assert x\n");
    bench.commit("tests/test_a.py", BOTH);
    bench.sandbox.write("tests/test_a.py", ONE);
    bench.sandbox.git(["add", "-A"]);
    let repo = bench.sandbox.open();
    let index = || {
        let facts = Facts::layered(Some(Memo::at(bench.sandbox.beside("facts"), Memo::CAP)), None);
        let mut judged = run::judge(&repo, &facts, &Subject::Index, &|| ()).unwrap().judgements;
        facts.flush();
        (judged.remove(0), facts.counts())
    };
    let (staged, cold) = index();
    let (again, warm) = index();
    assert_eq!(staged, again);
    assert!(cold.memo == 0 && warm.memo > 0, "{cold:?} {warm:?}");
    let committed = bench.sandbox.commit_all("weaker");
    let (pushed, known) = bench.told(&[committed]);
    assert_eq!(rules(&pushed[0]), rules(&staged));
    assert_eq!(known.cold, 0, "what the hook weighed is known when it is pushed: {known:?}");
}
