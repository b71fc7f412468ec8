"""view.py - what viewers cost a run: its steps a second while one looks, or eight of whom one never reads, against those while nobody does.

    /usr/bin/python3 bench/view.py [OPTIONS] build/bench/view_clock nbody -n 2^20 --method tree --steps 1000000000
    /usr/bin/python3 bench/view.py [OPTIONS] build/bench/view_clock life --size 65536 --generations 1000000000000

    --turns N           so often viewers come and go (16)
    --seconds S         that they stay, and that nobody is there; each time between half of it and half as much again (1.5)
    --viewers 1,8       these by turns
    --count N           bodies that a viewer wants (200000)
    --zoom Z            squares of 2^Z cells that it wants (4), 1920 x 1080 of them
    --pan 1             it moves over the grid, 60 times a second
    --viewers-on CPUS   processors of the viewers, as 8-15: a browser is a thing of another machine
    --run-on CPUS       and of the run
    --keep FILE         the clock's lines, and when viewers came and went

All is one run, so that nothing differs but who looks. The command is the one of every day with a clock around its visits to the window
(bench/view_clock.c), so that steps and seconds are the run's own. `cost`: the time of the turns against what their steps take by the rates before and behind
each of them; `visits_percent`: the visits' share of that time; `server_percent`: the seconds of a
processor that the server's thread takes, as a share of that time; `bursts`: the median time of a step between visits, against that while nobody looks. from_to:
where these lie nineteen times of twenty, by drawing turns and bursts at random. A turn begins when the first viewer opens, so what that costs is in it;
compiling kernels is not. Needs python3-websockets, and a machine that has nothing else to do. Prints JSON.
SPDX-License-Identifier: MIT
"""
import asyncio
import bisect
import json
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time


class Viewer:
    """`said`: times of the pictures, their steps and sizes."""

    def __init__(self, link, want, reads=True, moves=False):
        self.link, self.want, self.reads, self.moves, self.said = link, want, reads, moves, []

    async def open(self):
        import websockets
        host, token = self.link.split("/")[2], self.link.split("#t=")[1]
        self.ws = await websockets.connect("ws://%s/live" % host, subprotocols=["stdcl-view.1", "token." + token], origin="http://" + host,
                                           compression=None, max_size=1 << 28, max_queue=None)
        await self.ws.send(json.dumps(self.want))
        await self.ws.send('{"type":"credit","n":%d}' % (2 if self.reads else 8))
        if self.reads:
            self.tasks = [asyncio.ensure_future(task()) for task in [self.read] + [self.pan] * self.moves]
        else:
            self.ws.transport.pause_reading()

    async def read(self):
        async for m in self.ws:
            if not isinstance(m, str):
                if m[0] != 5:
                    self.said.append((time.monotonic(), struct.unpack_from("<Q", m, 16)[0], len(m)))
                await self.ws.send('{"type":"credit","n":1}')

    async def pan(self):
        while True:
            self.want["cells"]["x"] += 16 << self.want["cells"]["zoom"]
            await self.ws.send(json.dumps(self.want))
            await asyncio.sleep(1 / 60)

    async def close(self):
        if self.reads:
            for task in self.tasks:
                task.cancel()
        self.ws.transport.abort()


def cpus_of(text):
    parts = [list(map(int, part.split("-"))) for part in text.split(",")]
    return {cpu for p in parts for cpu in range(p[0], p[-1] + 1)}


def worked(pid):
    """CPU seconds so far of the server's thread, which has nice 10."""
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        try:
            fields = open("/proc/%d/task/%s/stat" % (pid, task)).read().rsplit(")", 1)[1].split()
            total += int(open("/proc/%d/task/%s/schedstat" % (pid, task)).read().split()[0]) / 1e9 if fields[16] == "10" else 0
        except OSError:
            pass  # it has just ended
    return total


async def turn(options, link, want, n, seconds, pid):
    """Times when n viewers connected and left, and the messages of the first of them."""
    began, before = time.monotonic(), worked(pid)
    viewers = [Viewer(link, json.loads(json.dumps(want)), reads=k == 0 or k < n - 1, moves=bool(options["pan"])) for k in range(n)]
    for v in viewers:
        await v.open()
    while not viewers[0].said:
        await asyncio.sleep(0.01)
    await asyncio.sleep(seconds)
    ended, server = time.monotonic(), worked(pid) - before
    for v in viewers:
        await v.close()
    return {"viewers": n, "began": began, "ended": ended, "server": server, "said": viewers[0].said}


async def measure(options, command, clock):
    life = "life" in command
    want = ({"type": "want", "cells": {"x": 0, "y": 0, "width": 1920, "height": 1080, "zoom": int(options["zoom"])}} if life
            else {"type": "want", "points": {"count": int(float(options["count"])), "colour": "speed"}})
    process = subprocess.Popen([*command, "--quiet", "--view", "--view-wait"], stderr=subprocess.PIPE, text=True, env={**os.environ, "STDCL_VIEW_CLOCK": clock},
                               preexec_fn=(lambda: os.sched_setaffinity(0, cpus_of(options["run-on"]))) if options["run-on"] else None)
    link = process.stderr.readline().split("view at ")[1].strip()
    if options["viewers-on"]:
        os.sched_setaffinity(0, cpus_of(options["viewers-on"]))
    numbers, seconds, any_time = [int(n) for n in options["viewers"].split(",")], float(options["seconds"]), random.Random(1)
    await turn(options, link, want, max(numbers), seconds, process.pid)  # kernels are compiled
    await asyncio.sleep(seconds)
    turns = []
    for k in range(int(options["turns"]) * len(numbers)):
        turns.append(await turn(options, link, want, numbers[k % len(numbers)], seconds * any_time.uniform(0.5, 1.5), process.pid))
        await asyncio.sleep(seconds * any_time.uniform(0.5, 1.5))
    ended = time.monotonic()
    process.terminate()
    process.wait()
    return numbers, turns, ended


class Visits:
    """Records of the clock: begin and end of each call of the viewer, the step, the number of
    viewers."""

    def __init__(self, clock):
        self.began, self.ended, self.step, self.watched = zip(*[map(float, line.split()) for line in open(clock)])

    def between(self, a, b):
        """Steps, seconds, and seconds in the viewer, from the last call that ended before a to
        the last before b."""
        i, j = bisect.bisect(self.ended, a) - 1, bisect.bisect(self.ended, b) - 1
        return self.step[j] - self.step[i], self.ended[j] - self.ended[i], sum(self.ended[k] - self.began[k] for k in range(i + 1, j + 1))

    def bursts(self, n):
        """Seconds per step of the batches with n viewers at both ends."""
        return [(self.began[k] - self.ended[k - 1]) / (self.step[k] - self.step[k - 1]) for k in range(1, len(self.step))
                if self.watched[k] == self.watched[k - 1] == n and self.step[k] > self.step[k - 1]]


def interval(figure, *lists):
    """A figure computed from lists, and its 95 % confidence interval by bootstrap: each list
    resampled with replacement."""
    any_of = random.Random(1)
    drawn = sorted(figure(*[any_of.choices(x, k=len(x)) for x in lists]) for _ in range(2000))
    return {"percent": round(figure(*lists), 2), "from_to": [round(drawn[49], 2), round(drawn[1950], 2)]}


def mean_cost(turns):
    """Relative to the time of their steps alone."""
    return 100 * (sum(seconds for _, seconds, _, _ in turns) / sum(steps / alone for steps, _, _, alone in turns) - 1)


def ratio(some, others):
    return 100 * (statistics.median(some) / statistics.median(others) - 1)


def rows_of(visits, numbers, turns, ended):
    REST = 0.05  # a burst that somebody saw may still be at work
    alone = [visits.between(t["ended"] + REST, u) for t, u in zip(turns, [u["began"] for u in turns[1:]] + [ended])]
    rates = [steps / seconds for steps, seconds, _ in alone]
    for n in numbers:
        mine = [k for k in range(1, len(turns)) if turns[k]["viewers"] == n]
        seen = [(*visits.between(turns[k]["began"], turns[k]["ended"]), (rates[k - 1] + rates[k]) / 2) for k in mine]
        seconds = sum(s[1] for s in seen)
        yield {"viewers": n, "turns": len(mine), "seconds": round(seconds, 1), "cost": interval(mean_cost, seen),
               "visits_percent": round(100 * sum(s[2] for s in seen) / seconds, 2),
               "server_percent": round(100 * sum(turns[k]["server"] for k in mine) / seconds, 2), "bursts": interval(ratio, visits.bursts(n), visits.bursts(0)),
               "steps_a_second": round(sum(s[0] for s in seen) / seconds, 2), "alone": round(sum(a[0] for a in alone) / sum(a[1] for a in alone), 2),
               "pictures_a_second": round(sum(len(turns[k]["said"]) for k in mine) / seconds, 1),
               "megabytes_a_second": round(sum(x[2] for k in mine for x in turns[k]["said"]) / seconds / 1e6, 2)}


def main():
    command = sys.argv[1:]
    options = {"turns": "16", "seconds": "1.5", "viewers": "1,8", "count": "200000", "zoom": "4", "pan": "", "viewers-on": "", "run-on": "", "keep": ""}
    while command[0].startswith("--"):
        name = command.pop(0)[2:]
        options[name] = command.pop(0)
    with tempfile.TemporaryDirectory() as folder:
        clock = os.path.join(folder, "clock")
        numbers, turns, ended = asyncio.run(measure(options, command, clock))
        visits = Visits(clock)
        if options["keep"]:
            with open(options["keep"], "w") as file:
                json.dump([turns, ended, open(clock).read()], file)
    print(json.dumps({"command": " ".join(command[1:]), **{k: v for k, v in options.items() if v and k != "keep"},
                      "rows": list(rows_of(visits, numbers, turns, ended))}))


main()
