//! Owns what the policy makes of findings: each gets the level of its rule at its place, and what is off is only counted.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::finding::{Finding, Level, PropId, Rule};
use crate::partition::{Partition, Side};
use crate::settings::glob::Glob;
use crate::settings::rules::{Place, Rules};
use crate::strength::card;
use crate::tree::RepoPath;

/// The levels of a policy, with their compiled globs.
pub(super) struct Levels {
    everywhere: BTreeMap<Rule, Level>,
    places: Vec<(Vec<Glob>, BTreeMap<Rule, Level>)>,
}

impl Levels {
    /// Compiles a policy's levels (already checked by `Settings::parse`).
    pub(super) fn new(rules: &Rules) -> Self {
        let compiled = |place: &Place| place.paths.iter().filter_map(|text| Glob::new(text).ok()).collect();
        let places = rules.places.iter().map(|place| (compiled(place), place.levels.clone())).collect();
        Levels { everywhere: rules.everywhere.clone(), places }
    }

    /// Gives each finding its level and takes out those that are off, counted by rule.
    pub(super) fn settle(&self, findings: Vec<Finding>, partition: &Partition) -> (Vec<Finding>, BTreeMap<Rule, usize>) {
        let mut silenced = BTreeMap::new();
        if self.everywhere.is_empty() && self.places.is_empty() {
            return (findings, silenced);
        }
        let mut kept = Vec::with_capacity(findings.len());
        for mut finding in findings {
            match finding.level.unwrap_or_else(|| self.of(&finding, partition)) {
                Level::Off => *silenced.entry(finding.rule).or_default() += 1,
                level => {
                    finding.level = Some(level);
                    kept.push(finding);
                }
            }
        }
        (kept, silenced)
    }

    fn of(&self, finding: &Finding, partition: &Partition) -> Level {
        if !Rule::SETTABLE.contains(&finding.rule) {
            return finding.rule.level();
        }
        if finding.rule == Rule::SplitRequired {
            return self.of_mix(partition);
        }
        let levels = places(finding).into_iter().map(|path| self.at(finding.rule, &path));
        levels.max().unwrap_or_else(|| self.anywhere(finding.rule))
    }

    /// Each path takes part in a mix at its own level: the mix is as hard as its softer side.
    fn of_mix(&self, partition: &Partition) -> Level {
        let hardest = |wanted: &dyn Fn(Side) -> bool| {
            let paths = Side::ALL.into_iter().filter(|side| wanted(*side)).flat_map(|side| partition.paths(side));
            paths.map(|path| self.at(Rule::SplitRequired, path)).max().unwrap_or(Level::Off)
        };
        hardest(&|side| side == Side::Production).min(hardest(&Side::is_test_side))
    }

    fn at(&self, rule: Rule, path: &RepoPath) -> Level {
        let fits = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(path.as_bytes()));
        let last = self.places.iter().rev().filter_map(|(globs, levels)| Some((globs, *levels.get(&rule)?))).find(|(globs, _)| fits(globs));
        last.map_or_else(|| self.anywhere(rule), |(_, level)| level)
    }

    fn anywhere(&self, rule: Rule) -> Level {
        self.everywhere.get(&rule).copied().unwrap_or_else(|| rule.level())
    }
}

/// Where a finding is: also where its property was before, so that no move brings it under a softer level.
fn places(finding: &Finding) -> Vec<RepoPath> {
    let id = |card: &Option<Value>| Some(PropId(card.as_ref()?.get("prop_id")?.as_str()?.to_owned()));
    let ids = [finding.property.clone(), id(&finding.base_card), id(&finding.patch_card)];
    let of_ids = ids.iter().flatten().map(|id| card::path_of(id).to_owned());
    let mut shown: Vec<String> = finding.path.iter().cloned().chain(of_ids).filter(|path| !path.is_empty()).collect();
    shown.sort();
    shown.dedup();
    shown.iter().map(|path| RepoPath::from_shown(path)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Levels;
    use crate::finding::{Exit, Finding, Level, PropId, Rule};
    use crate::partition::{Partition, Sides};
    use crate::settings::Settings;
    use crate::tree::{Change, RepoPath};

    fn settings(rules: &str) -> Settings {
        Settings::parse(&format!("schema = \"seedgate.config/1\"\n{rules}")).unwrap()
    }

    fn partition(paths: &[&str]) -> Partition {
        let change = |path: &&str| Change { path: RepoPath::new(*path), old: None, new: None };
        Partition::of(&paths.iter().map(change).collect::<Vec<_>>(), &Sides::new(&Settings::default()))
    }

    /// The exit of one finding, 0 when it is off.
    fn exit(rules: &str, finding: Finding, mix: &[&str]) -> Exit {
        let (kept, silenced) = Levels::new(&settings(rules).rules).settle(vec![finding], &partition(mix));
        assert_eq!(kept.len() + silenced.values().sum::<usize>(), 1);
        kept.first().map_or(Exit::Clear, Finding::exit)
    }

    fn at(rule: Rule, path: &str) -> Finding {
        Finding { path: Some(RepoPath::new(path).to_string()), ..Finding::new(rule) }
    }

    const PLACES: &str = "[rules]\nassertion_removed = \"review\"\n\
        [[rules.for]]\npaths = [\"legacy/**\"]\nassertion_removed = \"off\"\nbudget_lowered = \"off\"\n\
        [[rules.for]]\npaths = [\"legacy/core/**\", \"legacy/caf*\"]\nassertion_removed = \"refuse\"\n";

    #[test]
    fn every_rule_has_the_exit_of_its_level() {
        for rule in Rule::SETTABLE {
            let review = if rule == Rule::NewProperty { Exit::Review } else { Exit::Waived };
            for (level, expected) in [("refuse", Exit::Refused), ("review", review), ("off", Exit::Clear)] {
                let found = exit(&format!("[rules]\n{} = \"{level}\"\n", rule.id()), at(rule, "tests/a.py"), &["src/a.py", "tests/a.py"]);
                assert_eq!(found, expected, "{rule:?} {level}");
            }
        }
    }

    #[test]
    fn the_last_place_that_names_the_rule_and_fits_the_path_decides() {
        for (rule, path, expected) in [
            (Rule::AssertionRemoved, "tests/a.py", Exit::Waived),
            (Rule::AssertionRemoved, "legacy/a.py", Exit::Clear),
            (Rule::AssertionRemoved, "legacy/core/a.py", Exit::Refused),
            (Rule::AssertionRemoved, "legacy/caf\u{e9}\\\n.py", Exit::Refused),
            (Rule::BudgetLowered, "legacy/core/a.py", Exit::Clear),
            (Rule::BudgetLowered, "tests/a.py", Exit::Refused),
            (Rule::CaseRemoved, "legacy/a.py", Exit::Refused),
        ] {
            assert_eq!(exit(PLACES, at(rule, path), &[]), expected, "{rule:?} {path}");
        }
    }

    #[test]
    fn a_test_that_moves_into_a_softer_place_is_held_at_the_harder() {
        let card = |path: &str| Some(json!({"prop_id": format!("{path}::test_x")}));
        for (from, to) in [("legacy/core/a.py", "legacy/a.py"), ("legacy/a.py", "legacy/core/a.py")] {
            let moved = Finding {
                property: Some(PropId(format!("{to}::test_x"))),
                base_card: card(from),
                patch_card: card(to),
                ..at(Rule::AssertionRemoved, to)
            };
            assert_eq!(exit(PLACES, moved, &[]), Exit::Refused, "{from} {to}");
        }
    }

    #[test]
    fn a_mix_is_as_hard_as_the_softer_of_its_sides() {
        let rules = "[[rules.for]]\npaths = [\"bench/**\", \"tox.ini\"]\nsplit_required = \"off\"\n\
            [[rules.for]]\npaths = [\"tools/**\"]\nsplit_required = \"review\"\n";
        for (mix, expected) in [
            (&["src/a.py", "tests/a.py"][..], Exit::Refused),
            (&["bench/a.py", "tests/a.py"], Exit::Clear),
            (&["bench/a.py", "src/a.py", "tests/a.py"], Exit::Refused),
            (&["src/a.py", "tox.ini"], Exit::Clear),
            (&["src/a.py", "tox.ini", "tests/a.py"], Exit::Refused),
            (&["tools/a.py", "tests/a.py"], Exit::Waived),
            (&["tools/a.py", "tox.ini"], Exit::Clear),
        ] {
            assert_eq!(exit(rules, Finding::new(Rule::SplitRequired), mix), expected, "{mix:?}");
        }
    }

    #[test]
    fn findings_of_other_rules_are_as_they_were() {
        for rule in [Rule::Waived, Rule::PolicyChanged, Rule::WaiverInvalid, Rule::UnreadableFile] {
            assert_eq!(exit(PLACES, at(rule, "legacy/a.py"), &[]), rule.exit(), "{rule:?}");
        }
        let (kept, silenced) = Levels::new(&Settings::default().rules).settle(vec![Finding::new(Rule::CaseRemoved)], &partition(&[]));
        assert_eq!((kept[0].level, silenced.len()), (None, 0));
        assert!(Level::Off < Level::Review && Level::Review < Level::Refuse);
    }
}
