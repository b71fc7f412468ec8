/* version.c - the version of the library that a program has found.
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"

STDCL_API const char *stdcl_version(void)
{
    return STDCL_VERSION;
}
