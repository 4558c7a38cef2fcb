//! Tests of the lattice of domains.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;
use proptest::prelude::{Just, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Strategy as _;

use crate::strength::domain::{Argument, Domain, Origin, Strategy, Table};

fn integers(low: impl Into<Option<i64>>, high: impl Into<Option<i64>>) -> Strategy {
    Strategy::Integers { low: low.into().map(BigInt::from), high: high.into().map(BigInt::from) }
}

fn drawn(name: &str, strategy: Strategy) -> Domain {
    Domain { arguments: vec![Argument { name: name.to_owned(), strategy }], ..Domain::default() }
}

fn leaf() -> impl proptest::strategy::Strategy<Value = Strategy> {
    let end = || proptest::option::of(-6_i64..6);
    prop_oneof![
        (end(), end()).prop_map(|(low, high)| integers(low, high)),
        proptest::collection::btree_set((-3_i64..4).prop_map(|n: i64| n.to_string()), 0..4).prop_map(Strategy::Finite),
        Just(Strategy::booleans()),
        Just(Strategy::Opaque("f()".to_owned())),
        Just(Strategy::Floats { low: Some("0.0".to_owned()), high: None, rest: BTreeMap::new() }),
    ]
}

fn tree() -> impl proptest::strategy::Strategy<Value = Strategy> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        let parts = || proptest::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            parts().prop_map(Strategy::one_of),
            parts().prop_map(Strategy::Tuples),
            (inner.clone(), 0_u64..3, proptest::option::of(3_u64..6)).prop_map(|(of, min, max)| Strategy::Many {
                what: "lists".to_owned(),
                of: vec![of],
                min,
                max,
                rest: BTreeMap::new()
            }),
            inner.clone().prop_map(|of| Strategy::Mapped { of: Box::new(of), how: "filter".to_owned(), by: "f".to_owned() }),
        ]
    })
}

fn table() -> impl proptest::strategy::Strategy<Value = Table> {
    let rows = proptest::collection::btree_set(proptest::collection::vec("[12]", 2), 0..4);
    rows.prop_map(|rows| Table { origin: Origin::Declared, names: vec!["a".to_owned(), "b".to_owned()], rows, rest: BTreeSet::new() })
}

fn domain() -> impl proptest::strategy::Strategy<Value = Domain> {
    let argument = ("[xy]", tree()).prop_map(|(name, strategy)| Argument { name, strategy });
    (proptest::collection::vec(table(), 0..2), proptest::collection::vec(argument, 0..3), proptest::collection::btree_set("[pq]", 0..2))
        .prop_map(|(tables, mut arguments, unread)| {
            arguments.dedup_by(|a, b| a.name == b.name);
            Domain { tables, arguments, unread }
        })
}

proptest! {
    #[test]
    fn nothing_is_lost_against_itself(domain in domain()) {
        prop_assert_eq!(domain.losses(&domain), vec![]);
        prop_assert_eq!(domain.clone().weaker_of(domain.clone()), domain);
    }

    #[test]
    fn going_from_the_weaker_of_two_loses_no_more_than_either(one in domain(), other in domain()) {
        let weaker = one.clone().weaker_of(other.clone());
        if weaker.unread.is_subset(&one.unread) && weaker.unread.is_subset(&other.unread) {
            prop_assert!(weaker.losses(&one).is_empty() && weaker.losses(&other).is_empty());
        }
    }

    #[test]
    fn holding_is_passed_on(a in tree(), b in tree(), c in tree()) {
        let [a, b, c] = [a, b, c].map(|s| drawn("x", s));
        if a.losses(&b).is_empty() && b.losses(&c).is_empty() {
            prop_assert_eq!(a.losses(&c), vec![]);
        }
    }

    #[test]
    fn what_holds_is_no_smaller(a in tree(), b in tree()) {
        let (a, b) = (drawn("x", a), drawn("x", b));
        if let (Some(before), Some(after), true) = (a.size(), b.size(), a.losses(&b).is_empty()) {
            prop_assert!(before <= after, "{before} > {after}");
        }
    }

    #[test]
    fn a_domain_survives_being_written_and_read(domain in domain()) {
        let text = serde_json::to_string(&domain).unwrap();
        prop_assert_eq!(serde_json::from_str::<Domain>(&text).unwrap(), domain);
    }
}

#[test]
fn big_integers_are_written_as_text_and_read_back() {
    for n in [BigInt::from(-1), BigInt::from(7) << 20_000, BigInt::from(-1) << 9_000] {
        let domain = drawn("x", Strategy::Integers { low: Some(n), high: None });
        let text = domain.to_json().to_string();
        assert!(text.contains("\"low\":\""), "{}", &text[..80]);
        assert_eq!(serde_json::from_str::<Domain>(&text).unwrap(), domain);
    }
    assert!(
        serde_json::from_str::<Domain>(
            r#"{"tables":[],"arguments":[{"name":"x","strategy":{"integers":{"low":"1x","high":null}}}],"unread":[]}"#
        )
        .is_err()
    );
}

#[test]
fn intervals_that_touch_are_one() {
    let joined = Strategy::one_of(vec![integers(0, 4), integers(5, 9), Strategy::Finite(BTreeSet::from(["7".to_owned()]))]);
    assert_eq!(joined, integers(0, 9));
    assert_eq!(Strategy::one_of(vec![integers(None, 4), integers(2, None)]), integers(None, None));
    let apart = Strategy::one_of(vec![integers(0, 4), integers(6, 9)]);
    assert!(matches!(apart, Strategy::OneOf(_)));
    assert!(!drawn("x", integers(0, 9)).losses(&drawn("x", apart)).is_empty());
}

#[test]
fn an_inverted_bound_floats_and_cases_with_bounds_are_opaque() {
    assert!(drawn("x", integers(5, 3)).opaque().is_some_and(|why| why.contains("inverted")));
    assert!(drawn("x", Strategy::Floats { low: None, high: None, rest: BTreeMap::new() }).opaque().is_some());
    let rows = BTreeSet::from([vec!["1".to_owned()]]);
    let table = Table { origin: Origin::Declared, names: vec!["a".to_owned()], rows, rest: BTreeSet::new() };
    let both = Domain { tables: vec![table], ..drawn("x", integers(0, 1)) };
    assert!(both.opaque().is_some_and(|why| why.contains("both")));
    assert_eq!(drawn("x", integers(0, 1)).opaque(), None);
}
