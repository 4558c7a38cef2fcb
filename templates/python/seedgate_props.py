"""Declares what a plain property is called with, in literals that a reader of the file can check. Copy it beside the tests.

    from seedgate_props import bounds, cases

    @bounds(n=(0, 100))          # whole numbers, both ends included
    def prop_balance(n): ...

    @cases([(1, 2), (3, 4)])     # rows, one value an argument
    def prop_order(a, b): ...

Seedgate draws the inputs itself. Under pytest (with `python_functions = ["test_*", "prop_*"]`) a property runs on its rows, or on the ends
and the middle of its bounds.
"""

import inspect
import itertools

try:
    from pytest import mark
except ImportError:
    mark = None


def bounds(**ends):
    def declare(function):
        if mark is None:
            return function
        points = [sorted({low, (low + high) // 2, high}) for low, high in ends.values()]
        rows = [row if len(ends) > 1 else row[0] for row in itertools.product(*points)]
        return mark.parametrize(",".join(ends), rows)(function)

    return declare


def cases(rows):
    def declare(function):
        if mark is None:
            return function
        names = list(inspect.signature(function).parameters)
        return mark.parametrize(",".join(names), list(rows))(function)

    return declare
