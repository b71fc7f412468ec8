"""same.py - see same.c.

SPDX-License-Identifier: MIT
"""
import sys

import numpy as np

import stdcl

ctx = stdcl.gpu() or stdcl.cpu()
x = ctx.array(np.float32(1) / np.arange(1, 1001, dtype=np.float32))
y = ctx.array(np.arange(1000, dtype=np.float32))
ctx.file(sys.argv[1]).saxpy(x.size, 0.1, x, y).wait()
run = stdcl.NBody(*stdcl.initial("plummer", 100, seed=1), eps=0.05, dt=1 / 64, precision="single")
run.step(10)
for bits in y.view(np.uint32):
    print("%08x" % bits)
for rows in run.state():
    for bits in rows.view(np.uint64).flat:
        print("%016x" % bits)
