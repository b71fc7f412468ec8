# Writes the bytes of IN to OUT as a C array; the terminating zero is not counted in the size.
# SPDX-License-Identifier: MIT
file(READ ${IN} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "extern const unsigned char stdcl_kernel_${NAME}[];
extern const unsigned long stdcl_kernel_${NAME}_size;
const unsigned char stdcl_kernel_${NAME}[] = {
${bytes}0};
const unsigned long stdcl_kernel_${NAME}_size = sizeof stdcl_kernel_${NAME} - 1;
")
