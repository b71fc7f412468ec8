# The Lua front end: the command `stdcl run`, its modules inside the command and in plain luajit, the examples.
# SPDX-License-Identifier: MIT

# AddressSanitizer's guess of the threads' memory layout is wrong under LuaJIT.
set(sane "")
if(STDCL_SANITIZE)
  set(sane ASAN_OPTIONS=intercept_tls_get_addr=0)
endif()

if(TARGET stdcl_lua)
  stdcl_test(test_lua test_lua.c ENV ${sane} ARGS $<TARGET_FILE:stdcl_command> ${PROJECT_SOURCE_DIR}/lua/examples)
  add_dependencies(test_lua stdcl_command)
else()
  stdcl_test(test_lua_none test_lua_none.c ARGS $<TARGET_FILE:stdcl_command>)
  add_dependencies(test_lua_none stdcl_command)
endif()

function(stdcl_lua_test name)
  cmake_parse_arguments(T "" "" "COMMAND;ENV" ${ARGN})
  add_test(NAME ${name} COMMAND ${T_COMMAND} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77 ENVIRONMENT "${T_ENV};${sane}")
endfunction()

foreach(subject opencl collect stdcl)
  if(TARGET stdcl_lua)
    stdcl_lua_test(test_lua_${subject} COMMAND stdcl_command run test_lua_${subject}.lua)
  endif()
  if(STDCL_LUAJIT AND NOT STDCL_SANITIZE)
    stdcl_lua_test(test_lua_${subject}_luajit COMMAND ${STDCL_LUAJIT} test_lua_${subject}.lua
      ENV LUA_PATH=${PROJECT_SOURCE_DIR}/lua/?.lua STDCL_LIBRARY=$<TARGET_FILE:stdcl_shared>)
  endif()
endforeach()
if(TARGET stdcl_lua)
  stdcl_lua_test(test_lua_stdcl_declared COMMAND stdcl_command run test_lua_stdcl.lua ENV STDCL_ARG_INFO=source)
  stdcl_lua_test(test_lua_stdcl_on_two COMMAND two_devices $<TARGET_FILE:stdcl_command> run test_lua_stdcl.lua)
endif()
