//! Owns the replay on the base by jobs: this machine decides, and a duplicate that says something else stops.

use std::collections::BTreeMap;

use crate::finding::PropId;
use crate::gate::facts::Facts;
use crate::gate::inventory;
use crate::repo::Repo;
use crate::tree::Oid;
use crate::trial::TrialError;
use crate::trial::replay::{Base, fitting};
use crate::trial::runner::duplicate::{self, About, Judged};
use crate::trial::runner::fleet::Fleet;
use crate::trial::runner::job::{Again, Job, Kind, Memory, Order};
use crate::trial::session::Prop;
use crate::trial::trees::Source;
use crate::witness::value::Input;

/// Replays inputs on a base, each as a job; the answers are in their order, with what the runners said.
///
/// # Errors
/// When the base cannot be read, or somebody wants it to end.
pub fn all(
    (repo, facts, base): (&Repo, &Facts, &Oid),
    fleet: &Fleet,
    inputs: &[(PropId, Input)],
    (runs, told): (&std::path::Path, &(dyn Fn() + Sync)),
) -> Result<(Vec<Base>, Vec<Judged>), TrialError> {
    let source = Source::commit(repo, base)?;
    let tree = source.tree();
    let (inventory, bench, bound) = (inventory::of_tree(&tree, facts)?, fleet.bench(&tree, Memory::Never)?, BTreeMap::new());
    let props: Vec<Result<Prop, Base>> =
        inputs.iter().map(|(id, input)| fitting(inventory.cards.get(id).map(AsRef::as_ref), input)).collect();
    let order = |prop: &Prop, input: &Input| {
        bench.job(&Order {
            kind: Kind::Base,
            parent: base,
            prop_id: &prop.id,
            arguments: &prop.arguments,
            runs: vec![vec![input.clone()]],
            again: Again::All,
            bound: &bound,
        })
    };
    let asked = props.iter().zip(inputs).filter_map(|(prop, (_, input))| Some(order(prop.as_ref().ok()?, input)));
    let jobs: Vec<Job> = asked.collect::<Result<_, _>>()?;
    let judged = duplicate::all(fleet, &jobs, &About { tree: base, bound: &bound, runs, spared: None }, told)?;
    let mut said = judged.iter().map(verdict);
    let gone = || Base::Unknown("its job was not run".to_owned());
    let bases = props.into_iter().map(|prop| prop.map_or_else(|base| base, |_| said.next().unwrap_or_else(gone))).collect();
    Ok((bases, judged))
}

/// What this machine said, unless another one says otherwise: that is no verdict.
fn verdict(judged: &Judged) -> Base {
    if judged.disagrees() {
        return Base::Unknown("this machine and another one do not say the same".to_owned());
    }
    let verdict = match &judged.local.verdict {
        Ok(verdict) => verdict,
        Err(unknown) => return Base::Unknown(format!("{}: {}", unknown.word, unknown.says)),
    };
    match (verdict.runs.first(), &verdict.refusal) {
        (_, Some(refusal)) => Base::Unknown(format!("{}: {}", refusal.kind, refusal.message)),
        (Some(run), None) => match &run.first {
            Some(first) if first.again => Base::Fail(first.failure.told()),
            Some(_) => Base::Unknown("it does not say the same twice on the base".to_owned()),
            None if run.invalid > 0 => Base::Unknown("the input does not meet the property's assumptions on the base".to_owned()),
            None => Base::Pass,
        },
        (None, None) => Base::Unknown("the job says nothing of the input".to_owned()),
    }
}
