# Sums of arrays, prefix sums and sorting; on the devices there are and on two.
# SPDX-License-Identifier: MIT
stdcl_test(test_arrays test_arrays.c BUILDS_ONCE UNOPTIMISED LIBS stdcl_arrays)
stdcl_test_on_two(test_arrays UNOPTIMISED)
stdcl_test(test_arrays_small test_arrays_small.c UNOPTIMISED LIBS stdcl_arrays)
stdcl_test_on_two(test_arrays_small UNOPTIMISED)
stdcl_test(deep_arrays_shapes PROGRAM test_arrays ARGS shapes)
stdcl_label(deep deep_arrays_shapes)
stdcl_test(test_sort test_sort.c BUILDS_ONCE UNOPTIMISED LIBS stdcl_arrays)
stdcl_test_on_two(test_sort UNOPTIMISED)
stdcl_test(deep_sort_shapes PROGRAM test_sort ARGS shapes)
stdcl_label(deep deep_sort_shapes)
