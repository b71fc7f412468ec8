/* template.c - public calls of kernel templates, and their values.
 *
 * Values arrive as a format or a list. Both become the inside of a Lua table constructor, the only
 * form that template_lua.c takes. Numbers are written in the "C" locale: a decimal comma would
 * separate two values.
 * SPDX-License-Identifier: MIT
 */
#include "template/template.h"

#include <locale.h>
#include <math.h>
#include <unistd.h>

enum { DEEPEST_TABLE = 100 };

/* ---- Values. ---- */

static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void template_make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Use the "C" locale for numbers in this thread; return the previous locale for uselocale. */
static locale_t enter_c_locale(void)
{
    pthread_once(&locale_once, template_make_c_locale);
    return uselocale(c_locale);
}

/* Format values; *text is NULL if there are none. The caller frees it. */
static int format_values(char **text, const char *format, va_list ap)
{
    *text = NULL;
    if (!format)
        return 0;
    locale_t before = enter_c_locale();
    int n = vasprintf(text, format, ap);
    uselocale(before);
    if (n >= 0)
        return 0;
    *text = NULL;
    return fail(ENOMEM, 0, "template: out of memory for the values");
}

static void value_write_string(FILE *fp, const char *s)
{
    fputc('"', fp);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        bool plain = c >= ' ' && c < 127 && c != '"' && c != '\\';
        fprintf(fp, plain ? "%c" : "\\%03u", c);
    }
    fputc('"', fp);
}

static void write_number(FILE *fp, double x)
{
    if (isnan(x))
        fputs("0/0", fp);
    else if (isinf(x))
        fputs(x > 0 ? "1/0" : "-1/0", fp);
    else
        fprintf(fp, "%.17g", x);
}

/* Integers beyond 2^53 become Lua's 64-bit integers, because its numbers are doubles. */
static void write_integer(FILE *fp, const clvalue_t *v)
{
    const long long exact = 1LL << 53;
    if (v->kind == STDCL_V_NATURAL)
        fprintf(fp, v->as.natural <= (unsigned long long)exact ? "%llu" : "%lluULL", v->as.natural);
    else
        fprintf(fp, v->as.integer <= exact && v->as.integer >= -exact ? "%lld" : "%lldLL",
                v->as.integer);
}

static int write_values(FILE *fp, const clvalue_t *v, int depth);

static int value_write(FILE *fp, const clvalue_t *v, int depth)
{
    switch (v->kind) {
    case STDCL_V_INTEGER:
    case STDCL_V_NATURAL:
        write_integer(fp, v);
        return 0;
    case STDCL_V_NUMBER:
        write_number(fp, v->as.number);
        return 0;
    case STDCL_V_BOOL:
        fputs(v->as.integer ? "true" : "false", fp);
        return 0;
    case STDCL_V_STRING:
        if (v->as.string)
            value_write_string(fp, v->as.string);
        else
            fputs("nil", fp);
        return 0;
    case STDCL_V_TABLE:
        fputc('{', fp);
        int status = v->as.table ? write_values(fp, v->as.table, depth + 1) : 0;
        fputc('}', fp);
        return status;
    default:
        return fail(EINVAL, 0, "template: the value %s was not made by clvalue",
                    v->name ? v->name : "");
    }
}

static int write_values(FILE *fp, const clvalue_t *v, int depth)
{
    if (depth > DEEPEST_TABLE)
        return fail(EINVAL, 0, "template: values nest more than %d deep; does a list hold itself?",
                    (int)DEEPEST_TABLE);
    for (; v->kind != STDCL_V_END; v++) {
        if (v->name) {
            fputc('[', fp);
            value_write_string(fp, v->name);
            fputs("]=", fp);
        }
        if (value_write(fp, v, depth) != 0)
            return -1;
        fputc(',', fp);
    }
    return 0;
}

/* As format_values, from a list. */
static int list_values(char **text, const clvalue_t *values)
{
    size_t size = 0;
    *text = NULL;
    if (!values)
        return 0;
    FILE *fp = open_memstream(text, &size);
    if (!fp)
        return fail(ENOMEM, 0, "template: out of memory for the values");
    locale_t before = enter_c_locale();
    int status = write_values(fp, values, 0);
    uselocale(before);
    if (fclose(fp) != 0 && status == 0)
        status = fail(ENOMEM, 0, "template: out of memory for the values");
    if (status != 0) {
        free(*text);
        *text = NULL;
    }
    return status;
}

/* ---- Expanding and opening, with values as text; all of them free it. ---- */

static char *expand(const char *name, const char *text, size_t size, char *values)
{
    char *result = NULL;
    if (text)
        result = stdcl_template_expand(name, text, size, values);
    else
        fail(EINVAL, 0, "%s: the text of the template is NULL", name ? name : "template");
    free(values);
    return result;
}

static void *value_text_open(CLCONTEXT *cp, const char *name, const char *text, size_t size,
                             const char *options, int flags, char *values, const char *call)
{
    char *source = expand(name, text, size, values);
    void *handle =
        source ? open_bytes(cp, name, source, strlen(source), options, flags, call) : NULL;
    free(source);
    return handle;
}

static void *open_file(CLCONTEXT *cp, const char *file, const char *options, int flags,
                       char *values, const char *call)
{
    size_t size = 0;
    char *text = NULL;
    void *handle = NULL;
    if (!file)
        fail(EINVAL, 0, "%s: the file name is NULL", call);
    else
        text = read_file(file, &size, call);
    if (text)
        handle = value_text_open(cp, file, text, size, options, flags, values, call);
    else
        free(values);
    free(text);
    return handle;
}

static void *open_template(CLCONTEXT *cp, const char *name, const char *text, size_t size,
                           const char *options, int flags, char *values)
{
    char path[4096];
    if (!name) {
        fail(EINVAL, 0, "clopen_template: the name is NULL");
        free(values);
        return NULL;
    }
    if (kernel_override(name, path, sizeof path))
        return open_file(cp, path, options, flags, values, "clopen_template");
    return value_text_open(cp, name, text, size, options, flags, values, "clopen_template");
}

/* ---- The public calls. ---- */

STDCL_API char *cltemplate(const char *name, const char *text, size_t size, const char *values, ...)
{
    char *lua;
    va_list ap;
    va_start(ap, values);
    int status = format_values(&lua, values, ap);
    va_end(ap);
    return status == 0 ? expand(name, text, size, lua) : NULL;
}

STDCL_API char *cltemplatev(const char *name, const char *text, size_t size,
                            const clvalue_t *values)
{
    char *lua;
    return list_values(&lua, values) == 0 ? expand(name, text, size, lua) : NULL;
}

STDCL_API void *clopent(CLCONTEXT *cp, const char *file, int flags, const char *values, ...)
{
    char *lua;
    va_list ap;
    va_start(ap, values);
    int status = format_values(&lua, values, ap);
    va_end(ap);
    return status == 0 ? open_file(cp, file, NULL, flags, lua, "clopent") : NULL;
}

STDCL_API void *clopentv(CLCONTEXT *cp, const char *file, int flags, const clvalue_t *values)
{
    char *lua;
    return list_values(&lua, values) == 0 ? open_file(cp, file, NULL, flags, lua, "clopentv")
                                          : NULL;
}

STDCL_API void *clopen_template(CLCONTEXT *cp, const char *name, const char *text, size_t size,
                                const char *options, int flags, const char *values, ...)
{
    char *lua;
    va_list ap;
    va_start(ap, values);
    int status = format_values(&lua, values, ap);
    va_end(ap);
    return status == 0 ? open_template(cp, name, text, size, options, flags, lua) : NULL;
}

STDCL_API void *clopen_templatev(CLCONTEXT *cp, const char *name, const char *text, size_t size,
                                 const char *options, int flags, const clvalue_t *values)
{
    char *lua;
    return list_values(&lua, values) == 0 ? open_template(cp, name, text, size, options, flags, lua)
                                          : NULL;
}

/* ---- What clopen and its kin do with templates. ---- */

static bool is_template(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".clt") == 0;
}

static char *without_values(const char *name, const char *text, size_t size)
{
    return stdcl_template_expand(name, text, size, NULL);
}

static const struct generator generator = {is_template, without_values};
const struct generator *const core_generator = &generator;
