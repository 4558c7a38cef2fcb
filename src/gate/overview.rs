//! Owns how a repository stands: its base, its fixtures, its cards and its waivers, all recomputed from objects.

use std::path::Path;

use crate::digest;
use crate::finding::PropId;
use crate::gate::GateError;
use crate::gate::cards::{Carded, View, is_carded};
use crate::gate::facts::Facts;
use crate::gate::policy;
use crate::partition::Side;
use crate::repo::Repo;
use crate::settings::Settings;
use crate::strength::card::Kind;
use crate::strength::snapshot::Source as _;
use crate::strength::waiver;
use crate::tree::{Change, Entry, Mode, Oid, Overlay, RepoPath, Tree};

/// How a repository stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// The commit HEAD names.
    pub head: Option<Oid>,
    /// What HEAD is to be merged into, when that is known.
    pub base: Option<Base>,
    /// The fixtures of the index.
    pub fixtures: Fixtures,
    /// The cards of the index.
    pub cards: Tally,
    /// Waivers of the index; the bool says that the base does not have it yet.
    pub waivers: Vec<(RepoPath, bool)>,
}

/// The base of the work in hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Its name: the configured merge target, or `@{upstream}`.
    pub name: String,
    /// Where it and HEAD last met.
    pub commit: Oid,
    /// Commits of HEAD above it.
    pub ahead: usize,
}

/// The fixtures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixtures {
    /// How many regular files.
    pub files: usize,
    /// Folder digest over them as the index holds them.
    pub sha256: String,
    /// Those whose staged bytes differ from the base's.
    pub moved: Vec<RepoPath>,
    /// Those whose bytes on disk, which a loader reads, differ from the index.
    pub on_disk: Vec<RepoPath>,
}

/// How many cards of which kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Properties.
    pub properties: usize,
    /// Other tests.
    pub tests: usize,
    /// Properties whose domain cannot be read, with the reason.
    pub opaque: Vec<(PropId, String)>,
    /// Files that cannot be read, with the reason.
    pub unreadable: Vec<(RepoPath, String)>,
}

/// Looks at the index of a repository.
///
/// # Errors
/// [`GateError`] when something that must be read cannot be.
pub fn of(repo: &Repo, facts: &Facts) -> Result<Overview, GateError> {
    let head = repo.head()?;
    let tree = repo.tree(head.as_ref())?;
    let staged = repo.staged(head.as_ref())?;
    let index = Overlay::new(&tree, &staged);
    let policy = policy::for_candidate(&tree, tree.entry(&RepoPath::new(Settings::PATH))?.as_ref(), &[])?;
    let view = View { tree: &index, facts, policy: &policy };
    let base = base(repo, head.as_ref(), &policy.settings)?;
    let files = index.list(b"")?;
    let since = match &base {
        Some(base) => repo.staged(Some(&base.commit))?,
        None => staged.clone(),
    };
    Ok(Overview {
        fixtures: fixtures(&view, &files, &since, repo.top())?,
        cards: tally(&view, &files)?,
        waivers: waivers(&files, &since),
        head,
        base,
    })
}

fn base(repo: &Repo, head: Option<&Oid>, settings: &Settings) -> Result<Option<Base>, GateError> {
    let name = settings.merge_target.clone().unwrap_or_else(|| "@{upstream}".to_owned());
    let (Some(head), Ok(target)) = (head, repo.resolve(&name)) else { return Ok(None) };
    let Some(commit) = repo.merge_base(head, &target)? else { return Ok(None) };
    let ahead = repo.range(&commit, head)?.len();
    Ok(Some(Base { name, commit, ahead }))
}

fn fixtures(view: &View<'_>, files: &[(RepoPath, Entry)], since: &[Change], top: Option<&Path>) -> Result<Fixtures, GateError> {
    let regular = |entry: &Entry| matches!(entry.mode, Mode::File | Mode::Executable);
    let mut known = Vec::new();
    for (path, _) in files.iter().filter(|(path, entry)| regular(entry) && view.policy.sides.side(path) == Side::Fixture) {
        known.extend(view.sha256(path)?.map(|sha256| (path, sha256)));
    }
    let differs = |top: &Path, path: &RepoPath, sha256: &String| {
        let disk = digest::worktree(top, path.as_bytes()).ok().flatten();
        disk.and_then(|found| found.files.get(path).cloned()).as_ref() != Some(sha256)
    };
    let on_disk =
        top.map(|top| known.iter().filter(|(path, sha256)| differs(top, path, sha256)).map(|(path, _)| (*path).clone()).collect());
    Ok(Fixtures {
        files: known.len(),
        sha256: digest::over(known.iter().map(|(path, sha256)| (path.as_bytes(), sha256.as_str()))),
        moved: since.iter().filter(|c| c.old.is_some() && view.is_fixture(&c.path)).map(|c| c.path.clone()).collect(),
        on_disk: on_disk.unwrap_or_default(),
    })
}

fn tally(view: &View<'_>, files: &[(RepoPath, Entry)]) -> Result<Tally, GateError> {
    let paths: Vec<&RepoPath> = files.iter().map(|(path, _)| path).filter(|path| is_carded(view.policy, path)).collect();
    let carded = Carded::read(view, &paths)?;
    let of_kind = |kind: Kind| carded.cards.iter().filter(move |card| card.kind == kind);
    Ok(Tally {
        properties: of_kind(Kind::Property).count(),
        tests: of_kind(Kind::Test).count(),
        opaque: of_kind(Kind::Property).filter_map(|card| Some((card.prop_id.clone(), card.domain.opaque()?))).collect(),
        unreadable: carded.unreadable(),
    })
}

fn waivers(files: &[(RepoPath, Entry)], since: &[Change]) -> Vec<(RepoPath, bool)> {
    let is_open = |path: &RepoPath| since.iter().any(|change| change.path == *path);
    files.iter().map(|(path, _)| path).filter(|path| waiver::in_folder(path)).map(|path| (path.clone(), is_open(path))).collect()
}
