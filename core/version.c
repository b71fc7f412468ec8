/* version.c - the version of the library in use.
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"

STDCL_API const char *stdcl_version(void)
{
    return STDCL_VERSION;
}
