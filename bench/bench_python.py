#!/usr/bin/env python3
"""bench_python.py - what Python adds to C: the import, a call, a launch.

usage: PYTHONPATH=python STDCL_LIBRARY=build/install/libstdcl.so.1 bench/bench_python.py [OUT.json]

Medians. `call` is clgetndev by ctypes, which does next to nothing in C; `launch` a kernel of 16 work-items with one array,
started and waited for, `launch_c` the same calls of C with the arguments ready; `import` is of a fresh process (wall and CPU time), its own
start and numpy left out, since the package imports numpy when it is first needed.
SPDX-License-Identifier: MIT
"""
import json
import os
import platform
import statistics
import subprocess
import sys
import time

import numpy as np

import stdcl
from stdcl import _declarations as c
from stdcl._library import lib


def imports(clock, times=21):
    code = "import time; t = time.%s(); import stdcl; print(time.%s() - t)" % (clock, clock)
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)  # compiles
    return statistics.median(float(subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE).stdout)
                             for _ in range(times))


def per_call(function, calls, rounds=11):
    def once():
        began = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - began) / calls
    return statistics.median(once() for _ in range(rounds))


ctx = stdcl.gpu() or stdcl.cpu()
handle = ctx._use()
x = ctx.array(np.ones(16, np.float32))
twice = ctx.source("__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }").twice
kept = []
args = (c.stdcl_arg * 1)(twice._argument(0, x, kept))
work = c.clndrange_struct(dim=1)
work.gtid[0] = 16


def launch_c():
    lib.clforkv(handle, 0, twice._handle, work, 2, 1, args)
    lib.clwait(handle, 0, 0x30)


def launch():
    twice.start(16, x)
    ctx.wait(0)


twice(16, x).wait()
in_c, in_python = per_call(launch_c, 500), per_call(launch, 500)
result = {
    "what": "the Python package beside C",
    "device": ctx.names[0], "python": platform.python_version(), "numpy": np.__version__,
    "commit": subprocess.run(["git", "describe", "--always", "--dirty"], stdout=subprocess.PIPE, text=True,
                             cwd=os.path.dirname(os.path.abspath(__file__))).stdout.strip(),
    "import_ms": round(1e3 * imports("perf_counter"), 2), "import_cpu_ms": round(1e3 * imports("process_time"), 2),
    "call_us": round(1e6 * (per_call(lambda: lib.clgetndev(handle), 20000) - per_call(lambda: None, 20000)), 3),
    "launch_us": round(1e6 * in_python, 2), "launch_c_us": round(1e6 * in_c, 2),
}
text = json.dumps(result, indent=2) + "\n"
print(text, end="")
if len(sys.argv) > 1:
    with open(sys.argv[1], "w") as file:
        file.write(text)
