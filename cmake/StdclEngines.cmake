# Read the list of engines. STDCL_ENGINES: their names; STDCL_NAME_ABOUT: a line of description; STDCL_NAME_ON: the
# engines that NAME depends on.
# SPDX-License-Identifier: MIT
macro(stdcl_engine name about)
  cmake_parse_arguments(E "" "" "ON" ${ARGN})
  list(APPEND STDCL_ENGINES ${name})
  set(STDCL_${name}_ABOUT ${about})
  set(STDCL_${name}_ON ${E_ON})
endmacro()
include(${CMAKE_CURRENT_LIST_DIR}/engines.cmake)
