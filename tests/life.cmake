# Life: rules and logic, known lives, engines against plain C on one device and on two, files.
# SPDX-License-Identifier: MIT
stdcl_test(test_life_rule test_life_rule.c LIBS stdcl_life)
stdcl_test(deep_life_rule PROGRAM test_life_rule ARGS 3000)
stdcl_label(deep deep_life_rule)
stdcl_test(test_life_formats test_life_formats.c LIBS formats)
stdcl_test(test_life_known test_life_known.c BUILDS_ONCE LIBS stdcl_life formats TIMEOUT 120)
stdcl_test(test_life_engines test_life_engines.c BUILDS_ONCE UNOPTIMISED LIBS stdcl_life TIMEOUT 240)
stdcl_test(test_life_engines_on_two PROGRAM two_devices UNOPTIMISED ARGS $<TARGET_FILE:test_life_engines> several TIMEOUT 240)
set_tests_properties(test_life_engines test_life_engines_on_two PROPERTIES RESOURCE_LOCK life_kernels)
stdcl_test(test_hashlife test_hashlife.c LIBS stdcl_life formats)
stdcl_test(test_life_golly test_life_golly.c BUILDS_ONCE LIBS stdcl_life formats)
if(TARGET stdcl_command)
  stdcl_test(test_life_command test_life_command.c LIBS PkgConfig::JANSSON ARGS $<TARGET_FILE:stdcl_command> TIMEOUT 240)
  add_dependencies(test_life_command stdcl_command)
endif()

# Kernels compile without a word as they are, which editors do; rows.cl also with many passes a launch.
set(compiler ${compiler_clang})
if(compiler)
  set(kernels ${PROJECT_SOURCE_DIR}/life)
  stdcl_compiles(life_kernels_alone ${compiler} "-x cl -Wall -Wno-unused-function"
    ${kernels}/rows.cl ${kernels}/tile.cl ${kernels}/count.cl ${kernels}/look.cl ${kernels}/global.cl ${kernels}/local.cl)
  stdcl_compiles(life_passes_alone ${compiler} "-x cl -cl-std=CL3.0 -D PASSES=1 -Wall" ${kernels}/rows.cl)
else()
  stdcl_absent(life_kernels_alone "clang is not installed")
endif()
