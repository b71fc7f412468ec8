#!/usr/bin/python3
"""kills.py - runs of `stdcl nbody` that are killed by SIGKILL at random moments, go on from their checkpoint, and are compared, byte for
byte, with a run that was not: positions and velocities at the end, and the table of energies.

    /usr/bin/python3 bench/kills.py build/bin/stdcl 200 out.json [NAME...]

Each run of the table below, or those named, is killed so many times after its first checkpoint, and goes on once. `running`: how many
times it had not ended before. Takes an hour or more; `test_nbody_restart` does the same once for each.
SPDX-License-Identifier: MIT
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

RUNS = {
    "leapfrog": "-n 2000 --precision single --dt 1/256 --until 2.001",
    "leapfrog, double": "-n 1000 --precision double --dt 1/256 --until 2.001",
    "leapfrog, mixed": "-n 1000 --precision mixed --dt 1/256 --until 2.001",
    "leapfrog, adaptive": "-n 200 --dt 1/16 --until 1.001 --stepping adaptive --integrator leapfrog --eps 0.05",
    "yoshida4": "-n 700 --precision double --dt 1/256 --until 2.001 --integrator yoshida4",
    "yoshida4, adaptive": "-n 200 --dt 1/16 --until 1.001 --stepping adaptive --integrator yoshida4 --eps 0.1",
    "hermite4": "-n 1000 --precision double --dt 1/256 --until 2.001 --integrator hermite4",
    "hermite4, adaptive": "-n 200 --dt 1/16 --until 1.001 --stepping adaptive --eps 0.02",
    "hermite4, block": "-n 1000 --dt 1/16 --until 2.001 --stepping block --eps 0.02",
    "hermite6": "-n 1000 --precision double --dt 1/256 --until 2.001 --integrator hermite6",
    "taylor": "-n 2000 --precision single --dt 1/256 --until 2.001 --integrator taylor",
    "ias15": "-n 24 --dt 1/64 --until 3.001 --integrator ias15 --eps 0.02",
    "leapfrog, tree": "-n 5000 --dt 1/64 --until 1.501 --method tree",
    "leapfrog, tree, double": "-n 4000 --dt 1/64 --until 1.501 --method tree --precision double --accuracy 1e-4",
    "yoshida4, tree": "-n 3000 --dt 1/64 --until 1.001 --method tree --integrator yoshida4",
    "taylor, tree": "-n 5000 --dt 1/64 --until 1.501 --method tree --integrator taylor",
    "hermite6, adaptive": "-n 200 --dt 1/16 --until 1.001 --stepping adaptive --integrator hermite6 --eps 0.02",
    "ensemble": "-i SOLAR -G 0.00029591220828559115 --ensemble 200 --dt 4 --until 40000",
    "ensemble, whfast": "-i SOLAR -G 0.00029591220828559115 --ensemble 200 --dt 4 --until 40000 --integrator whfast",
    "ensemble, ias15": "-i SOLAR -G 0.00029591220828559115 --ensemble 8 --dt 100 --until 3000 --integrator ias15",
    "leapfrog, tree, block": "-n 4000 --dt 1/16 --until 1.501 --method tree --stepping block --eps 0.02",
}


def same(folder, one, other):
    with open(os.path.join(folder, one), "rb") as a, open(os.path.join(folder, other), "rb") as b:
        return a.read() == b.read()


def kill_once(words, folder, lasts):
    """Start the run, wait for its first checkpoint, kill it; return whether it was still
    running."""
    for name in ("part.npy", "part.csv", "c.ckpt"):
        if os.path.exists(os.path.join(folder, name)):
            os.unlink(os.path.join(folder, name))
    child = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None and not os.path.exists(os.path.join(folder, "c.ckpt")):
        time.sleep(0.002)
    time.sleep(random.uniform(0, lasts))
    ran = child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait()
    return ran


def save(out, rows):
    """Written completely after every kill, so that a stopped campaign keeps its results."""
    with open(out + ".part", "w", encoding="ascii") as fp:
        json.dump(rows, fp, indent=1)
    os.replace(out + ".part", out)


def campaign(command, options, kills, folder):
    """Yield the counts so far, after every kill."""
    solar = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "solar.tab")
    base = [command, "nbody", "-q"] + options.replace("SOLAR", solar).split()
    table, every = ("--elements", "500") if "--ensemble" in base else ("--csv", "1/32")
    subprocess.run(base + [table, "whole.csv", "-o", "whole.npy"], cwd=folder, check=True)
    part = base + [table, "part.csv", "-o", "part.npy", "--checkpoint", "c.ckpt", "--every", every]
    child = subprocess.Popen(part, cwd=folder)
    while child.poll() is None and not os.path.exists(os.path.join(folder, "c.ckpt")):
        time.sleep(0.002)
    began = time.time()
    child.wait()
    lasts = time.time() - began
    count = {"kills": 0, "running": 0, "resumed": 0, "equal": 0}
    for _ in range(kills):
        ran = kill_once(part, folder, lasts)
        count["kills"] += 1
        count["running"] += ran
        done = subprocess.run([command, "nbody", "--resume", "c.ckpt", "-q"], cwd=folder)
        count["resumed"] += done.returncode == 0
        count["equal"] += done.returncode == 0 and same(folder, "whole.npy", "part.npy") and same(folder, "whole.csv", "part.csv")
        yield count


def main():
    command, kills, out, names = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:] or list(RUNS)
    rows = []
    for name in names:
        folder = tempfile.mkdtemp(prefix="kills-")
        try:
            for count in campaign(command, RUNS[name], kills, folder):
                save(out, rows + [{"run": name, "options": RUNS[name], **count}])
            rows.append({"run": name, "options": RUNS[name], **count})
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
