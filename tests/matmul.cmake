# Matrix products: .npy files, engines against the reference on one device and on two, the command.
# SPDX-License-Identifier: MIT
stdcl_test(test_npy test_npy.c LIBS formats)
stdcl_test(test_matmul test_matmul.c LIBS builds_once unoptimised stdcl_matmul TIMEOUT 400)
stdcl_test(test_matmul_plan test_matmul_plan.c LIBS unoptimised stdcl_matmul)
stdcl_test(test_matmul_small test_matmul_small.c LIBS stdcl_matmul)
stdcl_test_as_gpu(matmul_plan test_matmul_plan_as_gpu)
stdcl_test(test_matmul_on_two PROGRAM two_devices ARGS $<TARGET_FILE:test_matmul> several TIMEOUT 180)
stdcl_test(deep_matmul_clblast PROGRAM test_matmul ARGS clblast)
stdcl_label(deep deep_matmul_clblast)
stdcl_test(test_cli_matmul test_cli_matmul.c LIBS unoptimised PkgConfig::JANSSON ARGS $<TARGET_FILE:stdcl_command> TIMEOUT 120)
add_dependencies(test_cli_matmul stdcl_command)
# Some tests need equal kernels, which one of them compiles and the next finds in PoCL's cache.
set_tests_properties(test_matmul test_matmul_on_two PROPERTIES RESOURCE_LOCK matmul_kernels)
set_tests_properties(test_cli_matmul PROPERTIES RESOURCE_LOCK "matmul_kernels;clblast_kernels") # and docs_commands

# The SYCL engine's source on threads of the host, since few machines have a compiler for it.
add_library(sycl_model STATIC ${PROJECT_SOURCE_DIR}/matmul/sycl.cpp)
target_include_directories(sycl_model PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/sycl)
target_compile_features(sycl_model PRIVATE cxx_std_17)
target_link_libraries(sycl_model PRIVATE stdcl_flags)
stdcl_test(test_matmul_sycl test_matmul_sycl.c LIBS sycl_model)
