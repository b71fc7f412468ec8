# Fault injection and signals: an OpenCL layer, a libc shim, and the programs that run every case.
# `make test-faults` runs all, `make test` samples.
# SPDX-License-Identifier: MIT
find_path(OPENCL_LAYER_H CL/cl_layer.h)
set(run_in ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
find_program(FAULTS_FFMPEG ffmpeg)
if(OPENCL_LAYER_H)
  add_library(fault_layer MODULE faults/layer.c)
  target_link_libraries(fault_layer PRIVATE stdcl_flags Threads::Threads)
  add_library(fault_shim MODULE faults/shim.c)
  target_link_libraries(fault_shim PRIVATE stdcl_flags Threads::Threads ${CMAKE_DL_LIBS})
  if(STDCL_SANITIZE) # it runs before the sanitizer does
    target_compile_options(fault_shim PRIVATE -fno-sanitize=all)
    target_compile_definitions(fault_shim PRIVATE STDCL_SANITIZED)
  endif()
  if(TARGET stdcl_gas AND TARGET stdcl_life AND TARGET stdcl_nbody)
    add_executable(faults_ranks faults/ranks.c)
    target_include_directories(faults_ranks PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(faults_ranks PRIVATE stdcl_flags stdcl_gas stdcl_life stdcl_nbody m)
  endif()
  add_executable(faults_svm faults/svm.c)
  target_link_libraries(faults_svm PRIVATE stdcl_flags stdcl_static)
  if(have_numpy)
    add_executable(faults_python faults/python.c)
    target_link_libraries(faults_python PRIVATE stdcl_flags)
    target_compile_definitions(faults_python PRIVATE FAULTS_PYTHON="${STDCL_PYTHON}" FAULTS_SOURCE="${PROJECT_SOURCE_DIR}"
      FAULTS_LIBRARY="${PROJECT_BINARY_DIR}/install/libstdcl.so.1")
  endif()
  foreach(program faults signals)
    add_executable(${program} faults/${program}.c faults/runs.c faults/programs.c)
    target_link_libraries(${program} PRIVATE stdcl_flags)
    target_compile_definitions(${program} PRIVATE $<$<TARGET_EXISTS:stdcl_lua>:STDCL_HAVE_LUA>
      $<$<BOOL:${FAULTS_FFMPEG}>:STDCL_HAVE_FFMPEG>
      $<$<TARGET_EXISTS:stdcl_view>:STDCL_HAVE_VIEW>)
    if(have_numpy AND NOT STDCL_SANITIZE) # a list of sanitizers has a comma, which is not for generator expressions
      target_compile_definitions(${program} PRIVATE STDCL_HAVE_PYTHON)
    endif()
  endforeach()
endif()
if(NOT OPENCL_LAYER_H)
  stdcl_absent(test_faults_sample "the OpenCL headers know no layers")
  stdcl_absent(test_signals_sample "the OpenCL headers know no layers")
elseif(NOT STDCL_SANITIZE AND TARGET stdcl_command)
  add_test(NAME test_faults_sample COMMAND faults ${run_in} sample)
  add_test(NAME test_signals_sample COMMAND signals ${run_in} sample)
  add_test(NAME deep_faults COMMAND faults ${run_in} every 50)
  add_test(NAME deep_signals COMMAND signals ${run_in} 200)
  add_test(NAME test_faults COMMAND faults ${run_in})
  add_test(NAME test_signals COMMAND signals ${run_in})
  set_tests_properties(test_faults_sample test_signals_sample PROPERTIES TIMEOUT 1800)
  set_tests_properties(deep_faults deep_signals PROPERTIES TIMEOUT 3600)
  set_tests_properties(test_faults test_signals PROPERTIES TIMEOUT 14400)
  stdcl_label(faults test_faults test_faults_sample deep_faults test_signals test_signals_sample deep_signals)
  stdcl_label(deep deep_faults deep_signals test_faults test_signals)
  stdcl_label(hours test_faults test_signals)
elseif(STDCL_SANITIZE MATCHES address AND TARGET stdcl_command)
  add_test(NAME test_faults_leaks COMMAND faults ${run_in} every 50) # the shim stands before the sanitizer's malloc
  set_tests_properties(test_faults_leaks PROPERTIES TIMEOUT 14400
    ENVIRONMENT "ASAN_OPTIONS=use_sigaltstack=0:verify_asan_link_order=0")
  stdcl_label(faults test_faults_leaks)
  stdcl_label(deep test_faults_leaks)
endif()

# Simulations with a failing device.
if(TARGET fault_layer AND TARGET stdcl_nbody AND TARGET stdcl_life AND TARGET stdcl_command)
  stdcl_test(test_command_faults test_command_faults.c ARGS $<TARGET_FILE:stdcl_command>
    ENV OPENCL_LAYERS=$<TARGET_FILE:fault_layer>)
  add_dependencies(test_command_faults stdcl_command fault_layer)
elseif(NOT OPENCL_LAYER_H)
  stdcl_absent(test_command_faults "the OpenCL headers have no CL/cl_layer.h")
endif()

# Products with a failing command.
if(TARGET fault_layer AND TARGET stdcl_matmul AND TARGET stdcl_command)
  stdcl_test(test_matmul_faults test_matmul_faults.c LIBS unoptimised stdcl_matmul ARGS $<TARGET_FILE:stdcl_command>
    ENV OPENCL_LAYERS=$<TARGET_FILE:fault_layer>)
  add_dependencies(test_matmul_faults stdcl_command fault_layer)
elseif(NOT OPENCL_LAYER_H)
  stdcl_absent(test_matmul_faults "the OpenCL headers have no CL/cl_layer.h")
endif()
