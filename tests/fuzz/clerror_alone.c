/* clerror_alone.c - the error sentence of <stdcl.h> without the layer, so that a fuzzing harness needs no OpenCL. */
/* SPDX-License-Identifier: MIT */
#include "stdcl.h"

static char sentence[4096];
static int code_of_last;

int *stdcl_errno_address(void)
{
    return &code_of_last;
}
char *clerror(void)
{
    return sentence;
}

int clerror_set(int code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    code_of_last = code;
    return -1;
}
