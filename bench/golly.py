#!/usr/bin/env python3
"""golly.py - every pattern of Golly's collection, by `stdcl bgolly` and by Golly's bgolly.

    bench/golly.py [options] [FILE or FOLDER ...]

A run is a whole process: start, reading, generations, report. Both programs run alternately, and
the table has medians of their processor time (user and system), the largest resident memory of one
more run, by GNU time, and the population at the end. The result is an object of JSON on standard
output, or in --output (bench/studies/cpu-life-golly.json).

bgolly must be told its algorithm: the first of ALGORITHMS that accepts the file is taken, HashLife
first for macrocell files. Files that one of the programs refuses or does not finish have no ratio,
but its reason. Exit status 1: a population differs.

SPDX-License-Identifier: MIT
"""
import argparse
import json
import math
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile

ALGORITHMS = ("QuickLife", "HashLife", "Generations", "Larger than Life", "JvN", "Super",
              "RuleLoader")
SUFFIXES = (".rle", ".rle3", ".mc", ".mcl", ".lif", ".cells", ".gz")  # bgolly reads no .zip


def files_of(paths):
    """The pattern files of files and folders, in the order of their names."""
    for path in paths:
        if os.path.isfile(path):
            yield path
        for folder, folders, names in os.walk(path):
            folders.sort()
            yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(SUFFIXES))


def run_once(command, seconds):
    """Run a command; return its processor seconds, its status, its output."""
    with tempfile.TemporaryFile() as out:
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), fd) for fd in (1, 2)]
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions,
                              setpgroup=0)

        def stop(*_):
            os.killpg(pid, signal.SIGKILL)

        signal.signal(signal.SIGALRM, stop)
        signal.alarm(seconds)
        _, status, usage = os.wait4(pid, 0)
        signal.alarm(0)
        out.seek(0)
        text = out.read().decode(errors="replace")
    return usage.ru_utime + usage.ru_stime, status, text


def peak_of(command, seconds):
    """Run a command; return its peak memory in bytes.

    GNU time starts the command. Started by Python, a small run would be reported with Python's own
    peak memory, which is larger. GNU time's own processor time is no part of `run_once`.
    """
    with tempfile.NamedTemporaryFile() as peak:
        run_once(["/usr/bin/time", "-q", "-f", "%M", "-o", peak.name, *command], seconds)
        return 1024 * int(peak.read().decode().strip() or 0)


def answer_of(status, text):
    """The last population of the output, or the reason for its absence."""
    lines = re.findall(r"^([\d,]+): ([\d,]+)$", text, re.M)
    if status == signal.SIGKILL:
        return None, "not finished in time"
    if status != 0 or not lines:
        said = [line for line in text.splitlines()
                if line and not line.startswith(("This is", "- "))]
        return None, said[-1][:200] if said else f"status {status}"
    return int(lines[-1][1].replace(",", "")), None


def algorithm_of(file, bgolly, seconds):
    """The first algorithm with which bgolly reads a file."""
    last = 1 if ".mc" in os.path.basename(file).replace(".mcl", "") else 0
    for name in ALGORITHMS[last:] + ALGORITHMS[:last]:
        if run_once([*bgolly, "-a", name, "-m", "0", file], seconds)[1] == 0:
            return name
    return ALGORITHMS[0]


def measure(file, programs, options):
    """Run the programs alternately on a file; return its row."""
    algorithm = algorithm_of(file, programs["bgolly"], options.seconds)
    programs = {**programs, "bgolly": [*programs["bgolly"], "-a", algorithm]}
    row = {"file": os.path.relpath(file, options.root), "algorithm": algorithm}
    runs = {name: [] for name in programs}
    for _ in range(options.runs):
        for name, command in programs.items():
            whole = [*command, "-m", str(options.generations), file]
            runs[name].append(run_once(whole, options.seconds))
        if any(used >= options.long for used, *_ in (runs[name][0] for name in programs)):
            break  # a long run needs no median
    for name, all_runs in runs.items():
        population, why = answer_of(*all_runs[0][1:])
        whole = [*programs[name], "-m", str(options.generations), file]
        row[name] = {
            "cpu_s": round(statistics.median(r[0] for r in all_runs), 5),
            "bytes": peak_of(whole, options.seconds),
            "population": population,
        }
        if why:
            row[name]["reason"] = why
    ours, theirs = (row[name] for name in programs)
    if ours["population"] is not None and theirs["population"] is not None:
        row["ratio"] = round(ours["cpu_s"] / theirs["cpu_s"], 3)
        row["equal"] = ours["population"] == theirs["population"]
    return row


def summary(rows):
    """Figures over all files that both programs finished with equal populations."""
    differ = [r["file"] for r in rows if not r.get("equal", True)]
    both = [r for r in rows
            if r.get("equal") and r["stdcl"]["bytes"] and r["bgolly"]["bytes"]]
    if not both:
        return {"files": len(rows), "compared": 0, "populations_that_differ": differ}
    mean = math.exp(statistics.fmean(math.log(r["ratio"]) for r in both))
    memory = math.exp(
        statistics.fmean(math.log(r["stdcl"]["bytes"] / r["bgolly"]["bytes"]) for r in both))
    worst = max(both, key=lambda r: r["ratio"])
    return {
        "files": len(rows),
        "compared": len(both),
        "geometric_mean_of_cpu_ratios": round(mean, 3),
        "geometric_mean_of_memory_ratios": round(memory, 3),
        "files_above_twice_the_cpu_time": sum(r["ratio"] > 2 for r in both),
        "files_above_a_tenth_of_a_second": sum(r["stdcl"]["cpu_s"] > 0.1 for r in both),
        "worst": {"file": worst["file"], "ratio": worst["ratio"]},
        "populations_that_differ": differ,
        "only_bgolly": [r["file"] for r in rows if r["stdcl"]["population"] is None
                        and r["bgolly"]["population"] is not None],
        "only_stdcl": [r["file"] for r in rows if r["bgolly"]["population"] is None
                       and r["stdcl"]["population"] is not None],
    }


def machine():
    """The processor's name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            return re.search(r"model name\s*: (.*)", f.read())[1]
    except (OSError, TypeError):
        return platform.machine()


def main():
    arguments = argparse.ArgumentParser(
        description="Compare stdcl bgolly with Golly's bgolly on pattern files.")
    arguments.add_argument("files", nargs="*", default=["/usr/share/golly/Patterns"])
    arguments.add_argument("--stdcl", default="build/bin/stdcl", help="the command")
    arguments.add_argument("--bgolly", default="bgolly", help="Golly's program")
    arguments.add_argument("--rules", default="/usr/share/golly/Rules",
                           help="folder of .rule files")
    arguments.add_argument("--generations", type=int, default=100)
    arguments.add_argument("--runs", type=int, default=3, help="of each program")
    arguments.add_argument("--every", type=int, default=1, help="measure every N-th file")
    arguments.add_argument("--seconds", type=int, default=60, help="limit of a run")
    arguments.add_argument("--long", type=float, default=2,
                           help="CPU seconds of a run that is not repeated")
    arguments.add_argument("--output", help="file of JSON (default: standard output)")
    options = arguments.parse_args()
    options.root = options.files[0] if os.path.isdir(options.files[0]) else "."
    rules = os.path.join(options.rules, "")
    programs = {"stdcl": [options.stdcl, "bgolly", "-s", rules],
                "bgolly": [options.bgolly, "-s", rules]}
    rows = []
    for file in list(files_of(options.files))[::options.every]:
        rows.append(measure(file, programs, options))
        print(rows[-1]["file"], *(rows[-1][n]["cpu_s"] for n in programs),
              rows[-1].get("ratio", "-"),
              "" if rows[-1].get("equal", True) else "POPULATIONS DIFFER",
              file=sys.stderr, flush=True)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True)
    result = {
        "what": "processor time and memory of whole processes on Golly's pattern files",
        "commit": commit.stdout.strip(),
        "machine": machine(),
        "generations": options.generations,
        "runs": options.runs,
        "every": options.every,
        "summary": summary(rows),
        "files": rows,
    }
    with open(options.output, "w", encoding="utf-8") if options.output else sys.stdout as out:
        head = {key: value for key, value in result.items() if key != "files"}
        text = json.dumps(head, indent=1)[:-2] + ',\n "files": [\n  '
        out.write(text + ",\n  ".join(json.dumps(r) for r in rows) + "\n ]\n}\n")
    return 1 if summary(rows).get("populations_that_differ") else 0


if __name__ == "__main__":
    sys.exit(main())
