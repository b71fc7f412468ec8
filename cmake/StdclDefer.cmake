# Libraries that a program opens at their first use instead of at its start (core/deferred.h).
# SPDX-License-Identifier: MIT

# stdcl_defer(TARGET MODULE NAME): compile a target with the headers of a pkg-config module, and define
# STDCL_NAME_LIBRARY as the library's name for dlopen: its soname, with a path if the linker does not search there. If the
# module has no shared library with a soname, the target is linked with it as usual.
function(stdcl_defer target module name)
  set(package PkgConfig::${module})
  get_target_property(libs ${package} INTERFACE_LINK_LIBRARIES)
  list(GET libs 0 library)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE about ERROR_QUIET)
  if(NOT about MATCHES "SONAME +([^ \n]+)")
    target_link_libraries(${target} PRIVATE ${package})
    return()
  endif()
  set(soname ${CMAKE_MATCH_1})
  get_filename_component(folder ${library} DIRECTORY)
  if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    string(PREPEND soname ${folder}/)
  endif()
  target_compile_definitions(${target} PRIVATE STDCL_${name}_LIBRARY="${soname}")
  target_include_directories(${target} SYSTEM PRIVATE $<TARGET_PROPERTY:${package},INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:${package},INTERFACE_COMPILE_OPTIONS>)
  target_link_libraries(${target} PUBLIC ${CMAKE_DL_LIBS})
endfunction()
