/* args.h - lists of kernel arguments that carry their C types.
 *
 *   const cl_uint n = 8192;
 *   clforkv(ctx, dev, kernel, &ndr, flags, ARGS(posm, n, REAL(nb, 0.01), clarg_local(64)));
 *
 * Each type is compared with the kernel's declaration at the launch, as for users of clforka: a
 * uint for a float, or a block for a value, is refused. An argument is
 *   - a pointer into memory of clmalloc, whose elements `void *` leaves open;
 *   - a number, a cl_mem, or a vector of float, double, int or uint;
 *   - REAL(engine, x), a number of the engine's precision, which is known at run time;
 *   - AS("double4", v), a struct that the kernel takes as the type named;
 *   - clarg_local(bytes), local memory;
 *   - a struct stdcl_arg, an argument made before.
 * Values of other types do not compile. Values are copied into the list, which lives until the end
 * of the block that it is written in.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_ARGS_H
#define CORE_ARGS_H

#include "stdcl.h"

#define COUNT_OF(array) ((cl_uint)(sizeof(array) / sizeof *(array)))

/* ARGS(a, b, ...): the two parameters `nargs, args` of clforkv. ARG_LIST: the array alone. 1 to 63
 * arguments. */
#define ARGS(...) STDCL_COUNT(0, __VA_ARGS__), ARG_LIST(__VA_ARGS__)
#define ARG_LIST(...) ((const struct stdcl_arg[]){STDCL_EACH(ARG_ITEM, 0, __VA_ARGS__)})
#define ARG_ITEM(v) ARG(v),

/* One argument, a struct stdcl_arg. ARG_AT keeps the address of the variable v instead of a copy:
 * for lists that are made in several blocks. */
#define ARG(v) ARG_FROM(v, STDCL_ADDRESS(v))
#define ARG_AT(v) ARG_FROM(v, &(v))

/* ---- Numbers whose precision is known at run time: engine->real bytes. ---- */

struct arg_real {
    size_t size;
    union {
        float in_single;
        double in_double;
    } value;
};

static inline struct arg_real arg_real(size_t size, double v)
{
    struct arg_real r = {.size = size};
    if (size == sizeof(float))
        r.value.in_single = (float)v;
    else
        r.value.in_double = v;
    return r;
}
#define REAL(engine, v) arg_real((engine)->real, (v))

/* ---- Structs, with the type of OpenCL C that they stand for. ---- */

#define AS(name, v)                                                                                \
    ((struct stdcl_arg){sizeof(STDCL_TYPEOF(v)), STDCL_VALUE, STDCL_ADDRESS(v), (name)})

/* ---- How an argument is made: what ARG calls for each kind. ---- */

static inline struct stdcl_arg arg_of(const void *address, size_t size, int kind, const char *type)
{
    return (struct stdcl_arg){size, kind, address, type};
}

static inline struct stdcl_arg arg_of_real(const void *address, size_t size, int kind,
                                           const char *type)
{
    const struct arg_real *r = address;
    (void)size, (void)kind, (void)type;
    return (struct stdcl_arg){r->size, STDCL_VALUE, &r->value,
                              r->size == sizeof(float) ? "float" : "double"};
}

static inline struct stdcl_arg arg_made(const void *address, size_t size, int kind,
                                        const char *type)
{
    (void)size, (void)kind, (void)type;
    return *(const struct stdcl_arg *)address;
}

struct arg_type_has_no_name { /* the compiler's message for a value of another type */
    int none;
};

/* clang-format off */
#define ARG_FROM(v, address)                                                                       \
    _Generic((v), struct stdcl_arg: arg_made, struct arg_real: arg_of_real, default: arg_of)(      \
        (address), sizeof(STDCL_TYPEOF(v)), STDCL_KIND(v), ARG_TYPE(v))
#define ARG_TYPE(v)                                                                                \
    _Generic((v), struct stdcl_arg: "", struct arg_real: "", stdcl_local_t: "",                    \
        cl_float2: "float2", cl_float4: "float4", cl_double2: "double2", cl_double4: "double4",    \
        cl_int2: "int2", cl_int4: "int4", cl_uint2: "uint2", cl_uint4: "uint4",                    \
        default: __builtin_choose_expr(ARG_HAS_NAME(v), STDCL_TYPE(v),                             \
                                       (struct arg_type_has_no_name){0}))
#define ARG_HAS_NAME(v)                                                                            \
    _Generic((v), char: 1, signed char: 1, unsigned char: 1, short: 1, unsigned short: 1, int: 1,  \
        unsigned: 1, long: 1, unsigned long: 1, long long: 1, unsigned long long: 1, float: 1,     \
        double: 1, cl_mem: 1, cl_sampler: 1, default: __builtin_classify_type(((void)0, (v))) == 5)
/* clang-format on */
#endif
