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

# The gallery's page is what the command makes today.
if(TARGET stdcl_command)
  add_test(NAME test_view_gallery COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/view/gallery.sh $<TARGET_FILE:stdcl_command>
    ${PROJECT_SOURCE_DIR}/docs/gallery/collision.html)
  set_tests_properties(test_view_gallery PROPERTIES TIMEOUT 300)
endif()
