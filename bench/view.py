"""view.py - what viewers cost a run: its seconds with none, with one, and with eight of whom one is stopped by SIGSTOP.

    /usr/bin/python3 bench/view.py [OPTIONS] STDCL nbody -n 1e6 --method tree --steps 200
    /usr/bin/python3 bench/view.py [OPTIONS] STDCL life --size 65536 --generations 20000

    --turns N           the three take turns so often (9); medians are printed, with the pictures and bytes a second that a viewer got
    --viewers 0,1,8     these
    --count N           bodies that a viewer wants (200000)
    --zoom Z            squares of 2^Z cells that it wants (4), 1920 x 1080 of them; and of 0
    --pan 1             it moves over the grid, 60 times a second
    --viewers-on CPUS   processors of the viewers, as 8-15: a browser is a thing of another machine
    --run-on CPUS       and of the run

The run is paused until all look. Counted are the seconds from there until it tells its end: the first picture, for which a kernel may be
compiled, is before that, and the half second that a run gives those who do not take its last words is behind it. Without viewers, one starts it and
leaves. Needs python3-websockets, a run of ten seconds or more, and a machine that has nothing else to do. Prints JSON.
SPDX-License-Identifier: MIT
"""
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import time


async def look(host, token, text, role, moves):
    import websockets
    want = json.loads(text)
    pictures = size = 0
    begun = time.monotonic()
    async with websockets.connect("ws://%s/live" % host, subprotocols=["stdcl-view.1", "token." + token], origin="http://" + host,
                                  compression=None, max_size=1 << 28) as ws:
        if role != "other":
            await ws.send('{"type":"do","what":"pause"}')
        if role != "none":
            await ws.send(text)
            await ws.send('{"type":"credit","n":2}')
        shown = role == "none"
        told = False

        async def pan():
            want["cells"]["x"] += 16 << want["cells"]["zoom"]
            await ws.send(json.dumps(want))
            asyncio.get_running_loop().call_later(1 / 60, lambda: asyncio.ensure_future(pan()))

        def go():
            asyncio.get_running_loop().remove_reader(sys.stdin)
            asyncio.ensure_future(ws.send('{"type":"do","what":"run"}'))
            if moves:
                asyncio.ensure_future(pan())
            if role == "none":
                asyncio.get_running_loop().call_later(0.05, lambda: asyncio.ensure_future(ws.close()))

        asyncio.get_running_loop().add_reader(sys.stdin, go)
        try:
            while True:
                m = await ws.recv()
                if isinstance(m, str):
                    if '"type": "end"' in m or '"type":"end"' in m:
                        print("end", time.monotonic(), flush=True)
                    told = told or "hello" in m
                else:
                    shown = shown or m[0] != 5
                    pictures += m[0] != 5
                    size += len(m)
                    await ws.send('{"type":"credit","n":1}')
                if begun and told and shown:
                    begun = 0
                    print("ready", flush=True)
        except websockets.ConnectionClosed:
            pass
    print("pictures", pictures, size, flush=True)


def cpus_of(text):
    parts = [list(map(int, part.split("-"))) for part in text.split(",")]
    return {cpu for p in parts for cpu in range(p[0], p[-1] + 1)}


def watch(options, link, want, role):
    host, token = link.split("/")[2], link.split("#t=")[1]
    on = options["viewers-on"]
    viewer = subprocess.Popen([sys.executable, __file__, "look", host, token, want, role, options["pan"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              preexec_fn=(lambda: os.sched_setaffinity(0, cpus_of(on))) if on else None)
    while viewer.stdout.readline().strip() != "ready":
        pass
    return viewer


def run(options, command, viewers):
    """Its seconds, and of each viewer that was not stopped pictures and bytes."""
    life = "life" in command
    want = ('{"type":"want","cells":{"x":0,"y":0,"width":1920,"height":1080,"zoom":%s}}' % options["zoom"] if life
            else '{"type":"want","points":{"count":%s,"colour":"speed"}}' % options["count"])
    on = options["run-on"]
    process = subprocess.Popen([*command, "--quiet", "--view", "--view-wait"], stderr=subprocess.PIPE, text=True,
                               preexec_fn=(lambda: os.sched_setaffinity(0, cpus_of(on))) if on else None)
    link = process.stderr.readline().split("look at ")[1].strip()
    watching = [watch(options, link, want, "first" if viewers else "none")]
    watching += [watch(options, link, want, "other") for _ in range(viewers - 1)]
    stopped = watching.pop() if viewers > 1 else None
    if stopped:
        os.kill(stopped.pid, signal.SIGSTOP)
    start = time.monotonic()
    watching[0].stdin.write("go\n")
    watching[0].stdin.flush()
    said, _ = watching[0].communicate()
    process.communicate()
    end = next((float(line.split()[1]) for line in said.splitlines() if line.startswith("end")), time.monotonic())
    if stopped:
        os.kill(stopped.pid, signal.SIGKILL)
    all_said = [said] + [v.communicate()[0] for v in watching[1:]]
    return end - start, [tuple(map(int, s.split()[-2:])) for s in all_said if viewers]


def options_of(words):
    options = {"turns": "9", "viewers": "0,1,8", "count": "200000", "zoom": "4", "pan": "", "viewers-on": "", "run-on": ""}
    while words[0].startswith("--"):
        name = words.pop(0)[2:]
        options[name] = words.pop(0)
    return options


def main():
    command = sys.argv[1:]
    options = options_of(command)
    numbers = [int(n) for n in options["viewers"].split(",")]
    seconds = {n: [] for n in numbers}
    pictures, size = {n: [] for n in numbers}, {n: [] for n in numbers}
    for _ in range(int(options["turns"])):
        for viewers in numbers:
            took, got = run(options, command, viewers)
            seconds[viewers].append(round(took, 3))
            pictures[viewers] += [p / took for p, _ in got]
            size[viewers] += [s / took for _, s in got]
            print("%d viewers %8.3f s, pictures of each: %s" % (viewers, took, [p for p, _ in got]), file=sys.stderr, flush=True)
    rows = []
    for n in numbers:
        row = {"viewers": n, "seconds": seconds[n], "median_seconds": statistics.median(seconds[n])}
        if n:
            ratios = [100 * (a / b - 1) for a, b in zip(seconds[n], seconds[numbers[0]])]
            row |= {"pictures_a_second": round(statistics.median(pictures[n]), 1), "megabytes_a_second": round(statistics.median(size[n]) / 1e6, 2)}
            if numbers[0] == 0:
                row["cost_percent_of_turns"] = [round(r, 2) for r in ratios]
                row["median_cost_percent"] = round(statistics.median(ratios), 2)
        rows.append(row)
    print(json.dumps({"command": " ".join(command[1:]), "count": int(float(options["count"])), "zoom": int(options["zoom"]),
                      "pan": bool(options["pan"]), "viewers_on": options["viewers-on"],
                      "run_on": options["run-on"], "rows": rows}))


if sys.argv[1] == "look":
    asyncio.run(look(*sys.argv[2:7]))
else:
    main()
