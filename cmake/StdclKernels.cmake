# stdcl_kernels(TARGET FILE...): embeds kernel sources in a target, as bytes.
# FILE nbody/force/direct.cl becomes `extern const unsigned char stdcl_kernel_nbody_direct_cl[]` and
# `extern const unsigned long stdcl_kernel_nbody_direct_cl_size`; paths are relative to the project.
# The target's property STDCL_KERNELS lists them.
# stdcl_embed(TARGET FILE...): the same for files that are no kernels.
# SPDX-License-Identifier: MIT
function(stdcl_embed target)
  foreach(file ${ARGN})
    string(MAKE_C_IDENTIFIER ${file} name)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
    add_custom_command(OUTPUT ${out}
      COMMAND ${CMAKE_COMMAND} -DIN=${PROJECT_SOURCE_DIR}/${file} -DOUT=${out} -DNAME=${name}
              -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
      DEPENDS ${PROJECT_SOURCE_DIR}/${file} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
    target_sources(${target} PRIVATE ${out})
  endforeach()
endfunction()

function(stdcl_kernels target)
  stdcl_embed(${target} ${ARGN})
  set_property(TARGET ${target} APPEND PROPERTY STDCL_KERNELS ${ARGN})
endfunction()
