"""Compares Seedgate's reading of Python with CPython's own `ast`, file by file, and the time both take.

usage: python3 benches/cards.py PATH-TO-BENCH-BINARY FOLDER...   (the binary: `cargo bench --no-run --bench cards` names it)

For every function at module or class level (under if, try, with, for, while and match too): line and number of `assert`
statements at any depth. Files that only one of the two accepts are listed. Exit 1 on any difference in counts.
"""
import ast
import json
import subprocess
import sys
import time
import warnings

warnings.simplefilter("ignore")
sys.setrecursionlimit(20000)


def functions(body):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node.body)
        else:
            for name in ("body", "orelse", "finalbody"):
                yield from functions(getattr(node, name, None) or [])
            for part in list(getattr(node, "handlers", [])) + list(getattr(node, "cases", [])):
                yield from functions(part.body)


def count(node):
    return sum(isinstance(n, ast.Assert) for n in ast.walk(node))


def seed_way(source):
    tree = ast.parse(source)
    return [count(n) for n in tree.body if isinstance(n, ast.FunctionDef)]


def every_way(source):
    return [count(n) for n in functions(ast.parse(source).body)]


def main():
    binary, folders = sys.argv[1], sys.argv[2:]
    out = subprocess.run([binary, *folders], capture_output=True, text=True, check=True).stdout.splitlines()
    rows, last = [json.loads(line) for line in out[:-1]], json.loads(out[-1])
    ours_only, theirs_only, differ, compared, asserts, sources = [], [], [], 0, 0, []
    for row in rows:
        with open(row["path"], "rb") as fh:
            source = fh.read()
        sources.append(source)
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if "functions" in row:
                ours_only.append((row["path"], str(error)))
            continue
        if "functions" not in row:
            theirs_only.append((row["path"], f"line {row['line']}: {row['refused']}"))
            continue
        want = sorted((n.lineno, count(n)) for n in functions(tree.body))
        got = sorted(map(tuple, row["functions"]))
        compared += len(want)
        asserts += sum(n for _, n in want)
        missing = [w for w in want if w[1] and w not in got]
        extra = [g for g in got if g not in want]
        if missing or extra:
            differ.append((row["path"], missing[:5], extra[:5]))
    best = {}
    for name, way in (("ast.parse alone", ast.parse), ("counts of top-level functions", seed_way), ("counts of every function", every_way)):
        best[name] = float("inf")
        for _ in range(2):
            start = time.process_time()
            for source in sources:
                try:
                    way(source)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    pass
            best[name] = min(best[name], time.process_time() - start)
    for title, found in (("only Seedgate accepts", ours_only), ("only CPython accepts", theirs_only), ("counts differ", differ)):
        print(f"{title}: {len(found)}")
        for entry in found[:20]:
            print("   ", *entry)
    print(f"{len(rows)} files, {last['bytes']} bytes, {compared} functions, {asserts} asserts; Seedgate {last['seconds']:.3f} s")
    for name, seconds in best.items():
        print(f"CPython, {name}: {seconds:.3f} s = {seconds / last['seconds']:.1f} x")
    sys.exit(1 if differ else 0)


main()
