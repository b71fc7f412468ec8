# The CPU peer: the same sums in intrinsics.
# SPDX-License-Identifier: MIT
target_sources(bench_nbody PRIVATE nbody_intrinsics.c)
