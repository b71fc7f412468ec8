# stdcl_tuning(TARGET): embeds tuning/*.json in a target, with a table that lists them.
# SPDX-License-Identifier: MIT
function(stdcl_tuning target)
  file(GLOB files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tuning/*.json)
  stdcl_kernels(${target} ${files})
  set(declarations "")
  set(entries "")
  foreach(file ${files})
    string(MAKE_C_IDENTIFIER ${file} name)
    string(APPEND declarations "extern const unsigned char stdcl_kernel_${name}[];\n"
                               "extern const unsigned long stdcl_kernel_${name}_size;\n")
    string(APPEND entries "    {\"${file}\", stdcl_kernel_${name}, &stdcl_kernel_${name}_size},\n")
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/tuning_files.c CONTENT
"struct tuning_file { const char *name; const unsigned char *data; const unsigned long *size; };
${declarations}extern const struct tuning_file stdcl_tuning_files[];
const struct tuning_file stdcl_tuning_files[] = {
${entries}    {0, 0, 0}};
")
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/tuning_files.c)
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/tuning_files.c PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
