//! Owns what to do about findings of a commit that is made already, or of a merge: the words for what is staged would not help there.

use crate::finding::{Finding, Rule};
use crate::gate::judge::Judgement;

/// How the advice about a weakening that is staged begins.
const STAGED: &str = "restore it, or: seedgate waiver new ";
/// Characters of a commit's id that are shown.
const SHORT: usize = 12;

/// The judgement with advice that fits what was judged.
pub(super) fn fitting(mut judgement: Judgement) -> Judgement {
    let commit = judgement.commit.as_ref().map(|oid| &oid.as_str()[..SHORT]);
    for finding in &mut judgement.findings {
        if let Some(help) = help(finding, commit, judgement.parents.len()) {
            finding.help = help;
        }
    }
    judgement
}

fn help(finding: &Finding, commit: Option<&str>, parents: usize) -> Option<String> {
    match (finding.rule, commit, parents) {
        (Rule::SplitRequired, _, 2..) => Some("take what the merge itself does on one side out of it, and commit that after it".to_owned()),
        (Rule::SplitRequired, Some(commit), 1) => Some(format!(
            "take it apart: `git rebase -i {commit}^`, mark it `edit`, then `git reset --soft HEAD^`, `seedgate split -m 'what and why'` \
             and `git rebase --continue`"
        )),
        (_, Some(commit), 1..) => finding.help.strip_prefix(STAGED).map(|what| {
            format!("restore it in that commit, or amend that commit with: seedgate waiver new --base {commit}^ --head {commit} {what}")
        }),
        _ => None,
    }
}
