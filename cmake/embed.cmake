# Write the bytes of IN to OUT as a C array; the size excludes the terminating zero. #include lines of kernel files
# serve editors only: the library prepends the included text, so the lines become comments here. Programs without
# includes can be cached (core/program_cache.c).
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
