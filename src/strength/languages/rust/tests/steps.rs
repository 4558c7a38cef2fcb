//! Owns the tests of steps that must succeed, as the policy counts them.

use super::World;
use crate::settings::Steps;
use crate::strength::delta;

const BASE: &str = "#[test]\nfn t() {\n    assert_eq!(f(1), 1);\n    open(2).unwrap();\n}\n";
const PATCH: &str = "#[test]\nfn t() {\n    assert_eq!(f(1), 1);\n    let _ = open(2);\n}\n";

fn rules(steps: Steps) -> Vec<&'static str> {
    let cards = |text: &str| {
        let mut world = World::new(&[("tests/t.rs", text)]);
        world.settings.unwrap = steps;
        world.cards()
    };
    delta::compare(&cards(BASE), &cards(PATCH)).findings().iter().map(|finding| finding.rule.id()).collect()
}

#[test]
fn a_step_that_must_succeed_counts_as_the_policy_says() {
    assert_eq!(rules(Steps::Count), ["assertion_removed"]);
    assert_eq!(rules(Steps::Off), [] as [&str; 0]);
}
