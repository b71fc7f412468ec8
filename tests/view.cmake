# The window: its pieces, its server met by clients of others' making, what it costs.
# SPDX-License-Identifier: MIT
stdcl_test(test_view test_view.c LIBS stdcl_view PkgConfig::JANSSON)

# Its server, met by Debian's python3-websockets and by raw sockets.
add_executable(view_child view/child.c)
target_link_libraries(view_child PRIVATE stdcl_flags stdcl_view stdcl_static m)
target_include_directories(view_child PRIVATE ${PROJECT_SOURCE_DIR})
find_program(STDCL_PYTHON3 NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(STDCL_PYTHON3 AND TARGET stdcl_command)
  add_test(NAME test_view_server COMMAND ${STDCL_PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/view/server.py
    $<TARGET_FILE:view_child> $<TARGET_FILE:stdcl_command>)
  set_tests_properties(test_view_server PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77)
else()
  stdcl_absent(test_view_server "python3 is not installed")
endif()

# By npm's ws, where `make deps-view` has put it.
if(STDCL_NODE)
  add_test(NAME test_view_peer COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/view/peer.sh ${STDCL_NODE} ${PROJECT_BINARY_DIR}/npm)
  set_tests_properties(test_view_peer PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77 ENVIRONMENT STDCL_CHILD=$<TARGET_FILE:view_child>)
endif()

# And on two ranks, by whichever MPI there is. Deep as other jobs by MPI are (world.cmake).
if(STDCL_PYTHON3 AND TARGET stdcl_command AND TARGET world_openmpi AND NOT STDCL_SANITIZE)
  set(launch mpirun.openmpi --bind-to none -n 2)
elseif(STDCL_PYTHON3 AND TARGET stdcl_command AND TARGET world_mpich AND NOT STDCL_SANITIZE)
  set(launch mpiexec.mpich -n 2)
else()
  set(launch "")
endif()
if(launch)
  add_test(NAME test_view_ranks COMMAND ${STDCL_PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/view/server.py
    $<TARGET_FILE:view_child> $<TARGET_FILE:stdcl_command> ranks ${launch})
  set_tests_properties(test_view_ranks PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77 ENVIRONMENT
    "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_mpi_yield_when_idle=1;OMPI_MCA_btl_vader_single_copy_mechanism=none;OMPI_MCA_rmaps_base_oversubscribe=1;PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe")
else()
  stdcl_absent(test_view_ranks "no plugin for an MPI is built, or the build has a sanitizer")
endif()
stdcl_label(deep test_view_ranks)
