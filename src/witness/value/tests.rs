//! Tests of the JSON form.

use num_bigint::BigInt;
use num_traits::One as _;
use proptest::prelude::{Just, any, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Strategy as _;

use crate::witness::value::{Float, Input, MAX_BYTES, MAX_DEPTH, Value, ValueError};

fn written(value: &Value) -> String {
    serde_json::to_string(value).unwrap()
}

fn read(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[test]
fn every_kind_has_its_form() {
    let text = |t: &str| Value::Text(t.to_owned());
    let float = |f| Value::Float(Float::new(f));
    let table = [
        (Value::Null, "null"),
        (Value::Bool(true), "true"),
        (Value::int(-7), "-7"),
        (Value::int((1_i64 << 53) - 1), "9007199254740991"),
        (Value::int(1_i64 << 53), r#"{"$int":"9007199254740992"}"#),
        (Value::int(-(1_i64 << 53)), r#"{"$int":"-9007199254740992"}"#),
        (float(1.0), "1.0"),
        (float(-0.0), "-0.0"),
        (float(0.1), "0.1"),
        (float(f64::NAN), r#"{"$float":"nan"}"#),
        (float(f64::NEG_INFINITY), r#"{"$float":"-inf"}"#),
        (float(1e300), r#"{"$float":"1e300"}"#),
        (text("é\n"), r#""é\n""#),
        (Value::Bytes(vec![0, 255]), r#"{"$bytes":"00ff"}"#),
        (Value::List(vec![Value::int(1)]), "[1]"),
        (Value::Tuple(vec![]), r#"{"$tuple":[]}"#),
        (Value::set(vec![Value::int(2), Value::int(1), Value::int(2)]), r#"{"$set":[1,2]}"#),
        (Value::frozen_set(vec![]), r#"{"$frozenset":[]}"#),
        (Value::Map(vec![]), "{}"),
        (Value::Map(vec![(text("a"), Value::Null), (text("b"), Value::Null)]), r#"{"a":null,"b":null}"#),
        (Value::Map(vec![(text("b"), Value::Null), (text("a"), Value::Null)]), r#"{"$map":[["b",null],["a",null]]}"#),
        (Value::Map(vec![(text("$a"), Value::Null)]), r#"{"$map":[["$a",null]]}"#),
        (Value::Map(vec![(Value::int(1), Value::Null)]), r#"{"$map":[[1,null]]}"#),
    ];
    for (value, form) in table {
        assert_eq!(written(&value), form);
        assert_eq!(read(form), Ok(value), "{form}");
    }
    let huge: BigInt = BigInt::one() << 4096;
    assert!(written(&Value::Int(huge.clone())).starts_with(r#"{"$int":"0x1000"#));
    assert_eq!(read(&written(&Value::Int(-huge.clone()))), Ok(Value::Int(-huge)));
}

#[test]
fn what_could_mean_two_things_is_refused() {
    for text in [
        "123456789012345678901234567890",
        "1e300",
        r#"{"$int":1}"#,
        r#"{"$int":"1_0"}"#,
        r#"{"$int":""}"#,
        r#"{"$int":"+1"}"#,
        r#"{"$float":"infinity"}"#,
        r#"{"$bytes":"0"}"#,
        r#"{"$bytes":"0é"}"#,
        r#"{"$tuple":{}}"#,
        r#"{"$tuple":[],"a":1}"#,
        r#"{"a":1,"$tuple":[]}"#,
        r#"{"a":1,"a":2}"#,
        r#"{"$set":[1,1]}"#,
        r#"{"$map":[[1,2],[1,3]]}"#,
        r#"{"$map":[[1]]}"#,
        r#"{"$other":1}"#,
    ] {
        assert!(read(text).is_err(), "{text}");
    }
    assert!(Input::from_json(br#"{"a":1,"a":1}"#).is_err());
    assert!(Input::from_json(b"[1]").is_err());
}

#[test]
fn depth_and_length_are_bounded() {
    for (open, close) in [("[", "]"), (r#"{"$tuple":["#, "]}"), (r#"{"a":"#, "}")] {
        let nested = |depth| format!("{{\"x\":{}1{}}}", open.repeat(depth), close.repeat(depth));
        assert!(Input::from_json(nested(MAX_DEPTH / 2 - 1).as_bytes()).is_ok(), "{open}");
        for depth in [MAX_DEPTH + 1, 100, 100_000] {
            assert!(Input::from_json(nested(depth).as_bytes()).is_err(), "{open}");
        }
    }
    let long = format!("{{\"x\":\"{}\"}}", "a".repeat(MAX_BYTES));
    assert!(matches!(Input::from_json(long.as_bytes()), Err(ValueError::Long(_))));
    assert!(read(&format!(r#"{{"$int":"{}"}}"#, "9".repeat(5000))).is_err());
}

#[test]
fn the_digest_is_of_the_canonical_bytes() {
    let input = Input::from_json(br#"{ "xs": [1, 0, 1], "n": {"$int": "5"} }"#).unwrap();
    assert_eq!(input.to_json(), r#"{"n":5,"xs":[1,0,1]}"#);
    assert_eq!(input.input_sha256(), "d43a3f2106f7316c9ebeb684f6b9a3091126bb332c9f1940538338979dc129c8");
}

fn leaf() -> impl proptest::strategy::Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i128>().prop_map(Value::int),
        (-9_i64..9).prop_map(Value::int),
        any::<f64>().prop_map(|f| Value::Float(Float::new(f))),
        "[$a-c]{0,3}".prop_map(Value::Text),
        proptest::collection::vec(any::<u8>(), 0..4).prop_map(Value::Bytes),
    ]
}

fn tree() -> impl proptest::strategy::Strategy<Value = Value> {
    leaf().prop_recursive(4, 32, 4, |inner| {
        let parts = || proptest::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            parts().prop_map(Value::List),
            parts().prop_map(Value::Tuple),
            parts().prop_map(Value::set),
            parts().prop_map(Value::frozen_set),
            proptest::collection::btree_map(inner.clone(), inner.clone(), 0..4).prop_map(|m| Value::Map(m.into_iter().rev().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_survives_both_readers(value in tree()) {
        let text = written(&value);
        prop_assert_eq!(&read(&text).unwrap(), &value);
        let loose: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&serde_json::from_value::<Value>(loose).unwrap(), &value);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}\":,$a-z0-9.e-]{0,40}") {
        let _ = Input::from_json(text.as_bytes());
    }
}
