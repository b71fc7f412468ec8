/* stdcl/template.h - kernels that are generated: OpenCL C with Lua in it.
 *
 * Part of <stdcl.h>, which includes it.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_TEMPLATE_H
#define STDCL_TEMPLATE_H

#include "../stdcl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A template is text with Lua in it (docs/templates.md): `${expression}` stands for its value, and
 * a line whose first non-blank character is `|` is a Lua statement, so that loops unroll and tables
 * become code:
 *
 *     |for i = 0, N - 1 do
 *     sum += x[${i}];
 *     |end
 *
 * Its global names are the values given here, and Lua's base, math, string, table and bit without
 * anything that reaches files, the system or bytecode. Inside ${} a name without a value, or a nil,
 * is an error; so are an endless loop (10^9 instructions), 1 GiB of Lua memory and 256 MiB of text.
 * Every error names the template's own file and line, and #line directives make a compiler's
 * messages do the same. clopen expands a file called *.clt, without values.
 *
 * Values are the inside of a Lua table constructor in printf's formatting (with a decimal point,
 * whatever the locale), "N = %zu, work_size = %d, taps = {1, 2.5, %g}", or a list of clvalue(name,
 * v). NULL: none. The list is the safe way for strings that a user gave, and for 64-bit integers.
 * Failure: ENOEXEC for an error in the template, EINVAL for one in the arguments or values, ENOMEM,
 * and ENOTSUP when the library was built without LuaJIT. */

/* What a value is. */
enum stdcl_value_kind {
    STDCL_V_END,     /* the end of a list */
    STDCL_V_INTEGER, /* .integer */
    STDCL_V_NATURAL, /* .natural */
    STDCL_V_NUMBER,  /* .number */
    STDCL_V_BOOL,    /* .integer, 0 or 1 */
    STDCL_V_STRING,  /* .string */
    STDCL_V_TABLE    /* .table */
};

/* A named value. In C and C++ clvalue makes it; bindings of other languages fill in the member that
 * goes with the kind. */
typedef struct clvalue {
    const char *name; /* NULL: the next element, from 1, of the table that holds it */
    int kind;         /* enum stdcl_value_kind; STDCL_V_END ends a list */
    union {
        long long integer;
        unsigned long long natural;
        double number;
        const char *string;
        const struct clvalue *table;
    } as;
} clvalue_t;

/* clvalue(name, v): v has any arithmetic type (integers are exact), or is a string, or a list of
 * values for a nested table. Strings and lists are borrowed until the call returns. CLVALUE_END
 * ends a list:
 *   const clvalue_t list[] = {clvalue("N", n), clvalue("type", "float"), CLVALUE_END}; */
#define clvalue(name, v) STDCL_VALUE_OF(name, v)
#define CLVALUE_END stdcl_value(NULL, 0)

/* Expands `size` bytes of template. `name` is what messages and #line directives call it; NULL
 * leaves the directives out, so that the result is exactly the text. The caller frees the
 * string. */
char *cltemplate(const char *name, const char *text, size_t size, const char *values, ...)
    STDCL_PRINTF(4, 5);
char *cltemplatev(const char *name, const char *text, size_t size, const clvalue_t *values);

/* As clopen, of a template file, whatever its name ends in. */
void *clopent(CLCONTEXT *cp, const char *file, int flags, const char *values, ...)
    STDCL_PRINTF(4, 5);
void *clopentv(CLCONTEXT *cp, const char *file, int flags, const clvalue_t *values);

/* As clopen_named, of a template: a library carries it, and $STDCL_KERNEL_PATH may replace it. */
void *clopen_template(CLCONTEXT *cp, const char *name, const char *text, size_t size,
                      const char *options, int flags, const char *values, ...) STDCL_PRINTF(7, 8);
void *clopen_templatev(CLCONTEXT *cp, const char *name, const char *text, size_t size,
                       const char *options, int flags, const clvalue_t *values);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- The machinery behind clvalue; nothing below is interface. ------------------------------- */

static inline clvalue_t stdcl_value(const char *name, int kind)
{
    clvalue_t v;
    memset(&v, 0, sizeof v);
    v.name = name;
    v.kind = kind;
    return v;
}

#define STDCL_VALUE_MAKER(suffix, type, which, member)                                             \
    static inline clvalue_t stdcl_value_##suffix(const char *name, type x)                         \
    {                                                                                              \
        clvalue_t v = stdcl_value(name, which);                                                    \
        v.as.member = x;                                                                           \
        return v;                                                                                  \
    }
STDCL_VALUE_MAKER(integer, long long, STDCL_V_INTEGER, integer)
STDCL_VALUE_MAKER(natural, unsigned long long, STDCL_V_NATURAL, natural)
STDCL_VALUE_MAKER(number, double, STDCL_V_NUMBER, number)
STDCL_VALUE_MAKER(truth, long long, STDCL_V_BOOL, integer)
STDCL_VALUE_MAKER(string, const char *, STDCL_V_STRING, string)
STDCL_VALUE_MAKER(table, const clvalue_t *, STDCL_V_TABLE, table)
#undef STDCL_VALUE_MAKER

#ifdef __cplusplus
#define STDCL_VALUE_OF(name, v) stdcl_cxx::value((name), (v))
namespace stdcl_cxx
{
#define STDCL_VALUE_CXX(suffix, type)                                                              \
    inline clvalue_t value(const char *name, type v)                                               \
    {                                                                                              \
        return stdcl_value_##suffix(name, v);                                                      \
    }
STDCL_VALUE_CXX(truth, bool)
STDCL_VALUE_CXX(integer, char)
STDCL_VALUE_CXX(integer, signed char)
STDCL_VALUE_CXX(integer, short)
STDCL_VALUE_CXX(integer, int)
STDCL_VALUE_CXX(integer, long)
STDCL_VALUE_CXX(integer, long long)
STDCL_VALUE_CXX(natural, unsigned char)
STDCL_VALUE_CXX(natural, unsigned short)
STDCL_VALUE_CXX(natural, unsigned int)
STDCL_VALUE_CXX(natural, unsigned long)
STDCL_VALUE_CXX(natural, unsigned long long)
STDCL_VALUE_CXX(number, float)
STDCL_VALUE_CXX(number, double)
STDCL_VALUE_CXX(string, const char *)
STDCL_VALUE_CXX(table, const clvalue_t *)
#undef STDCL_VALUE_CXX
} // namespace stdcl_cxx
#else
#define STDCL_VALUE_OF(name, v)                                                                    \
    _Generic((v), _Bool: stdcl_value_truth, char: stdcl_value_integer,                             \
        signed char: stdcl_value_integer, short: stdcl_value_integer, int: stdcl_value_integer,    \
        long: stdcl_value_integer, long long: stdcl_value_integer,                                 \
        unsigned char: stdcl_value_natural, unsigned short: stdcl_value_natural,                   \
        unsigned: stdcl_value_natural, unsigned long: stdcl_value_natural,                         \
        unsigned long long: stdcl_value_natural, float: stdcl_value_number,                        \
        double: stdcl_value_number, char *: stdcl_value_string, const char *: stdcl_value_string,  \
        clvalue_t *: stdcl_value_table, const clvalue_t *: stdcl_value_table)((name), (v))
#endif

#endif
