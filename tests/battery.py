#!/usr/bin/env python3
"""Names the battery cases that Seedgate judges today, and counts their results.

battery.py CASES          the ids of CASES that are in scope, one a line
battery.py --count JSON   `PASSED FAILED` of a run's report
"""
import json
import pathlib
import sys
import tomllib

# A language joins here when the program reads it; nothing leaves.
LANGUAGES = {"python", "rust"}
FAILURES = {"MISS", "FALSE ALARM", "ERROR"}


def in_scope(folder):
    for path in sorted(pathlib.Path(folder).rglob("*.toml")):
        case = tomllib.loads(path.read_text())
        if case["language"] in LANGUAGES:
            yield case["id"]


def count(report):
    try:
        cases = json.loads(pathlib.Path(report).read_text())["cases"]
    except (OSError, ValueError, KeyError):
        return 0, 1
    failed = sum(case["verdict"] in FAILURES and not case["disputed"] for case in cases)
    return len(cases) - failed, failed


if __name__ == "__main__":
    if sys.argv[1] == "--count":
        print(*count(sys.argv[2]))
    else:
        print(*in_scope(sys.argv[1]), sep="\n")
