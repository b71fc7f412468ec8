# Programs as they were written for the interface in 2009-2015: no flags but the dialect of those years,
# and each compares its result with plain C. They too run on what there is and on two PoCL devices. They end with a number
# alone, so the layer tells what went wrong.
# SPDX-License-Identifier: MIT

# stdcl_legacy(NAME): legacy/NAME.c or .cpp becomes the test legacy_NAME.
function(stdcl_legacy name)
  file(GLOB source ${CMAKE_CURRENT_SOURCE_DIR}/legacy/${name}.c* ${CMAKE_CURRENT_SOURCE_DIR}/legacy/${name}.f90)
  list(FILTER source EXCLUDE REGEX "\\.cl$")
  add_executable(legacy_${name} ${source} ${ARGN} ${STDCL_SANITIZER})
  set_target_properties(legacy_${name} PROPERTIES C_STANDARD 99)
  target_link_libraries(legacy_${name} PRIVATE stdcl_static m)
  stdcl_test(legacy_${name} PROGRAM legacy_${name} ENV STDCL_DEBUG=1)
  stdcl_test_on_two(legacy_${name} ENV STDCL_DEBUG=1)
  foreach(run legacy_${name} legacy_${name}_on_two)
    set_tests_properties(${run} PROPERTIES WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/legacy)
  endforeach()
endfunction()

foreach(name hello args nbody1 image_table clcontext_info kick vectors names attach shared_block kernel_args)
  stdcl_legacy(${name})
endforeach()

# Containers of C++ in the memory of clmalloc.
stdcl_legacy(clvectors)
find_path(BOOST_MULTI_ARRAY boost/multi_array.hpp)
if(BOOST_MULTI_ARRAY)
  stdcl_legacy(clmulti_arrays)
else()
  stdcl_absent(legacy_clmulti_arrays "Boost's headers are not installed")
  stdcl_absent(legacy_clmulti_arrays_on_two "Boost's headers are not installed")
endif()

# The tutorial for two devices has nothing to do with one.
add_executable(legacy_nbody2 legacy/nbody2.c ${STDCL_SANITIZER})
set_target_properties(legacy_nbody2 PROPERTIES C_STANDARD 99)
target_link_libraries(legacy_nbody2 PRIVATE stdcl_static m)
stdcl_test_on_two(legacy_nbody2 ENV STDCL_DEBUG=1)
set_tests_properties(legacy_nbody2_on_two PROPERTIES
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/legacy)

if(TARGET stdcl_command)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/embedded_kern.o)
  add_custom_command(OUTPUT ${object}
    COMMAND stdcl_command embed embedded_kern.cl -o ${object}
    DEPENDS stdcl_command legacy/embedded_kern.cl
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/legacy VERBATIM)
  stdcl_legacy(embedded ${object})
  stdcl_legacy(embedded_sym ${object})
endif()

# A program for GPUs on the processor.
stdcl_legacy(redefined)
target_compile_definitions(legacy_redefined PRIVATE stdgpu=stdcpu)

# Three ranks and two devices, of which each rank claims one. Ranks are processes, and MPI's where there is MPI. The key
# is this folder's, so that tests of another build on the machine do not meet these.
string(SHA1 key ${CMAKE_CURRENT_BINARY_DIR})
string(SUBSTRING ${key} 0 7 key)
math(EXPR key "0x${key}")
math(EXPR mpi_key "${key} + 1")
add_executable(legacy_ranks legacy/ranks.c ${STDCL_SANITIZER})
target_link_libraries(legacy_ranks PRIVATE stdcl_static)
stdcl_test_on_two(legacy_ranks ENV STDCL_DEBUG=1 STDCPU_LOCK=${key})
find_package(MPI QUIET COMPONENTS C)
if(MPI_C_FOUND AND NOT STDCL_SANITIZE)
  add_executable(legacy_ranks_mpi legacy/ranks.c)
  target_compile_definitions(legacy_ranks_mpi PRIVATE WITH_MPI)
  target_link_libraries(legacy_ranks_mpi PRIVATE stdcl_static MPI::MPI_C)
  stdcl_test(legacy_ranks_mpi_on_two PROGRAM two_devices ENV STDCL_DEBUG=1 STDCPU_LOCK=${mpi_key}
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe ARGS ${MPIEXEC_EXECUTABLE}
    ${MPIEXEC_NUMPROC_FLAG} 3 $<TARGET_FILE:legacy_ranks_mpi>)
else()
  stdcl_absent(legacy_ranks_mpi "mpicc is not installed, or the build has a sanitizer")
endif()

# Fortran, which links to the library's names as they are.
include(CheckLanguage)
check_language(Fortran)
if(CMAKE_Fortran_COMPILER AND NOT STDCL_SANITIZE)
  enable_language(Fortran)
  stdcl_legacy(scale)
  set_target_properties(legacy_scale PROPERTIES LINKER_LANGUAGE Fortran)
else()
  stdcl_absent(legacy_scale "gfortran is not installed, or the build has a sanitizer")
endif()

# Without a warning, in the dialects that were the compilers' own then and since.
file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/legacy/*.c)
foreach(cc gcc clang)
  if(NOT compiler_${cc}) # of layer.cmake, which says that it is absent
    continue()
  endif()
  foreach(dialect gnu89 gnu99 gnu11 gnu17)
    stdcl_compiles(legacy_${cc}_${dialect} ${compiler_${cc}} "-std=${dialect} -Wall" ${sources})
  endforeach()
  stdcl_compiles(legacy_${cc}_cxx98 ${compiler_${cc}} "-std=c++98 -Wall" legacy/vectors.cpp)
  stdcl_compiles(legacy_${cc}_cxx11 ${compiler_${cc}} "-std=c++11 -Wall" legacy/vectors.cpp legacy/clvectors.cpp)
endforeach()
