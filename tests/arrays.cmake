# Sums of arrays, prefix sums and sorting; on the devices there are and on two.
# SPDX-License-Identifier: MIT
stdcl_test(test_arrays test_arrays.c BUILDS_ONCE LIBS stdcl_arrays)
stdcl_test_on_two(test_arrays)
stdcl_test(test_sort test_sort.c BUILDS_ONCE LIBS stdcl_arrays)
stdcl_test_on_two(test_sort)
stdcl_test(deep_sort_shapes PROGRAM test_sort ARGS shapes)
stdcl_label(deep deep_sort_shapes)

# No races between work-items.
find_program(oclgrind oclgrind)
if(NOT oclgrind)
  stdcl_absent(deep_sort_races "oclgrind is not installed")
elseif(NOT STDCL_SANITIZE)
  add_test(NAME deep_sort_races COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/sort_races.sh ${oclgrind} $<TARGET_FILE:test_sort>)
  set_tests_properties(deep_sort_races PROPERTIES TIMEOUT 900 WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  stdcl_label(deep deep_sort_races)
endif()
