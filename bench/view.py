"""view.py - what viewers cost a run: its steps a second while one looks, or eight of whom one never reads, against those while nobody does.

    /usr/bin/python3 bench/view.py [OPTIONS] STDCL nbody -n 2^20 --method tree --steps 1000000000
    /usr/bin/python3 bench/view.py [OPTIONS] STDCL life --size 65536 --generations 1000000000000

    --turns N           so often viewers come and go (9)
    --seconds S         that they stay, and that nobody is there (1.5)
    --viewers 1,8       these by turns
    --count N           bodies that a viewer wants (200000)
    --zoom Z            squares of 2^Z cells that it wants (4), 1920 x 1080 of them
    --pan 1             it moves over the grid, 60 times a second
    --viewers-on CPUS   processors of the viewers, as 8-15: a browser is a thing of another machine
    --run-on CPUS       and of the run

All is one run, so that nothing differs but who looks: rates are the steps between two pictures, the first and the last that the first viewer gets each
time, over the time between these; and what is between a last and the next first is nobody's. A row has the median of the turns, each against the
mean of what is before and after it. Needs python3-websockets, and a machine that has nothing else to do. Prints JSON.
SPDX-License-Identifier: MIT
"""
import asyncio
import json
import os
import statistics
import struct
import subprocess
import sys
import time


class Viewer:
    """`said`: when pictures came, their steps and sizes."""

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


async def turn(options, link, want, n):
    """What the first of n viewers was told while they looked."""
    viewers = [Viewer(link, json.loads(json.dumps(want)), reads=k == 0 or k < n - 1, moves=bool(options["pan"])) for k in range(n)]
    for v in viewers:
        await v.open()
    while len(viewers[0].said) < 3:
        await asyncio.sleep(0.01)
    await asyncio.sleep(float(options["seconds"]))
    for v in viewers:
        await v.close()
    return viewers[0].said[1:]  # the first picture may be of before


def rate(a, b):
    return (b[1] - a[1]) / (b[0] - a[0])


async def measure(options, command):
    life = "life" in command
    want = ({"type": "want", "cells": {"x": 0, "y": 0, "width": 1920, "height": 1080, "zoom": int(options["zoom"])}} if life
            else {"type": "want", "points": {"count": int(float(options["count"])), "colour": "speed"}})
    process = subprocess.Popen([*command, "--quiet", "--view", "--view-wait"], stderr=subprocess.PIPE, text=True,
                               preexec_fn=(lambda: os.sched_setaffinity(0, cpus_of(options["run-on"]))) if options["run-on"] else None)
    link = process.stderr.readline().split("look at ")[1].strip()
    if options["viewers-on"]:
        os.sched_setaffinity(0, cpus_of(options["viewers-on"]))
    numbers = [int(n) for n in options["viewers"].split(",")]
    await turn(options, link, want, 1)  # kernels are compiled
    await asyncio.sleep(float(options["seconds"]))
    said = []
    for k in range(int(options["turns"]) * len(numbers) + 1):
        n = numbers[k % len(numbers)]
        said.append((n, await turn(options, link, want, n)))
        await asyncio.sleep(float(options["seconds"]))
    process.terminate()
    process.wait()
    return numbers, said


def rows_of(numbers, said):
    alone = [rate(a[1][-1], b[1][0]) for a, b in zip(said, said[1:])]
    for n in numbers:
        costs, pictures, size, seen = [], [], [], []
        for k in range(1, len(said) - 1):
            if said[k][0] == n:
                s = said[k][1]
                seen.append(rate(s[0], s[-1]))
                costs.append(100 * ((alone[k - 1] + alone[k]) / 2 / seen[-1] - 1))
                pictures.append((len(s) - 1) / (s[-1][0] - s[0][0]))
                size.append(sum(x[2] for x in s[1:]) / (s[-1][0] - s[0][0]))
        yield {"viewers": n, "cost_percent": round(statistics.median(costs), 2), "of_turns": [round(c, 2) for c in costs],
               "steps_a_second": round(statistics.median(seen), 2), "alone": round(statistics.median(alone), 2),
               "pictures_a_second": round(statistics.median(pictures), 1), "megabytes_a_second": round(statistics.median(size) / 1e6, 2)}


def main():
    command = sys.argv[1:]
    options = {"turns": "9", "seconds": "1.5", "viewers": "1,8", "count": "200000", "zoom": "4", "pan": "", "viewers-on": "", "run-on": ""}
    while command[0].startswith("--"):
        name = command.pop(0)[2:]
        options[name] = command.pop(0)
    numbers, said = asyncio.run(measure(options, command))
    print(json.dumps({"command": " ".join(command[1:]), **{k: v for k, v in options.items() if v}, "rows": list(rows_of(numbers, said))}))


main()
