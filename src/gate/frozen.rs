//! Owns whether freeze entries hold in a tree: what a token names is measured again, and what cannot be measured again must be kept beside it.

mod disk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::digest;
use crate::finding::{Finding, PropId, Rule};
use crate::freeze::day::Day;
use crate::freeze::evidence::{self, Evidence};
use crate::freeze::file::{self as freeze, Against, Entry, Fault, Freeze};
use crate::gate::GateError;
use crate::gate::cards::{Carded, View};
use crate::gate::facts::Facts;
use crate::gate::pins;
use crate::gate::policy::Policy;
use crate::gate::records::record;
use crate::partition::Side;
use crate::repo::Repo;
use crate::settings::Settings;
use crate::strength::card::{self, Card, Kind};
use crate::strength::snapshot::Source as _;
use crate::tree::{Change, Overlay, RepoPath, Tree as _};
use crate::witness::ledger::Ledger;

pub use disk::{digest_on_disk, faults_on_disk};

/// SHA-256 of all that a card measures: a token is bound to it.
pub fn card_sha256(card: &Card) -> String {
    digest::sha256_hex(card.to_json().to_string().as_bytes())
}

/// What is wrong with the freeze file, when the change can have to do with it: it touches a record, a test, a fixture or a harness. No clock
/// decides here.
pub(super) fn findings(base: &View<'_>, patch: &View<'_>, own: &[Change], ledger: &Ledger) -> Result<Vec<Finding>, GateError> {
    let read = |view: &View<'_>| -> Result<Result<Option<Freeze>, String>, GateError> {
        Ok(record(view.tree, freeze::PATH, freeze::CAP)?.and_then(|bytes| bytes.map(|bytes| Freeze::parse(&bytes)).transpose()))
    };
    let freeze = match read(patch)? {
        Ok(None) => return Ok(Vec::new()),
        Ok(Some(freeze)) => freeze,
        Err(says) => return Ok(vec![finding(None, vec![format!("it cannot be read: {says}")], "repair it, or take it out")]),
    };
    let concerns = |change: &Change| !matches!(patch.policy.sides.side(&change.path), Side::Production | Side::Neutral);
    let is_frozen = |change: &Change| freeze.entries.iter().any(|entry| RepoPath::from_shown(card::path_of(&entry.test)) == change.path);
    if freeze.entries.is_empty() || !own.iter().any(|change| concerns(change) || is_frozen(change)) {
        return Ok(Vec::new());
    }
    let before = read(base)?.ok().flatten().unwrap_or_else(Freeze::empty);
    // An entry that stood there before is void by its card; one that comes with an edit of its test never was valid.
    let is_touched = |entry: &Entry| {
        let path = RepoPath::from_shown(card::path_of(&entry.test));
        !before.entries.contains(entry) && own.iter().any(|change| change.path == path)
    };
    let found = Held { view: patch, ledger, today: None, top: None, is_touched: &is_touched }.faults(&freeze)?.into_iter();
    Ok(found
        .map(|fault| {
            let help = format!("take the entry out: seedgate freeze close {}", crate::gate::fixtures::shell(&fault.test.0));
            finding(Some(fault.test), vec![fault.says], &help)
        })
        .collect())
}

fn finding(property: Option<PropId>, says: Vec<String>, help: &str) -> Finding {
    Finding { property, path: Some(freeze::PATH.to_owned()), says, help: help.to_owned(), ..Finding::new(Rule::FreezeInvalid) }
}

/// What entries are held against.
struct Held<'a> {
    view: &'a View<'a>,
    ledger: &'a Ledger,
    today: Option<Day>,
    /// The work tree, for evidence that is not staged yet; `None` where only what git holds counts.
    top: Option<&'a Path>,
    is_touched: &'a dyn Fn(&Entry) -> bool,
}

impl Held<'_> {
    fn faults(&self, freeze: &Freeze) -> Result<Vec<Fault>, GateError> {
        if freeze.entries.is_empty() {
            return Ok(Vec::new());
        }
        let view = self.view;
        let paths: BTreeSet<RepoPath> = freeze.entries.iter().map(|entry| RepoPath::from_shown(card::path_of(&entry.test))).collect();
        let carded = Carded::read(view, &paths.iter().filter(|path| view.is_test(path)).collect::<Vec<_>>())?;
        let cards: BTreeMap<&PropId, &Card> = carded.cards.iter().map(|card| (&card.prop_id, card.as_ref())).collect();
        let failing: BTreeSet<PropId> = self.ledger.failing().cloned().collect();
        let kept = self.evidence(freeze)?;
        Ok(freeze.faults(&Against {
            is_property: &|id| is_property(view, cards.get(id).copied(), id),
            failing: &failing,
            fixture_digest: &pins::over(&pins::fixtures(view)?),
            card: &|id| cards.get(id).map(|card| card_sha256(card)),
            evidence: &|sha256| kept.get(sha256).cloned(),
            is_touched: self.is_touched,
            most_days: view.policy.settings.freeze_days,
            today: self.today,
        }))
    }

    /// The evidence that the tree keeps for the tokens, by digest.
    fn evidence(&self, freeze: &Freeze) -> Result<BTreeMap<String, Result<Evidence, String>>, GateError> {
        let mut kept = BTreeMap::new();
        for sha256 in freeze.entries.iter().filter_map(|entry| entry.token.get("evidence_sha256")?.as_str()) {
            // A name of another shape could lead anywhere in the tree.
            let is_digest = sha256.len() == 64 && sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            if !is_digest || kept.contains_key(sha256) {
                continue;
            }
            let unstaged = || self.top.and_then(|top| Evidence::read(&top.join(Evidence::kept(sha256))).ok()).map(|(_, bytes)| bytes);
            let found = match record(self.view.tree, &Evidence::kept(sha256), evidence::CAP)?.map(|bytes| bytes.or_else(unstaged)) {
                Ok(None) => continue,
                Ok(Some(bytes)) if digest::sha256_hex(&bytes) != sha256 => Err("its bytes are not those that its name says".to_owned()),
                Ok(Some(bytes)) => Evidence::parse(&bytes),
                Err(says) => Err(says),
            };
            kept.insert(sha256.to_owned(), found);
        }
        Ok(kept)
    }
}

fn is_property(view: &View<'_>, card: Option<&Card>, id: &PropId) -> bool {
    // Without a card the name and the place tell.
    card.map_or_else(
        || {
            id.0.rsplit("::").next().is_some_and(|name| name.starts_with("prop_"))
                || view.is_property_path(&RepoPath::from_shown(card::path_of(id)))
        },
        |card| card.kind == Kind::Property,
    )
}

/// What is wrong with a freeze file, held against the index, a ledger and a day.
///
/// # Errors
/// When something that must be read cannot be.
pub fn faults(repo: &Repo, facts: &Facts, freeze: &Freeze, ledger: &Ledger, today: Day) -> Result<Vec<Fault>, GateError> {
    let head = repo.head()?;
    let (tree, staged) = (repo.tree(head.as_ref())?, repo.staged(head.as_ref())?);
    let index = Overlay::new(&tree, &staged);
    let policy = Policy::of(&index, index.entry(&RepoPath::new(Settings::PATH))?.as_ref())?;
    Held { view: &View { tree: &index, facts, policy: &policy }, ledger, today: Some(today), top: repo.top(), is_touched: &|_| false }
        .faults(freeze)
}
