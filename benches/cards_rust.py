"""The Rust reader beside rustfmt on the same files: what each refuses, and files a second.

    cargo build --release --bench cards
    python3 benches/cards_rust.py target/release/deps/cards-… FOLDER…
"""

import json
import os
import subprocess
import sys
import time


def files(folders):
    for folder in folders:
        for here, inside, names in os.walk(folder):
            inside[:] = [name for name in inside if name not in (".git", "target")]
            yield from (os.path.join(here, name) for name in sorted(names) if name.endswith(".rs"))


def main():
    reader, folders = sys.argv[1], sys.argv[2:]
    lines = subprocess.run([reader, "--rust", "--bench", *folders], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    total, refused = rows.pop(), {row["path"]: row["refused"] for row in rows if "refused" in row}
    start, broken = time.monotonic(), set()
    for path in files(folders):
        command = ["rustfmt", "--check", "--edition", "2024", "--config", "skip_children=true", path]
        run = subprocess.run(command, capture_output=True, text=True)
        if "error" in run.stderr and "skip_children" not in run.stderr:
            broken.add(path)
    spent = time.monotonic() - start
    print(json.dumps({
        "files": total["files"], "bytes": total["bytes"], "reader_seconds": round(total["seconds"], 3),
        "reader_files_a_second": round(total["files"] / total["seconds"]), "rustfmt_seconds": round(spent, 1),
        "rustfmt_files_a_second": round(total["files"] / spent, 1), "refused": len(refused),
    }))
    for path, why in sorted(refused.items()):
        print("refused by the reader", "and rustfmt" if path in broken else "alone", path, why)


if __name__ == "__main__":
    main()
