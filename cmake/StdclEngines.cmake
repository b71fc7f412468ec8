# Reads the list of engines: STDCL_ENGINES are their names, and for each of them STDCL_NAME_ABOUT is a line of
# description and STDCL_NAME_ON are the engines that it stands on.
# SPDX-License-Identifier: MIT
macro(stdcl_engine name about)
  cmake_parse_arguments(E "" "" "ON" ${ARGN})
  list(APPEND STDCL_ENGINES ${name})
  set(STDCL_${name}_ABOUT ${about})
  set(STDCL_${name}_ON ${E_ON})
endmacro()
include(${CMAKE_CURRENT_LIST_DIR}/engines.cmake)
