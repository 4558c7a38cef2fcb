//! Owns what is known of merges to come: whether the commits of a branch would be clear, for two commits and no others.

use std::sync::atomic::Ordering;

use crate::daemon::shared::{QUIET, Shared, lock};
use crate::daemon::warm::ward::Ward;
use crate::daemon::wire::Merge;
use crate::finding::Exit;
use crate::gate::GateError;
use crate::gate::ahead::Ahead;
use crate::gate::facts::Facts;
use crate::gate::facts::memo::Memo;
use crate::gate::judge::Judge;
use crate::repo::{Branch, Repo};
use crate::tree::Oid;

/// Most branches of a repository, and most commits of a branch, that are judged ahead.
const BRANCHES: usize = 32;
const COMMITS: usize = 200;

/// Judges every branch of a repository that has something to be merged into. What is known for the same two commits stays.
pub(super) fn judge(ward: &Ward, shared: &Shared) {
    let known = lock(&shared.merges).get(&ward.known).cloned().unwrap_or_default();
    let judged = ward.open().and_then(|repo| {
        let mut merges = planned(&repo)?;
        for merge in &mut merges {
            match known.iter().find(|old| same(old, merge) && old.exit.is_some()) {
                Some(old) => merge.clone_from(old),
                None => fill(&repo, merge, shared),
            }
        }
        Ok(merges)
    });
    let mut all = lock(&shared.merges);
    match judged {
        Ok(merges) => all.insert(ward.known.clone(), merges),
        Err(_) => all.remove(&ward.known),
    };
}

fn same(one: &Merge, two: &Merge) -> bool {
    (&one.branch, &one.head, &one.target, &one.base) == (&two.branch, &two.head, &two.target, &two.base)
}

/// Every branch with its target: the policy's, else its own upstream.
fn planned(repo: &Repo) -> Result<Vec<Merge>, GateError> {
    let ahead = Ahead::of(repo, repo.head()?.as_ref())?;
    let configured = ahead.merge_target().and_then(|name| Some((name.to_owned(), repo.resolve(name).ok()?)));
    let target = |branch: &Branch| configured.clone().or_else(|| branch.upstream.as_ref().map(|(name, oid)| (short(name), oid.clone())));
    let plan = |branch: Branch| {
        let (target, base) = target(&branch)?;
        let name = short(&branch.name);
        let differs = base != branch.tip && target != name;
        differs.then(|| Merge { branch: name, head: branch.tip, target, base, exit: None, rules: Vec::new(), trouble: None })
    };
    Ok(repo.branches()?.into_iter().filter_map(plan).take(BRANCHES).collect())
}

fn short(name: &[u8]) -> String {
    let name = name.strip_prefix(b"refs/heads/").or_else(|| name.strip_prefix(b"refs/remotes/")).unwrap_or(name);
    name.escape_ascii().to_string()
}

fn fill(repo: &Repo, merge: &mut Merge, shared: &Shared) {
    match verdict(repo, &merge.base, &merge.head, shared) {
        Ok(Some((exit, rules))) => (merge.exit, merge.rules) = (Some(exit.code()), rules),
        Ok(None) => merge.trouble = Some(format!("more than {COMMITS} commits: ask check")),
        Err(error) => merge.trouble = Some(error.to_string()),
    }
}

/// The exit and the rules broken; `None` when there is too much to judge or the daemon ends.
fn verdict(repo: &Repo, base: &Oid, head: &Oid, shared: &Shared) -> Result<Option<(Exit, Vec<String>)>, GateError> {
    let commits = repo.range(base, head)?;
    if commits.len() > COMMITS {
        return Ok(None);
    }
    let facts = Facts::layered(Memo::of_user(), None);
    let judge = Judge::new(repo, &facts)?;
    let (mut exit, mut rules) = (Exit::Clear, Vec::new());
    for commit in &commits {
        shared.step_aside(QUIET);
        if shared.leaving.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let judgement = judge.commit(commit);
        exit = exit.worst(judgement.exit());
        rules.extend(judgement.findings.iter().map(|finding| finding.rule.id().to_owned()));
    }
    facts.flush();
    rules.sort_unstable();
    rules.dedup();
    // A fact that turned out wrong takes its verdict with it.
    Ok(facts.distrusted().is_none().then_some((exit, rules)))
}
