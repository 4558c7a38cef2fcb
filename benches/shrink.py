"""The public shrinking challenge: Seedgate's reducers beside Hypothesis, from the same starting values.

    cargo bench --bench shrink | python3 benches/shrink.py        (needs `pip install hypothesis`)

The challenges are re-created from their public descriptions (github.com/jlink/shrinking-challenge). Each line of the bench is one
start; Hypothesis is given the choices that draw exactly that value, and shrinks it with its own engine. Calls are those of the predicate.
"""

import json
import random
import statistics
import sys

from hypothesis import HealthCheck, Phase, settings, strategies as st
from hypothesis.control import BuildContext
from hypothesis.internal.conjecture.data import ConjectureData, Status
from hypothesis.internal.conjecture.engine import ConjectureRunner, RunIsComplete

FAR = 1 << 40


# Descriptions of strategies: as Hypothesis builds them, and the choices that draw a value.
def integers(low, high):
    return st.integers(low, high), lambda v: [v]


def lists(of, low=0, high=None):
    strategy, choices = of

    def enc(value):
        out = []
        for part in value:
            out.append(True)
            out += choices(part)
        return out + [False]

    return st.lists(strategy, min_size=low, max_size=high), enc


def tuples(*of):
    return st.tuples(*[s for s, _ in of]), lambda v: [c for (_, choices), part in zip(of, v) for c in choices(part)]


def just(value):
    return st.just(value), lambda v: []


def one_of(tag, *of):
    def enc(value):
        at = tag(value)
        return [at] + of[at][1](value)

    return st.one_of(*[s for s, _ in of]), enc


def anyint():
    return integers(-FAR, FAR)


def expression(depth):
    if depth == 0:
        return anyint()
    below = expression(depth - 1)
    tag = lambda v: 0 if isinstance(v, int) else 1 + "+/".index(v[0])
    return one_of(tag, anyint(), tuples(just("+"), below, below), tuples(just("/"), below, below))


def heap(depth):
    if depth == 0:
        return just(None)
    below = heap(depth - 1)
    return one_of(lambda v: 0 if v is None else 1, just(None), tuples(anyint(), below, below))


def wrapped(numbers):
    total = sum(numbers) & 0xFFFF
    return total - 0x10000 if total > 0x7FFF else total


def bound5(x):
    return all(wrapped(part) < 256 for part in x) and wrapped([n for part in x for n in part]) >= 5 * 256


def plain_zero(e):
    if isinstance(e, int):
        return False
    return (e[0] == "/" and e[2] == 0) or plain_zero(e[1]) or plain_zero(e[2])


def evaluated(e):
    if isinstance(e, int):
        return e
    left, right = evaluated(e[1]), evaluated(e[2])
    return left + right if e[0] == "+" else left // right


def calculator(x):
    if plain_zero(x):
        return False
    try:
        evaluated(x)
    except ZeroDivisionError:
        return True
    return False


def coupling(x):
    return all(n < len(x) for n in x) and any(at != n and x[n] == at for at, n in enumerate(x))


def flat(h):
    found, waiting = [], [h]
    while waiting:
        h = waiting.pop()
        if h is not None:
            found.append(h[0])
            waiting += [h[1], h[2]]
    return found


def merged(one, other):
    if one is None:
        return other
    if other is None:
        return one
    if one[0] <= other[0]:
        return (one[0], merged(one[2], other), one[1])
    return (other[0], merged(other[2], one), other[1])


def is_heap(h):
    return h is None or all((c is None or h[0] <= c[0]) and is_heap(c) for c in h[1:])


def binheap(x):
    wrong = [] if x is None else [x[0]] + flat(merged(x[1], x[2]))
    return is_heap(x) and wrong != sorted(flat(x))


def near(low, high):
    return lambda x, y: x >= 10 and low <= abs(x - y) <= high


def distinct(x, least=3):
    return len(set(x)) >= least


short = lists(integers(-32768, 32767), 0, 10)
union = lists(lists(anyint()))
flatten = lambda x: [n for part in x for n in part]
ONE = lambda of: {"x": of}
TWO = {"x": integers(1, FAR), "y": integers(1, FAR)}

CHALLENGES = {
    "bound5": (ONE(tuples(*[short] * 5)), bound5, lambda x: sorted(flatten(x)) == [-32768, -1]),
    "large_union_list": (ONE(union), lambda x: distinct(flatten(x), 5), lambda x: x == [[0, 1, -1, 2, -2]]),
    "reverse": (ONE(lists(anyint())), lambda x: x != x[::-1], lambda x: x in ([0, 1], [1, 0])),
    "calculator": (ONE(expression(5)), calculator, lambda x: x == ("/", 0, ("+", 0, 0))),
    "length_list": (ONE(lists(integers(0, 1000), 1, 100)), lambda x: max(x) >= 900, lambda x: x == [900]),
    "difference_not_zero": (TWO, near(0, 0), lambda x, y: (x, y) == (10, 10)),
    "difference_not_small": (TWO, near(1, 4), lambda x, y: (x, y) == (10, 6)),
    "difference_not_one": (TWO, near(1, 1), lambda x, y: (x, y) == (10, 9)),
    "coupling": (ONE(lists(integers(0, 10))), coupling, lambda x: x == [1, 0]),
    "deletion": ({"x": lists(anyint()), "y": anyint()}, lambda x, y: x.count(y) > 1, lambda x, y: (x, y) == ([0, 0], 0)),
    "distinct": (ONE(lists(anyint())), distinct, lambda x: sorted(x, key=lambda n: (abs(n), n < 0)) in ([0, 1, -1], [0, 1, 2])),
    "nested_lists": (ONE(union), lambda x: len(flatten(x)) > 10, lambda x: x == [[0] * 11]),
    "binheap": (ONE(heap(6)), binheap, lambda x: len(flat(x)) == 4 and sorted(flat(x)) == [0, 0, 0, 1]),
}


def plain(value):
    if isinstance(value, dict):
        (inner,) = value.values()
        return tuple(plain(v) for v in inner) if "$tuple" in value else {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value


def weight(value):
    if isinstance(value, (list, tuple)):
        return 1 + sum(weight(v) for v in value)
    return 1 + len(value) if isinstance(value, str) else 1


def hypothesis(arguments, fails, start):
    """Shrinks a start with Hypothesis: the final arguments and how often the predicate was called."""
    seen = {"calls": 0}

    def test(data):
        with BuildContext(data, is_final=False, wrapped_test=hypothesis):
            drawn = {name: data.draw(strategy) for name, (strategy, _) in arguments.items()}
        seen["calls"] += 1
        seen["last"] = drawn
        if fails(**drawn):
            data.mark_interesting("fails")

    config = settings(database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink])
    runner = ConjectureRunner(test, settings=config, random=random.Random(0))
    choices = [choice for name, (_, enc) in arguments.items() for choice in enc(start[name])]
    data = runner.cached_test_function(choices)
    if data.status != Status.INTERESTING or seen["last"] != start:
        raise SystemExit(f"the choices do not draw the start: {start} {seen['last']}")
    seen["calls"] = -1  # the engine replays the start first
    try:
        runner.shrink_interesting_test_cases()
    except RunIsComplete:
        pass
    (best,) = runner.interesting_test_cases.values()
    data = ConjectureData.for_choices(best.choices)
    with BuildContext(data, is_final=False, wrapped_test=hypothesis):
        return {name: data.draw(strategy) for name, (strategy, _) in arguments.items()}, seen["calls"]


def main():
    rows = {}
    for line in sys.stdin:
        if line.startswith("{"):
            row = json.loads(line)
            rows.setdefault(row["challenge"], []).append(row)
    print(f"{'challenge':22}{'starts':>7}{'start size':>11} |{'minimum':>9}{'size':>6}{'calls':>7} |{'minimum':>9}{'size':>6}{'calls':>7}{'ratio':>7}")
    ratios = []
    for name, (arguments, fails, is_minimum) in CHALLENGES.items():
        if name not in rows:
            continue
        ours, theirs, sizes = [], [], []
        for row in rows.get(name, []):
            start = {key: plain(value) for key, value in row["start"].items()}
            final = {key: plain(value) for key, value in row["final"].items()}
            assert fails(**start) and fails(**final), (name, start, final)
            sizes.append(sum(weight(v) for v in start.values()))
            ours.append((is_minimum(**final), sum(weight(v) for v in final.values()), row["calls"]))
            if not is_minimum(**final) and "--verbose" in sys.argv:
                print("  ", name, start, "->", final)
            found, calls = hypothesis(arguments, fails, start)
            theirs.append((is_minimum(**found), sum(weight(v) for v in found.values()), calls))
        share = lambda of: 100 * sum(m for m, _, _ in of) / len(of)
        middle = lambda of, at: statistics.median(one[at] for one in of)
        ratio = middle(ours, 2) / middle(theirs, 2)
        ratios.append(ratio)
        print(
            f"{name:22}{len(ours):7}{statistics.median(sizes):11.0f} |{share(ours):8.0f}%{middle(ours, 1):6.0f}{middle(ours, 2):7.0f}"
            f" |{share(theirs):8.0f}%{middle(theirs, 1):6.0f}{middle(theirs, 2):7.0f}{ratio:7.2f}"
        )
    print(f"median ratio of calls: {statistics.median(ratios):.2f} (left: seedgate, right: Hypothesis)")


if __name__ == "__main__":
    main()
