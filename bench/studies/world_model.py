#!/usr/bin/env python3
"""world_model.py - how fast ranks would be on many hosts: the model behind the table in docs/cluster.md.

Measured on H200s (bench/results): R interactions/s, L cells/s, K molecules/s, PCIE bytes/s each way, and the times of a step that do not
depend on its size. Assumed: NET bytes/s of a host's network, ALPHA seconds a message. Nothing with more than one host was measured.
SPDX-License-Identifier: MIT
"""
from math import ceil, log2, sqrt

R, L, K, PCIE = 2.025e12, 33.1e12, 133e9, 55e9
NET, ALPHA = 45e9, 3e-6
D = 8  # GPUs a host


def nbody(n, gpus):
    """Direct sums: each host gets all positions, 16 bytes a body, while devices sum; a device sums rows in groups of 512."""
    hosts = gpus // D
    pairs = n * n / (gpus * R)
    rows = n / gpus
    sums = pairs * ceil(rows / 512) * 512 / rows
    travel = max(16 * n * (1 - 1 / hosts) / NET + 2 * sqrt(hosts) * ALPHA, 16 * n / PCIE)
    launches = 6.6e-6 * min(2 * ceil(sqrt(hosts)), 16)
    return pairs / (max(sums, travel) + 16e-6 + 30e-6 + 27e-6 * D + launches)


def life(side, generations=16, launches=4):
    """A square of side^2 cells a GPU in strips; edges of so many launches travel while the rows between are computed."""
    halo = generations * launches
    step = side * side / L
    bytes_out = 2 * halo * side / 8
    exchange = 140e-6 + 2 * bytes_out / PCIE + 60e-6 + 4 * ALPHA + (bytes_out + 16 * side * D) / NET
    seen = 60e-6 + max(0, exchange - 0.9 * generations * step)
    return halo * step / (halo * step * (1 + 2 * halo / side) + seen)


def gas(n, gpus):
    hosts = gpus // D
    sums = n / (gpus * K)
    return sums / (sums + 60e-6 + 4 * log2(hosts) * ALPHA)


if __name__ == "__main__":
    gpus = (16, 64, 512, 10000)
    for k in (20, 22, 24):
        print(f"nbody 2^{k}", *(f"{100 * nbody(2**k, p):.1f}" for p in gpus))
    for side in (32768, 131072):
        print(f"life {side}", f"{100 * life(side):.1f}")
    for n in (1e12, 1e14):
        print(f"gas {n:g}", *(f"{100 * gas(n, p):.1f}" for p in gpus))
