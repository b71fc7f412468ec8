# Ranks: threads of one process, with delayed messages; and MPI, for each installed one.
# SPDX-License-Identifier: MIT
stdcl_test(test_world test_world.c LIBS stdcl_world)
stdcl_test(deep_orders PROGRAM test_world ARGS orders)
stdcl_label(deep deep_orders)

# By each installed MPI; the program that calls MPI itself is compiled by that MPI's compiler.
function(stdcl_world_by mpi other)
  set(wants "the plugin for ${mpi} is not built, or the build has a sanitizer")
  if(NOT TARGET world_${mpi} OR NOT TARGET stdcl_command OR STDCL_SANITIZE)
    stdcl_absent(world_${mpi} ${wants})
    return()
  endif()
  set(ask -compile-info -link-info)
  if(mpi STREQUAL openmpi)
    set(ask --showme:compile --showme:link)
  endif()
  set(flags "")
  foreach(what ${ask})
    execute_process(COMMAND ${STDCL_MPICC_${mpi}} ${what} OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(said UNIX_COMMAND "${said}")
    list(APPEND flags ${said})
  endforeach()
  set(folders ${flags})
  list(FILTER folders INCLUDE REGEX "^-I")
  list(TRANSFORM folders REPLACE "^-I" "")
  list(FILTER flags INCLUDE REGEX "^-[lL]")
  add_executable(world_from_${mpi} world_child.c)
  target_compile_definitions(world_from_${mpi} PRIVATE WITH_MPI)
  target_include_directories(world_from_${mpi} SYSTEM PRIVATE ${folders})
  target_link_libraries(world_from_${mpi} PRIVATE stdcl_flags stdcl_world ${flags})
  set(plugin "")
  if(TARGET world_${other})
    set(plugin ${other})
  endif()
  add_test(NAME world_${mpi} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/world.sh ${mpi} "${plugin}"
    ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/stdcl $<TARGET_FILE:world_child> $<TARGET_FILE:world_from_${mpi}>
    $<TARGET_FILE:stdcl_command> $<TARGET_FILE:two_devices> "$<$<TARGET_EXISTS:fault_layer>:$<TARGET_FILE:fault_layer>>")
  # One of the two compiles the kernels, unoptimised, and the other finds them in the cache.
  set_tests_properties(world_${mpi} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77 COST 15 ENVIRONMENT "${quickly}")
  add_test(NAME deep_hosts_${mpi} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/hosts.sh ${mpi} ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/stdcl
    $<TARGET_FILE:stdcl_command>)
  set_tests_properties(deep_hosts_${mpi} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77 ENVIRONMENT "${quickly}")
  stdcl_label(deep deep_hosts_${mpi})
endfunction()
add_executable(world_child world_child.c)
target_link_libraries(world_child PRIVATE stdcl_flags stdcl_world)
stdcl_world_by(openmpi mpich)
stdcl_world_by(mpich openmpi)
if(TEST world_mpich AND TEST world_openmpi)
  set_tests_properties(world_mpich PROPERTIES DEPENDS world_openmpi)
endif()

# Engines, on the available devices and on two.
if(TARGET stdcl_gas AND TARGET stdcl_life AND TARGET stdcl_matmul AND TARGET stdcl_nbody)
  # PoCL before 6.0 ends the program now and then when contexts of one device, here the ranks', run kernels at the same time
  # ("pocl_release_dlhandle_cache"): each device has one thread.
  set(one POCL_MAX_PTHREAD_COUNT=1)
  set(soon ${one} ${quickly}) # deep_ranks has kernels optimised
  stdcl_test(test_ranks test_ranks.c LIBS builds_once leak_count stdcl_gas stdcl_life stdcl_matmul stdcl_nbody ENV ${soon})
  stdcl_test_on_two(test_ranks ENV ${soon})
  stdcl_test(deep_ranks PROGRAM test_ranks ARGS thorough ENV ${one})
  stdcl_test(deep_ranks_on_two PROGRAM two_devices ARGS $<TARGET_FILE:test_ranks> thorough ENV ${one})
  stdcl_test(deep_ranks_orders PROGRAM test_ranks ARGS orders ENV ${soon})
  stdcl_label(deep deep_ranks deep_ranks_on_two deep_ranks_orders)
endif()
