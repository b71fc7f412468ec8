/* clfcn.h - a part of <stdcl.h> in the library of 2009-2015.
 * SPDX-License-Identifier: MIT
 */
#include "stdcl.h"
