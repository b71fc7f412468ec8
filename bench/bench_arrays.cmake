# The CPU peer: the same sums by OpenMP, in the fastest order.
# SPDX-License-Identifier: MIT
find_package(OpenMP)
if(OpenMP_C_FOUND)
  target_link_libraries(bench_arrays PRIVATE OpenMP::OpenMP_C)
  target_compile_options(bench_arrays PRIVATE -O3 -march=native -fassociative-math -fno-signed-zeros -fno-trapping-math)
endif()

# Prefix sums and sorting; compaction, sums of runs and histograms.
stdcl_bench(bench_sort bench_sort.c LIBS stdcl_arrays)
stdcl_bench(bench_select bench_select.c LIBS stdcl_arrays)
