"""Interleaved sampling: every round runs every variant once, in a shuffled order, so that load and caches hit all of them alike."""
import json
import os
import random
import statistics
import subprocess
import time


def environment(home):
    """A user of one's own: no configuration, cache or daemon of the machine's takes part."""
    kept = {name: os.environ[name] for name in ("PATH", "RUSTUP_HOME", "CARGO_HOME") if name in os.environ}
    folders = {name: os.path.join(home, name.lower()) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")}
    for folder in folders.values():
        os.makedirs(folder, mode=0o700, exist_ok=True)
    who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in (("NAME", "Bench"), ("EMAIL", "bench@example.invalid"))}
    return {**kept, **folders, **who, "HOME": home, "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0"}


def run(command, env, cwd=None, codes=(0,), **more):
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, **more)
    if done.returncode not in codes:
        raise SystemExit(f"{command} in {cwd}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def milliseconds(act):
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


def interleave(variants, rounds, warm=3, seed=1):
    """{name: [ms of each round]}; `variants` maps names to functions that return milliseconds."""
    dice, samples = random.Random(seed), {name: [] for name in variants}
    for number in range(-warm, rounds):
        for name in dice.sample(list(variants), len(variants)):
            ms = variants[name]()
            if number >= 0:
                samples[name].append(ms)
    return samples


def summary(samples, base):
    """Median, quartiles, and the median of the differences to `base` taken round by round."""
    rows = {}
    for name, ms in samples.items():
        quarter = statistics.quantiles(ms, n=4) if len(ms) > 1 else [ms[0]] * 3
        added = statistics.median(a - b for a, b in zip(ms, samples[base]))
        rows[name] = {"median": statistics.median(ms), "q1": quarter[0], "q3": quarter[2], "added": added,
                      "ratio": statistics.median(ms) / statistics.median(samples[base])}
    return rows


def table(title, rows):
    print(f"\n{title}\n{'':<26}{'median ms':>10}{'q1':>9}{'q3':>9}{'added ms':>10}{'ratio':>8}")
    for name, row in rows.items():
        print(f"{name:<26}{row['median']:>10.2f}{row['q1']:>9.2f}{row['q3']:>9.2f}{row['added']:>+10.2f}{row['ratio']:>8.3f}")


def goal(says, value, most):
    met = value <= most
    print(f"{'met ' if met else 'MISS'}  {says}: {value:.3f} (goal <= {most})")
    return {"goal": says, "value": value, "most": most, "met": met}


def save(path, result):
    if path:
        with open(path, "w") as file:
            json.dump(result, file, indent=1)
