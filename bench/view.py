"""view.py - what viewers cost a run: its seconds with none, with one, and with eight of whom one is stopped by SIGSTOP.

    /usr/bin/python3 bench/view.py STDCL [TURNS] nbody -n 1e6 --method tree --steps 200
    /usr/bin/python3 bench/view.py STDCL [TURNS] life --size 65536 --generations 20000

The three take turns (9 times), and medians are printed, with the pictures that viewers got. The run is paused until all look, and that time does
not count. Needs python3-websockets, a run of half a minute or more, and a machine that has nothing else to do.
SPDX-License-Identifier: MIT
"""
import asyncio
import os
import signal
import statistics
import subprocess
import sys
import time


async def look(host, token, want, first):
    import websockets
    pictures = 0
    async with websockets.connect("ws://%s/live" % host, subprotocols=["stdcl-view.1", "token." + token], origin="http://" + host,
                                  compression=None, max_size=1 << 28) as ws:
        if first == "first":
            await ws.send('{"type":"do","what":"pause"}')
        await ws.send(want)
        await ws.send('{"type":"credit","n":2}')
        asyncio.get_running_loop().add_reader(sys.stdin, lambda: sys.stdin.readline() and asyncio.ensure_future(ws.send('{"type":"do","what":"run"}')))
        try:
            while True:
                m = await ws.recv()
                if isinstance(m, str):
                    print("ready" if '"hello"' in m else "", flush=True)
                    continue
                pictures += m[0] != 5
                await ws.send('{"type":"credit","n":1}')
        except websockets.ConnectionClosed:
            pass
    print("pictures", pictures, flush=True)


def watch(link, want, first=""):
    host, token = link.split("/")[2], link.split("#t=")[1]
    viewer = subprocess.Popen([sys.executable, __file__, "look", host, token, want, first], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while viewer.stdout.readline().strip() != "ready":
        pass
    return viewer


def run(command, viewers):
    """Its seconds, and the pictures of each viewer that was not stopped."""
    life = command[1] == "life"
    want = ('{"type":"want","cells":{"width":1920,"height":1080,"zoom":4}}' if life
            else '{"type":"want","points":{"count":200000,"colour":"speed"}}')
    more = ["--view", "--view-wait"] if viewers else []
    start = time.monotonic()
    process = subprocess.Popen([*command, "--quiet", *more], stderr=subprocess.PIPE, text=True)
    watching, waited = [], 0
    if viewers:
        link = process.stderr.readline().split("look at ")[1].strip()
        waited = time.monotonic()
        watching = [watch(link, want, "first")]
        watching += [watch(link, want) for _ in range(viewers - 1)]
        if viewers > 1:
            os.kill(watching[-1].pid, signal.SIGSTOP)
        waited = time.monotonic() - waited
        watching[0].stdin.write("go\n")
        watching[0].stdin.flush()
    process.communicate()
    took = time.monotonic() - start - waited
    if viewers > 1:
        os.kill(watching[-1].pid, signal.SIGKILL)
        watching.pop()
    pictures = [int(v.communicate()[0].split()[-1]) for v in watching]
    return took, pictures


def main():
    turns, command = 9, sys.argv[1:]
    if command[1].isdigit():
        turns = int(command.pop(1))
    seconds = {0: [], 1: [], 8: []}
    for _ in range(turns):
        for viewers in seconds:
            took, pictures = run(command, viewers)
            seconds[viewers].append(took)
            print("%d viewers %8.3f s   pictures %s" % (viewers, took, pictures), flush=True)
    alone = statistics.median(seconds[0])
    for viewers in seconds:
        middle = statistics.median(seconds[viewers])
        print("%d viewers: median %.3f s, %+.2f %%" % (viewers, middle, 100 * (middle / alone - 1)))


if sys.argv[1] == "look":
    asyncio.run(look(*sys.argv[2:6]))
else:
    main()
