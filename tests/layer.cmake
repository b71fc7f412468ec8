# The layer's tests: each program runs twice, on the available devices and on two PoCL devices.
# SPDX-License-Identifier: MIT
add_executable(two_devices two_devices.c)
target_link_libraries(two_devices PRIVATE stdcl_flags OpenCL::OpenCL)

# The child process of test_layer_context and test_layer_error.
add_executable(layer_child layer_child.c)
target_link_libraries(layer_child PRIVATE stdcl_flags stdcl_static)

# stdcl_test_on_two(NAME [ARGUMENT...]): the program of test NAME again, on two devices, in part if it knows an argument for
# that; and what stdcl_test takes. Not beside it: what the one
# compiles, the other finds in PoCL's cache.
function(stdcl_test_on_two name)
  cmake_parse_arguments(T "" "TIMEOUT" "ENV" ${ARGN})
  set(how "")
  if(T_TIMEOUT)
    list(APPEND how TIMEOUT ${T_TIMEOUT})
  endif()
  if(T_ENV)
    list(APPEND how ENV ${T_ENV})
  endif()
  stdcl_test(${name}_on_two PROGRAM two_devices ARGS $<TARGET_FILE:${name}> ${T_UNPARSED_ARGUMENTS} ${how})
  foreach(run ${name} ${name}_on_two)
    if(TEST ${run})
      set_tests_properties(${run} PROPERTIES RESOURCE_LOCK ${name})
    endif()
  endforeach()
endfunction()

# stdcl_test_as_gpu(SUBJECT NAME): test_SUBJECT again, as NAME, on a driver that reports its devices
# as GPUs (as_gpu.c): every transfer is a copy, and new memory is uninitialised.
add_library(as_gpu MODULE as_gpu.c)
target_link_libraries(as_gpu PRIVATE stdcl_flags ${CMAKE_DL_LIBS})
function(stdcl_test_as_gpu subject name)
  if(TARGET test_${subject} AND NOT STDCL_SANITIZE) # a sanitizer's libraries must come first
    stdcl_test(${name} PROGRAM test_${subject} ENV LD_PRELOAD=$<TARGET_FILE:as_gpu> ${ARGN})
    add_dependencies(test_${subject} as_gpu)
  endif()
endfunction()

# stdcl_test_on_two_kinds(SUBJECT): test_SUBJECT again, on a CPU and on a device that is reported as a
# GPU. They have different names, shapes and programs.
function(stdcl_test_on_two_kinds subject)
  if(TARGET test_${subject} AND NOT STDCL_SANITIZE)
    stdcl_test(test_${subject}_on_two_kinds PROGRAM two_devices ARGS --kinds $<TARGET_FILE:test_${subject}>
      ENV LD_PRELOAD=$<TARGET_FILE:as_gpu>)
    set_tests_properties(test_${subject}_on_two_kinds PROPERTIES RESOURCE_LOCK test_${subject})
    add_dependencies(test_${subject} as_gpu)
  endif()
endfunction()

set(libraries_of_event LIBS leak_count)
set(libraries_of_recording LIBS leak_count)
foreach(subject context adopt memory sync image loader kernel event recording failure error threads)
  stdcl_test(test_layer_${subject} test_layer_${subject}.c ${libraries_of_${subject}})
  target_compile_definitions(test_layer_${subject} PRIVATE
    LAYER_CHILD="$<TARGET_FILE:layer_child>")
  add_dependencies(test_layer_${subject} layer_child)
  stdcl_test_on_two(test_layer_${subject})
endforeach()
target_link_libraries(test_layer_failure PRIVATE ${CMAKE_DL_LIBS})
target_link_options(test_layer_loader PRIVATE -Wl,--wrap=clBuildProgram)
# PoCL saves a binary from its cache, which must not grow meanwhile: the two processes share it.
set_tests_properties(test_layer_loader test_layer_loader_on_two PROPERTIES RESOURCE_LOCK pocl_cache)

stdcl_test(test_layer_disk_cache test_layer_disk_cache.c)
target_link_options(test_layer_disk_cache PRIVATE -Wl,--wrap=clCreateProgramWithSource -Wl,--wrap=clCreateProgramWithBinary
  -Wl,--wrap=clGetProgramInfo)
set_tests_properties(test_layer_disk_cache PROPERTIES RESOURCE_LOCK pocl_cache)

stdcl_test(test_layer_spirv test_layer_spirv.c)
target_link_options(test_layer_spirv PRIVATE -Wl,--wrap=clGetDeviceInfo -Wl,--wrap=clCreateProgramWithIL
  -Wl,--wrap=clSetProgramSpecializationConstant)

stdcl_test(test_layer_svm test_layer_svm.c)
target_link_options(test_layer_svm PRIVATE -Wl,--wrap=clGetDeviceInfo -Wl,--wrap=clSVMAlloc -Wl,--wrap=clSVMFree
  -Wl,--wrap=clEnqueueSVMMap -Wl,--wrap=clEnqueueSVMUnmap -Wl,--wrap=clSetKernelExecInfo -Wl,--wrap=clEnqueueNDRangeKernel)
stdcl_test_on_two(test_layer_svm)

stdcl_test(test_layer_fork test_layer_fork.c LIBS stdcl_matmul stdcl_arrays)

stdcl_test(test_layer_cxx test_layer_cxx.cpp)
stdcl_test_on_two(test_layer_cxx)

# Kernel declarations: parsed from the source, and programs without the compiler's argument info.
stdcl_test(test_kernel_signature test_kernel_signature.c)
stdcl_test(test_layer_kernel_signature PROGRAM test_layer_kernel ENV STDCL_ARG_INFO=source)

# ---- The headers alone, as compilers see them.

# stdcl_compiles(NAME COMPILER FLAGS SOURCE...): the sources compile without output.
function(stdcl_compiles name compiler flags)
  separate_arguments(flags)
  add_test(NAME ${name} COMMAND ${compiler} ${flags} -Werror -fsyntax-only
    -I ${PROJECT_SOURCE_DIR}/include ${ARGN} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

set(strict "-Wall -Wextra -Wpedantic -Wshadow -Wconversion")
file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/stdcl/*.h)
foreach(cc gcc clang)
  find_program(compiler_${cc} ${cc})
  set(compiler ${compiler_${cc}})
  if(NOT compiler)
    stdcl_absent(header_${cc} "${cc} is not installed")
    continue()
  endif()
  stdcl_compiles(header_${cc}_c11 ${compiler} "-std=c11 ${strict}" header_alone.c)
  stdcl_compiles(header_${cc}_gnu89 ${compiler} "-std=gnu89 -Wall" header_alone.c)
  stdcl_compiles(header_${cc}_gnu99 ${compiler} "-std=gnu99 -Wall -Wextra" header_alone.c)
  stdcl_compiles(header_${cc}_cxx98 ${compiler} "-x c++ -std=c++98 -Wall -Wextra" header_alone.c)
  stdcl_compiles(header_${cc}_cxx11 ${compiler} "-x c++ -std=c++11 ${strict}" header_alone.c)
  stdcl_compiles(header_${cc}_cxx17 ${compiler} "-x c++ -std=c++17 ${strict}" header_alone.c)
  foreach(header ${headers}) # each with nothing before it
    get_filename_component(part ${header} NAME_WE)
    stdcl_compiles(header_${cc}_${part}_c11 ${compiler} "-std=c11 ${strict} -x c" -include ${header} /dev/null)
    stdcl_compiles(header_${cc}_${part}_cxx11 ${compiler} "-std=c++11 ${strict} -x c++" -include ${header} /dev/null)
  endforeach()
endforeach()

include(legacy/legacy.cmake)

# ---- The core alone: programs of the historic interface need its files, OpenCL and threads only.
add_library(core_alone STATIC $<TARGET_OBJECTS:stdcl_core> ${PROJECT_SOURCE_DIR}/core/hooks_null.c)
target_include_directories(core_alone PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(core_alone PUBLIC OpenCL::OpenCL Threads::Threads PRIVATE stdcl_flags)
foreach(name hello args nbody1 clcontext_info kick)
  add_executable(core_alone_${name} legacy/${name}.c)
  set_target_properties(core_alone_${name} PROPERTIES C_STANDARD 99)
  target_link_libraries(core_alone_${name} PRIVATE -Wl,--whole-archive core_alone -Wl,--no-whole-archive m)
  stdcl_test(core_alone_${name} PROGRAM core_alone_${name} ENV STDCL_DEBUG=1) # they end with a number alone
  set_tests_properties(core_alone_${name} PROPERTIES WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/legacy)
endforeach()

add_test(NAME house_includes COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/rooms.sh includes ${PROJECT_SOURCE_DIR})
add_test(NAME house_names COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/rooms.sh names ${CMAKE_NM}
  $<TARGET_OBJECTS:stdcl_core> : $<TARGET_OBJECTS:stdcl_profile> $<TARGET_OBJECTS:stdcl_template>
  $<TARGET_OBJECTS:stdcl_tune> COMMAND_EXPAND_LISTS)
