# Manual pages and shell completions, generated from the command's option tables, the public headers and two pages of
# docs/ (tools/pages/make.sh). The built command prints its tables; for a cross build, -DSTDCL_HOST_COMMAND= names a
# `stdcl` of equal version that runs on the host.
# SPDX-License-Identifier: MIT
set(STDCL_HOST_COMMAND "" CACHE FILEPATH "A stdcl that runs on the machine that builds; needed when cross compiling")
set(pages ${PROJECT_BINARY_DIR}/pages)
set(command $<TARGET_FILE:stdcl_command>)
if(STDCL_HOST_COMMAND)
  set(command ${STDCL_HOST_COMMAND})
endif()
set(script ${PROJECT_SOURCE_DIR}/tools/pages/make.sh)
file(GLOB inputs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/pages/* ${PROJECT_SOURCE_DIR}/include/*.h
  ${PROJECT_SOURCE_DIR}/include/stdcl/*.h)
add_custom_command(OUTPUT ${pages}/options.table
  COMMAND sh ${script} ${command} ${pages} ${PROJECT_VERSION} ${STDCL_DATE}
  DEPENDS stdcl_command ${inputs} ${PROJECT_SOURCE_DIR}/docs/environment.md ${PROJECT_SOURCE_DIR}/docs/files.md VERBATIM)
add_custom_target(pages ALL DEPENDS ${pages}/options.table)
add_dependencies(installed pages)

foreach(section 1 3 7)
  install(DIRECTORY ${pages}/man${section} DESTINATION ${CMAKE_INSTALL_MANDIR} FILES_MATCHING PATTERN "*.${section}")
endforeach()
install(CODE "
  file(STRINGS ${pages}/man3/links lines)
  foreach(line \${lines})
    separate_arguments(names UNIX_COMMAND \${line})
    list(GET names 0 page)
    list(GET names 1 name)
    set(link \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man3/\${name}.3\")
    file(CREATE_LINK \${page}.3 \"\${link}\" SYMBOLIC)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man3/\${name}.3\")
  endforeach()")
install(FILES ${pages}/stdcl.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME stdcl)
install(FILES ${pages}/_stdcl DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${pages}/stdcl.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The Python package, pure Python, where a folder is named.
set(STDCL_PYTHON_SITE "" CACHE PATH "Folder of Python's packages in which to install the Python package, if any")
if(STDCL_PYTHON_SITE)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/stdcl DESTINATION ${STDCL_PYTHON_SITE}
    FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
endif()

# Licence, documents, examples and data. Links of the documents into the sources lead to the installed file, or become
# text (tools/pages/links.awk).
set(beside README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(page ${beside})
  install(FILES ${PROJECT_SOURCE_DIR}/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
file(RELATIVE_PATH to_data ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_DATADIR}/stdcl)
file(RELATIVE_PATH to_include ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(rows include/=${to_include}/ data/=${to_data}/data/)
get_property(kernels GLOBAL PROPERTY STDCL_INSTALLED_KERNELS)
foreach(kernel ${kernels})
  list(APPEND rows ${kernel}=${to_data}/kernels/${kernel})
endforeach()
file(GLOB tops RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/*)
list(REMOVE_ITEM tops ${beside} LICENSE docs examples)
list(JOIN rows " " rows)
list(JOIN tops " " tops)
set(documents "\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_DOCDIR}")
  set(documents "${CMAKE_INSTALL_DOCDIR}")
endif()
install(CODE "
  set(folder \"\$ENV{DESTDIR}${documents}\")
  file(GLOB pages RELATIVE \"\${folder}\" \"\${folder}/*.md\" \"\${folder}/docs/*.md\")
  foreach(page \${pages})
    execute_process(COMMAND awk -f ${PROJECT_SOURCE_DIR}/tools/pages/links.awk -v page=\${page}
      -v \"installed=${rows}\" -v \"sources=${tops}\" \"\${folder}/\${page}\"
      OUTPUT_FILE \"\${folder}/\${page}.new\" COMMAND_ERROR_IS_FATAL ANY)
    file(RENAME \"\${folder}/\${page}.new\" \"\${folder}/\${page}\")
    file(CHMOD \"\${folder}/\${page}\" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endforeach()")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.c" PATTERN "*.cl" PATTERN "*.clt" PATTERN "*.lua" PATTERN "README.md" PATTERN "Makefile")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/stdcl/data)
# Without the documents, too, for `stdcl examples`.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/stdcl
  FILES_MATCHING PATTERN "*.c" PATTERN "*.cl" PATTERN "*.clt" PATTERN "Makefile")
