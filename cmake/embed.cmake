# Writes the bytes of IN to OUT as a C array; the terminating zero is not counted in the size. In a kernel file an include says,
# to editors, what it is built on; the library puts that in front, so that there the line is made a comment: a compiler
# reads no files, and what was built need not be built again (core/program_cache.c).
# SPDX-License-Identifier: MIT
file(READ ${IN} hex HEX)
if(IN MATCHES "\\.(cl|h)$")
  string(REPLACE "23696e636c75646520" "2f2f6e636c75646520" hex "${hex}") # "#include " is "//nclude "
endif()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "extern const unsigned char stdcl_kernel_${NAME}[];
extern const unsigned long stdcl_kernel_${NAME}_size;
const unsigned char stdcl_kernel_${NAME}[] = {
${bytes}0};
const unsigned long stdcl_kernel_${NAME}_size = sizeof stdcl_kernel_${NAME} - 1;
")
