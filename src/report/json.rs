//! Owns `seedgate.verdict/1`, the verdict for machines.

use serde_json::{Value, json};

use crate::finding::Finding;
use crate::gate::judge::Judgement;
use crate::gate::run::Outcome;

/// The verdict as `seedgate.verdict/1`.
pub fn verdict(verdict: &Outcome) -> Value {
    json!({
        "schema": "seedgate.verdict/1",
        "exit": verdict.exit().code(),
        "decision": verdict.exit().decision(),
        "commits": verdict.judgements.iter().map(judgement).collect::<Vec<_>>(),
        "facts_from": verdict.facts.source(),
        "facts": verdict.facts,
    })
}

fn judgement(judgement: &Judgement) -> Value {
    json!({
        "commit": judgement.commit,
        "subject": judgement.subject,
        "parents": judgement.parents,
        "exit": judgement.exit().code(),
        "decision": judgement.exit().decision(),
        "error": judgement.error.as_ref().map(|(_, says)| says),
        "findings": judgement.findings.iter().map(finding).collect::<Vec<_>>(),
        "silenced": judgement.silenced,
    })
}

/// One finding.
pub(super) fn finding(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule.id(),
        "exit": finding.exit().code(),
        "property": finding.property,
        "path": finding.path,
        "line": finding.line,
        "says": finding.says.join("; "),
        "help": finding.help,
        "base_card": finding.base_card,
        "patch_card": finding.patch_card,
    })
}
