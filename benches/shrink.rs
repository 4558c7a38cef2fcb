//! The public shrinking challenge: a line of JSON a start, with the start, what it shrank to and how often the predicate was called.
//! `benches/shrink.py` runs Hypothesis on the same starts and prints the table.

#![expect(clippy::print_stdout, reason = "a bench prints its result")]
#![expect(clippy::unwrap_used, reason = "a broken bench says so")]

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use num_traits::ToPrimitive as _;
use seedgate::strength::domain::{Argument, Domain, Strategy};
use seedgate::witness::generate::Plan;
use seedgate::witness::shrink::shrink;
use seedgate::witness::value::{Input, Value};
use serde_json::json;

const STARTS: usize = 100;
const STEPS: u64 = 5_000;
/// Ends of numbers that have none in the challenge.
const FAR: i64 = 1 << 40;

struct Challenge {
    name: &'static str,
    arguments: Vec<(&'static str, Strategy)>,
    /// Makes what is drawn likelier to fail.
    nudge: fn(&mut BTreeMap<String, Value>),
    fails: fn(&Input) -> bool,
}

fn main() {
    for challenge in challenges() {
        let arguments =
            challenge.arguments.iter().map(|(name, strategy)| Argument { name: (*name).to_owned(), strategy: strategy.clone() });
        let plan = Plan::of(&Domain { arguments: arguments.collect(), ..Domain::default() }).unwrap();
        let drawn = (0..).map(|n| {
            let mut input = plan.draw(2024, n);
            (challenge.nudge)(&mut input.0);
            input
        });
        let starts = drawn.filter(|input| plan.contains(input) && (challenge.fails)(input)).take(STARTS);
        for start in starts {
            let shrunk = shrink(&plan, &start, STEPS, &mut |input| Ok::<bool, Infallible>((challenge.fails)(input))).unwrap();
            let line = json!({"challenge": challenge.name, "start": start, "final": shrunk.input, "calls": shrunk.steps});
            println!("{line}");
        }
    }
}

fn integers(low: i64, high: i64) -> Strategy {
    Strategy::Integers { low: Some(low.into()), high: Some(high.into()) }
}

fn lists(of: Strategy, min: u64, max: Option<u64>) -> Strategy {
    Strategy::Many { what: "lists".to_owned(), of: vec![of], min, max, rest: BTreeMap::new() }
}

fn just(key: &str) -> Strategy {
    Strategy::Finite(BTreeSet::from([key.to_owned()]))
}

fn any() -> Strategy {
    integers(-FAR, FAR)
}

fn expression(depth: u32) -> Strategy {
    if depth == 0 {
        return any();
    }
    let operation = |sign| Strategy::Tuples(vec![just(sign), expression(depth - 1), expression(depth - 1)]);
    Strategy::OneOf(vec![any(), operation("'+'"), operation("'/'")])
}

fn heap(depth: u32) -> Strategy {
    if depth == 0 {
        return just("None");
    }
    Strategy::OneOf(vec![just("None"), Strategy::Tuples(vec![any(), heap(depth - 1), heap(depth - 1)])])
}

fn challenges() -> Vec<Challenge> {
    let as_drawn: fn(&mut BTreeMap<String, Value>) = |_| ();
    let of = |name, arguments, nudge, fails| Challenge { name, arguments, nudge, fails };
    let difference = || vec![("x", integers(1, FAR)), ("y", integers(1, FAR))];
    let short = || lists(integers(-32_768, 32_767), 0, Some(10));
    vec![
        of("bound5", vec![("x", Strategy::Tuples(vec![short(), short(), short(), short(), short()]))], as_drawn, bound5),
        of("large_union_list", vec![("x", lists(lists(any(), 0, None), 0, None))], as_drawn, |i| {
            lists_of(x(i)).concat().into_iter().collect::<BTreeSet<_>>().len() > 4
        }),
        of("reverse", vec![("x", lists(any(), 0, None))], as_drawn, |i| !ints(x(i)).iter().eq(ints(x(i)).iter().rev())),
        of("calculator", vec![("x", expression(5))], as_drawn, |i| has_no_plain_zero(x(i)) && evaluated(x(i)).is_none()),
        of("length_list", vec![("x", lists(integers(0, 1_000), 1, Some(100)))], as_drawn, |i| ints(x(i)).into_iter().max() >= Some(900)),
        of("difference_not_zero", difference(), near::<0>, |i| {
            let (x, y) = both(i);
            x >= 10 && x == y
        }),
        of("difference_not_small", difference(), near::<4>, |i| {
            let (x, y) = both(i);
            x >= 10 && (1..=4).contains(&x.abs_diff(y))
        }),
        of("difference_not_one", difference(), near::<1>, |i| {
            let (x, y) = both(i);
            x >= 10 && x.abs_diff(y) == 1
        }),
        of("coupling", vec![("x", lists(integers(0, 10), 0, None))], coupled, |i| {
            let list: Vec<usize> = ints(x(i)).into_iter().map(|n| usize::try_from(n).unwrap()).collect();
            list.iter().all(|n| *n < list.len()) && list.iter().enumerate().any(|(at, n)| at != *n && list[*n] == at)
        }),
        of("deletion", vec![("x", lists(any(), 0, None)), ("y", any())], twice, |i| {
            let (list, y) = (ints(x(i)), int(&i.0["y"]));
            list.iter().filter(|n| **n == y).count() > 1
        }),
        of("distinct", vec![("x", lists(any(), 0, None))], as_drawn, |i| ints(x(i)).into_iter().collect::<BTreeSet<_>>().len() > 2),
        of("nested_lists", vec![("x", lists(lists(any(), 0, None), 0, None))], as_drawn, |i| lists_of(x(i)).concat().len() > 10),
        of("binheap", vec![("x", heap(6))], heaped, |i| {
            let heap = x(i);
            let (all, wrong) = (flat(heap), wrongly_sorted(heap));
            let mut sorted = all.clone();
            sorted.sort_unstable();
            is_heap(heap) && wrong != sorted
        }),
    ]
}

fn x(input: &Input) -> &Value {
    &input.0["x"]
}

fn int(value: &Value) -> i64 {
    if let Value::Int(n) = value { n.to_i64().unwrap() } else { 0 }
}

fn parts(value: &Value) -> &[Value] {
    if let Value::List(parts) | Value::Tuple(parts) = value { parts } else { &[] }
}

fn ints(value: &Value) -> Vec<i64> {
    parts(value).iter().map(int).collect()
}

fn lists_of(value: &Value) -> Vec<Vec<i64>> {
    parts(value).iter().map(ints).collect()
}

fn both(input: &Input) -> (i64, i64) {
    (int(&input.0["x"]), int(&input.0["y"]))
}

fn bound5(input: &Input) -> bool {
    let sum = |list: &[i64]| list.iter().fold(0_i16, |sum, n| sum.wrapping_add(i16::try_from(*n).unwrap()));
    let lists = lists_of(x(input));
    lists.iter().all(|list| sum(list) < 256) && sum(&lists.concat()) >= 5 * 256
}

/// Puts y beside x.
fn near<const MOST: i64>(arguments: &mut BTreeMap<String, Value>) {
    let (x, y) = (int(&arguments["x"]), int(&arguments["y"]));
    arguments.insert("y".to_owned(), Value::int(x - y.rem_euclid(2 * MOST + 1) + MOST));
}

fn coupled(arguments: &mut BTreeMap<String, Value>) {
    let list = ints(&arguments["x"]);
    let length = i64::try_from(list.len().max(1)).unwrap();
    arguments.insert("x".to_owned(), Value::List(list.into_iter().map(|n| Value::int(n % length)).collect()));
}

fn twice(arguments: &mut BTreeMap<String, Value>) {
    let mut list = parts(&arguments["x"]).to_vec();
    let y = arguments["y"].clone();
    list.insert(list.len() / 2, y.clone());
    list.push(y);
    arguments.insert("x".to_owned(), Value::List(list));
}

fn has_no_plain_zero(value: &Value) -> bool {
    match parts(value) {
        [Value::Text(sign), _, below] if sign == "/" && *below == Value::int(0) => false,
        [_, left, right] => has_no_plain_zero(left) && has_no_plain_zero(right),
        _ => true,
    }
}

/// `None` when it divides by zero.
fn evaluated(value: &Value) -> Option<i128> {
    match parts(value) {
        [Value::Text(sign), left, right] => {
            let (left, right) = (evaluated(left)?, evaluated(right)?);
            if sign == "+" { Some(left + right) } else { (right != 0).then(|| floored(left, right)) }
        }
        _ => Some(i128::from(int(value))),
    }
}

fn floored(left: i128, right: i128) -> i128 {
    let down = left % right != 0 && (left < 0) != (right < 0);
    left / right - i128::from(down)
}

/// Makes a heap of a tree: every head is its parent's plus something.
fn heaped(arguments: &mut BTreeMap<String, Value>) {
    fn under(value: &Value, least: i64) -> Value {
        match parts(value) {
            [head, left, right] => {
                let head = least + int(head).rem_euclid(50);
                Value::Tuple(vec![Value::int(head), under(left, head), under(right, head)])
            }
            _ => Value::Null,
        }
    }
    let heap = under(&arguments["x"], -100);
    arguments.insert("x".to_owned(), heap);
}

fn is_heap(heap: &Value) -> bool {
    match parts(heap) {
        [head, left, right] => {
            [left, right].iter().all(|child| parts(child).first().is_none_or(|below| int(head) <= int(below)) && is_heap(child))
        }
        _ => true,
    }
}

fn flat(heap: &Value) -> Vec<i64> {
    let (mut found, mut waiting) = (Vec::new(), vec![heap.clone()]);
    while let Some(heap) = waiting.pop() {
        if let [head, left, right] = parts(&heap) {
            found.push(int(head));
            waiting.extend([left.clone(), right.clone()]);
        }
    }
    found
}

fn merged(one: &Value, other: &Value) -> Value {
    match (parts(one), parts(other)) {
        ([], _) => other.clone(),
        (_, []) => one.clone(),
        ([head, left, right], [second, ..]) if int(head) <= int(second) => {
            Value::Tuple(vec![head.clone(), merged(right, other), left.clone()])
        }
        (_, [head, left, right]) => Value::Tuple(vec![head.clone(), merged(right, one), left.clone()]),
        _ => Value::Null,
    }
}

fn wrongly_sorted(heap: &Value) -> Vec<i64> {
    match parts(heap) {
        [head, left, right] => [vec![int(head)], flat(&merged(left, right))].concat(),
        _ => Vec::new(),
    }
}
