# The page of a run: its modules in Node, and all of it in a browser. `make deps-view` puts what npm brings into the build
# folder; without Node, a browser or those packages the tests say so and skip.
# SPDX-License-Identifier: MIT
find_program(STDCL_NODE NAMES node nodejs)
find_program(STDCL_CHROMIUM NAMES chromium chromium-browser google-chrome)
set(page ${CMAKE_CURRENT_LIST_DIR})
if(STDCL_NODE)
  add_test(NAME test_view_page COMMAND sh ${page}/node.sh ${STDCL_NODE} ${page}/pure.test.mjs ${page}/page.test.mjs)
  set_tests_properties(test_view_page PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
else()
  stdcl_absent(test_view_page "Node is not installed")
endif()
