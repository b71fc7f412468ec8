/* args.h - lists of kernel arguments, as clforkv takes them.
 *
 *   const cl_uint n = 8192;
 *   REAL_NUMBER(eps, 0.01);
 *   const struct stdcl_arg args[] = {BLOCK_ARG(posm), VALUE_ARG(n), REAL_ARG(nb, eps)};
 *   clforkv(ctx, dev, kernel, &ndr, flags, COUNT_OF(args), args);
 *
 * An argument keeps the address of its variable, which must live until the call.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_ARGS_H
#define CORE_ARGS_H

#include "stdcl.h"

#define COUNT_OF(array) ((cl_uint)(sizeof(array) / sizeof *(array)))

/* clang-format off */

/* The value of a variable; a pointer into memory of clmalloc. */
#define VALUE_ARG(v) {.size = sizeof(v), .kind = STDCL_VALUE, .value = &(v)}
#define BLOCK_ARG(p) {.size = sizeof(void *), .kind = STDCL_GLOBAL, .value = &(p)}

/* A number of the engine's precision, which is known at run time: engine->real bytes. REAL_NUMBER
 * declares `name`, a double, with storage for either precision. */
#define REAL_NUMBER(name, v) const double name = (v); const float name##_single = (float)name
#define REAL_ARG(engine, name)                            \
    {.size = (engine)->real, .kind = STDCL_VALUE,         \
     .value = (engine)->real == sizeof(float) ? (const void *)&name##_single : &name}

/* clang-format on */
#endif
