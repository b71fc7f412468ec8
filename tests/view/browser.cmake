# The page of a run: its modules in Node, and the whole page in a browser. `make deps-view` puts the
# browser's driver into the build folder; without it, a browser or Node the tests are skipped with
# the reason.
# SPDX-License-Identifier: MIT
find_program(STDCL_NODE NAMES node nodejs)
set(page ${CMAKE_CURRENT_LIST_DIR})
set(browser sh ${page}/browser.sh ${STDCL_NODE} ${PROJECT_BINARY_DIR}/npm)
if(STDCL_SANITIZE)
  # nothing of it is compiled
elseif(STDCL_NODE)
  add_test(NAME test_view_page COMMAND sh ${page}/node.sh ${STDCL_NODE} ${page}/pure.test.mjs ${page}/page.test.mjs)
  add_test(NAME test_view_browser COMMAND ${browser} "--test-name-pattern=a sweep|wrong link"
    ${page}/browser.test.mjs)
  add_test(NAME deep_view_browser COMMAND ${browser} ${page}/browser.test.mjs)
  add_test(NAME deep_view_command COMMAND ${browser} ${page}/real.test.mjs)
  set_tests_properties(deep_view_command PROPERTIES ENVIRONMENT STDCL_COMMAND=$<TARGET_FILE:stdcl_command>)
  set_tests_properties(test_view_page test_view_browser deep_view_browser deep_view_command PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77)
  stdcl_label(browser test_view_browser deep_view_browser deep_view_command)
  stdcl_label(deep deep_view_browser deep_view_command)
else()
  stdcl_absent(test_view_page "Node is not installed")
endif()
