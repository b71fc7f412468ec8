# The engines, and the libraries like them: a line each, behind those that it stands on. This is the one list; the build,
# what is installed, tests, benchmarks and the command go by it. CONTRIBUTING.md says which files an engine brings.
#
#   stdcl_engine(NAME DESCRIPTION [ON NAME...])
# SPDX-License-Identifier: MIT

stdcl_engine(world "Ranks: one job on many machines, by MPI if there is MPI")
stdcl_engine(arrays "Sums, prefix sums and sorting of arrays in the memory of OpenCL devices")
stdcl_engine(nbody "Gravity by direct summation and by a tree on OpenCL devices" ON arrays world)
stdcl_engine(life "Conway's Life and rules like it on OpenCL devices" ON world)
stdcl_engine(gas "The kinetic energy of a gas on OpenCL devices" ON arrays world)
stdcl_engine(matmul "Products of matrices on OpenCL devices" ON world)
stdcl_engine(view "A window in the browser onto any run")
