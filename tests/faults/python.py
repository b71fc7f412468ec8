"""What a program in Python does with kernels, arrays and engines, for faults.c: results, or one sentence and status 1.

SPDX-License-Identifier: MIT
"""
import sys

import numpy as np

import stdcl

SOURCE = """__kernel void twice(__global int *x) { x[get_global_id(0)] *= 2; }"""


def main() -> None:
    ctx = stdcl.devices()
    if ctx is None:
        sys.exit("python.py: there is no device")
    x = ctx.array(np.arange(100, dtype=np.int32))
    ctx.source(SOURCE).twice(x.size, x).wait()
    print("kernel", int(x.sum()))
    mass, pos, vel = stdcl.initial("plummer", 64, seed=1)
    with stdcl.NBody(mass, pos, vel, eps=0.05, dt=0.01, precision="single") as run:
        run.step(2)
        print("gravity %.9g" % run.diagnose().kinetic)
    with stdcl.Life(130, 67) as cells:
        cells.soup()
        cells.step(5)
        print("life", cells.population)
    with stdcl.Gas(5000) as gas:
        print("gas %.17g" % gas.measure().mean_energy)
    a = np.eye(17, dtype=np.float32)
    print("product", float(stdcl.matmul(a, a).sum()))


try:
    main()
except (stdcl.Error, MemoryError, ValueError, TypeError) as error:
    sys.exit(f"python.py: {error}")
