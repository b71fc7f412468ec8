# Sums of arrays, prefix sums and sorting; on the available devices and on two.
# SPDX-License-Identifier: MIT
stdcl_test(test_arrays test_arrays.c LIBS builds_once unoptimised stdcl_arrays)
stdcl_test_on_two(test_arrays)
stdcl_test(test_arrays_device test_arrays_device.c LIBS builds_once unoptimised stdcl_arrays)
stdcl_test_on_two(test_arrays_device)
stdcl_test(test_arrays_small test_arrays_small.c LIBS unoptimised stdcl_arrays)
stdcl_test_on_two(test_arrays_small)
stdcl_test(deep_arrays_shapes PROGRAM test_arrays ARGS shapes)
stdcl_label(deep deep_arrays_shapes)
stdcl_test(test_sort test_sort.c LIBS builds_once unoptimised stdcl_arrays)
stdcl_test_on_two(test_sort)
stdcl_test(deep_sort_shapes PROGRAM test_sort ARGS shapes)
stdcl_label(deep deep_sort_shapes)
