# The rooms of libstdcl, one object library each, and the library made of them.
#
#   stdcl_room(NAME FILE... [LIBS module...])   in NAME/CMakeLists.txt: the objects stdcl_NAME
#   stdcl_gather()                              after the last room: stdcl_static, linked by this repository's programs
#
# cmake/StdclInstall.cmake makes the installed libraries from these objects. LIBS are pkg-config modules (such as
# JANSSON) that the room uses besides OpenCL, threads and libm.
# SPDX-License-Identifier: MIT
define_property(GLOBAL PROPERTY STDCL_ROOMS BRIEF_DOCS "Object libraries of libstdcl")
define_property(GLOBAL PROPERTY STDCL_MODULES BRIEF_DOCS "What they use that pkg-config found")

function(stdcl_room name)
  cmake_parse_arguments(R "" "" "LIBS" ${ARGN})
  add_library(stdcl_${name} OBJECT ${R_UNPARSED_ARGUMENTS})
  target_include_directories(stdcl_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR})
  list(TRANSFORM R_LIBS PREPEND PkgConfig:: OUTPUT_VARIABLE libs)
  target_link_libraries(stdcl_${name} PRIVATE stdcl_flags OpenCL::OpenCL Threads::Threads ${libs})
  set_property(GLOBAL APPEND PROPERTY STDCL_ROOMS stdcl_${name})
  set_property(GLOBAL APPEND PROPERTY STDCL_MODULES ${R_LIBS})
endfunction()

function(stdcl_gather)
  get_property(rooms GLOBAL PROPERTY STDCL_ROOMS)
  get_property(modules GLOBAL PROPERTY STDCL_MODULES)
  list(REMOVE_DUPLICATES modules)
  set_property(GLOBAL PROPERTY STDCL_MODULES ${modules})
  list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  list(TRANSFORM modules PREPEND PkgConfig:: OUTPUT_VARIABLE libs)
  add_library(stdcl_static STATIC ${objects})
  set_target_properties(stdcl_static PROPERTIES OUTPUT_NAME stdcl LINKER_LANGUAGE C)
  target_include_directories(stdcl_static PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(stdcl_static PUBLIC OpenCL::OpenCL Threads::Threads PRIVATE ${libs} m)
endfunction()
