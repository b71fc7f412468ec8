# The list of engines and similar libraries, one per line, after the ones that it depends on. The build, the
# installation, tests, benchmarks and the command use this list. CONTRIBUTING.md lists the files of an engine.
#
#   stdcl_engine(NAME DESCRIPTION [ON NAME...])
# SPDX-License-Identifier: MIT

stdcl_engine(world "Ranks: one job on many machines, by MPI if there is MPI")
stdcl_engine(arrays "Sums, prefix sums and sorting of arrays in the memory of OpenCL devices")
stdcl_engine(nbody "Gravity by direct summation and by a tree on OpenCL devices" ON arrays world)
stdcl_engine(life "Conway's Life and rules like it on OpenCL devices" ON world)
stdcl_engine(gas "The kinetic energy of a gas on OpenCL devices" ON arrays world)
stdcl_engine(matmul "Products of matrices on OpenCL devices" ON world)
stdcl_engine(view "Live view of a run in a web browser")
