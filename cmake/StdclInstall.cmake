# Installation: files and folders, and the packages by which other projects find them.
#
#   include/stdcl.h, include/stdcl/*.h       the headers; stdcl.hpp and stdcl.f90 for C++ and Fortran
#   lib/libstdcl.{so,a}                      the layer
#   lib/libstdcl_NAME.{so,a}                 an engine, or a library like one: see engines.cmake
#   lib/pkgconfig/stdcl.pc, stdcl_NAME.pc    `pkg-config [--static] --cflags --libs stdcl`
#   lib/cmake/stdcl/                         find_package(stdcl): stdcl::stdcl, stdcl::stdcl_static,
#                                            stdcl::NAME, stdcl::NAME_static
#   bin/stdcl, share/stdcl/kernels/          the command; the kernels, to read and to override
#   share/stdcl/include/                     the headers that kernels may include: needed at run time
# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)

# stdcl_install_library(NAME FROM target... MAP file [LIBS lib...] [PRIVATE lib...])
# Make libNAME.so and libNAME.a from the objects of in-tree targets, exporting only the names in the version map. The
# shared library uses the map; the static one is a single relocatable object with all other names made local, so that a
# program may define, for example, its own memory_find. The map has one node per minor release, STDCL_1.0 first; a test
# compares it with the headers. LIBS (CMake targets; stdcl is libstdcl, stdcl_NAME an engine) are also linked by programs
# that use the library, PRIVATE only by the library.
function(stdcl_install_library name)
  cmake_parse_arguments(L "" "MAP" "FROM;LIBS;PRIVATE" ${ARGN})
  string(REGEX REPLACE "^stdcl_" "" short ${name}) # stdcl, or the engine's bare name
  set(dir ${PROJECT_BINARY_DIR}/install)
  set(objects "")
  foreach(target ${L_FROM})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()

  set(map ${PROJECT_SOURCE_DIR}/${L_MAP})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${map})
  file(READ ${map} text)
  string(REGEX MATCHALL "\n +[a-z][a-z0-9_]*" names "${text}")
  string(REGEX REPLACE "[ \n;]+" "\n" names "${names}")
  file(CONFIGURE OUTPUT ${dir}/${name}.names CONTENT "${names}\n")
  add_library(${name}_shared SHARED ${objects})
  set_target_properties(${name}_shared PROPERTIES EXPORT_NAME ${short} LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${map})
  if(NOT name STREQUAL "stdcl") # an engine finds the layer beside it
    set_target_properties(${name}_shared PROPERTIES INSTALL_RPATH "\$ORIGIN")
  endif()
  target_link_options(${name}_shared PRIVATE
    LINKER:--version-script=${map} LINKER:--no-undefined)

  add_custom_command(OUTPUT ${dir}/${name}.o
    COMMAND ${CMAKE_LINKER} -r -o ${dir}/${name}.o ${objects}
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${dir}/${name}.names ${dir}/${name}.o
    DEPENDS ${L_FROM} ${objects} ${dir}/${name}.names COMMAND_EXPAND_LISTS VERBATIM)
  add_library(${name}_sealed STATIC ${dir}/${name}.o)
  set_target_properties(${name}_sealed PROPERTIES EXPORT_NAME ${short}_static LINKER_LANGUAGE C)

  foreach(kind shared sealed)
    set_target_properties(${name}_${kind} PROPERTIES OUTPUT_NAME ${name}
      LIBRARY_OUTPUT_DIRECTORY ${dir} ARCHIVE_OUTPUT_DIRECTORY ${dir})
    target_include_directories(${name}_${kind} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    list(TRANSFORM L_LIBS REPLACE "^(stdcl(_[a-z0-9]+)?)$" "\\1_${kind}" OUTPUT_VARIABLE libs)
    target_link_libraries(${name}_${kind} PUBLIC ${libs} PRIVATE ${L_PRIVATE})
  endforeach()
  install(TARGETS ${name}_shared ${name}_sealed EXPORT stdclTargets)
endfunction()

# stdcl_install_pc(NAME DESCRIPTION [REQUIRES package...] [PRIVATE package...] [LIBS_PRIVATE flag...])
# PRIVATE and LIBS_PRIVATE are what `pkg-config --static` adds. Its paths start at the file's own folder,
# so that an installed tree may be moved.
function(stdcl_install_pc name description)
  cmake_parse_arguments(P "" "" "REQUIRES;PRIVATE;LIBS_PRIVATE" ${ARGN})
  foreach(part REQUIRES PRIVATE LIBS_PRIVATE)
    string(JOIN " " P_${part} ${P_${part}})
  endforeach()
  file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" up "${up}")
  foreach(part LIBDIR INCLUDEDIR)
    set(P_${part} ${CMAKE_INSTALL_${part}})
    cmake_path(ABSOLUTE_PATH P_${part} BASE_DIRECTORY "\${prefix}")
  endforeach()
  set(file ${PROJECT_BINARY_DIR}/install/${name}.pc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/stdcl.pc.in ${file} @ONLY)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# ---- The layer. A loader from elsewhere may come without OpenCL.pc; then its path is written out.
get_property(modules GLOBAL PROPERTY STDCL_MODULES) # such as JANSSON, which pkg-config calls jansson
list(TRANSFORM modules PREPEND PkgConfig:: OUTPUT_VARIABLE libs)
get_property(rooms GLOBAL PROPERTY STDCL_ROOMS)
stdcl_install_library(stdcl FROM ${rooms}
  MAP core/stdcl.map LIBS OpenCL::OpenCL Threads::Threads PRIVATE ${libs} m)
# Not "Requires.private" for these: only static linking needs their development files.
set(flags -pthread -lm)
foreach(module ${modules})
  list(APPEND flags ${${module}_STATIC_LDFLAGS})
endforeach()
pkg_check_modules(OPENCL_PC QUIET OpenCL)
if(OPENCL_PC_FOUND)
  stdcl_install_pc(stdcl "${PROJECT_DESCRIPTION}" PRIVATE OpenCL LIBS_PRIVATE ${flags})
else()
  stdcl_install_pc(stdcl "${PROJECT_DESCRIPTION}" LIBS_PRIVATE ${OpenCL_LIBRARIES} ${flags})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.f90")
install(FILES ${PROJECT_SOURCE_DIR}/include/stdcl.h DESTINATION ${CMAKE_INSTALL_DATADIR}/stdcl/include)
install(FILES ${PROJECT_SOURCE_DIR}/include/stdcl/philox.h DESTINATION ${CMAKE_INSTALL_DATADIR}/stdcl/include/stdcl)

# ---- The engines. The map selects exports, not the sources. Properties of an engine's target: STDCL_OBJECTS, further
# objects in its library; STDCL_KERNELS, embedded files; STDCL_USES, pkg-config modules in use; STDCL_BESIDE, a shared
# library of its own that it links.
foreach(engine ${STDCL_ENGINES})
  get_target_property(objects stdcl_${engine} STDCL_OBJECTS)
  if(NOT objects)
    set(objects "")
  endif()
  list(TRANSFORM STDCL_${engine}_ON PREPEND stdcl_ OUTPUT_VARIABLE below)
  set_target_properties(stdcl_${engine} ${objects} PROPERTIES C_VISIBILITY_PRESET default)
  get_target_property(uses stdcl_${engine} STDCL_USES)
  if(NOT uses)
    set(uses "")
  endif()
  list(TRANSFORM uses PREPEND PkgConfig:: OUTPUT_VARIABLE libs)
  list(APPEND modules ${uses})
  stdcl_install_library(stdcl_${engine} FROM stdcl_${engine} ${objects} MAP ${engine}/${engine}.map LIBS ${below} stdcl m PRIVATE ${libs})
  get_target_property(beside stdcl_${engine} STDCL_BESIDE)
  set(flags -lm)
  foreach(module ${uses})
    list(APPEND flags ${${module}_LDFLAGS})
  endforeach()
  if(beside)
    cmake_path(GET beside FILENAME file)
    list(PREPEND flags -l:${file})
    foreach(kind shared sealed)
      target_link_libraries(stdcl_${engine}_${kind} PRIVATE $<BUILD_INTERFACE:${beside}>)
    endforeach()
    target_link_libraries(stdcl_${engine}_sealed INTERFACE
      $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/${file}>)
  endif()
  stdcl_install_pc(stdcl_${engine} "${STDCL_${engine}_ABOUT}" REQUIRES ${below} stdcl LIBS_PRIVATE ${flags})
  foreach(target stdcl_${engine} ${objects})
    get_target_property(kernels ${target} STDCL_KERNELS)
    if(NOT kernels)
      set(kernels "")
    endif()
    foreach(file ${kernels})
      cmake_path(GET file PARENT_PATH room)
      install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/stdcl/kernels/${room})
      set_property(GLOBAL APPEND PROPERTY STDCL_INSTALLED_KERNELS ${file})
    endforeach()
  endforeach()
endforeach()

# All installed targets, without tests and benchmarks.
add_custom_target(installed)
add_dependencies(installed stdcl_command stdcl_shared stdcl_sealed)
foreach(engine ${STDCL_ENGINES})
  add_dependencies(installed stdcl_${engine}_shared stdcl_${engine}_sealed)
endforeach()
foreach(mpi openmpi mpich)
  if(TARGET world_${mpi})
    add_dependencies(installed world_${mpi})
  endif()
endforeach()

# ---- The CMake package. (The command is installed by its own room.)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/stdcl)
install(EXPORT stdclTargets NAMESPACE stdcl:: DESTINATION ${package})
list(REMOVE_DUPLICATES modules)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/stdclConfig.cmake.in
  ${PROJECT_BINARY_DIR}/install/stdclConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/stdclConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/stdclConfig.cmake
  ${PROJECT_BINARY_DIR}/install/stdclConfigVersion.cmake DESTINATION ${package})
