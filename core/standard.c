/* standard.c - the standard contexts (stddev, stdcpu, ...), configured by the environment.
 * SPDX-License-Identifier: MIT
 */
#include "core/context.h"
#include "core/environment.h"

#include <limits.h>

#undef stddev
#undef stdcpu
#undef stdgpu
#undef stdacc
#undef stdnpu
#undef stdrpu

/* For programs that link to the names; set by stdcl_init. */
STDCL_API CLCONTEXT *stddev, *stdcpu, *stdgpu, *stdacc, *stdnpu, *stdrpu;

static const struct {
    const char *name; /* prefix of the environment variables */
    cl_device_type type;
    CLCONTEXT **place;
} standards[] = {
    {"STDDEV", CL_DEVICE_TYPE_ALL, &stddev}, {"STDCPU", CL_DEVICE_TYPE_CPU, &stdcpu},
    {"STDGPU", CL_DEVICE_TYPE_GPU, &stdgpu}, {"STDACC", CL_DEVICE_TYPE_ACCELERATOR, &stdacc},
    {"STDNPU", CL_DEVICE_TYPE_ALL, &stdnpu},
};
enum { STANDARDS = sizeof standards / sizeof *standards };

static struct failure why_not[STANDARDS]; /* code 0: there are no such devices */
static pthread_once_t standard_once = PTHREAD_ONCE_INIT;

static const char *variable(const char *name, const char *suffix)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    const char *value = getenv(whole);
    return value && *value ? value : NULL;
}

/* A CPU that two platforms drive is one CPU: keep the first platform's devices. */
static size_t keep_first_platform(const struct candidate **chosen, size_t n)
{
    size_t kept = 0;
    while (kept < n && chosen[kept]->platform == chosen[0]->platform)
        kept++;
    return kept;
}

/* The environment may name a platform for another machine, so a missing platform is no reason to
 * have no devices. It is the user's mistake rather than the program's, and the only thing that the
 * library prints on its own. */
static size_t choose_devices(const char *name, cl_device_type type, const struct candidate **chosen)
{
    const char *wanted = variable(name, "_PLATFORM_NAME");
    size_t n = enumerate_match(wanted, type, chosen);
    if (n || !wanted)
        return n;
    n = enumerate_match(NULL, type, chosen);
    if (n)
        fprintf(
            stderr,
            "stdcl: %s_PLATFORM_NAME=%s matches no platform or device of that kind; taking what there is: %s "
            "(%s)%s\n",
            name, wanted, chosen[0]->words[2], chosen[0]->words[0], n > 1 ? " and others" : "");
    return n;
}

/* The number in a variable, or 0; -1 after fail(). */
static int standard_number(const char *name, const char *suffix, long least, long most,
                           long *number)
{
    char whole[64];
    const char *value = variable(name, suffix);
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    *number = 0;
    return value ? environment_number(whole, value, least, most, number) : 0;
}

static CLCONTEXT *make_standard(const char *name, cl_device_type type)
{
    enum { MOST_DEVICES = 1 << 20 };
    const char *enabled = variable(name, "");
    const bool number =
        enabled && *enabled &&
        enabled[strspn(enabled, "0123456789")] == '\0'; /* any value but 0 has always meant yes */
    long limit, key, on;
    if (number ? strtol(enabled, NULL, 10) == 0 : standard_number(name, "", 0, 1, &on) != 0)
        return NULL;
    if (standard_number(name, "_MAX_NDEV", 0, MOST_DEVICES, &limit) != 0 ||
        standard_number(name, "_LOCK", INT_MIN, UINT_MAX, &key) != 0)
        return NULL;
    const struct candidate **chosen = calloc(enumerate_count() + 1, sizeof *chosen);
    if (!chosen)
        return fail(ENOMEM, 0, "%s: out of memory on the host", name), NULL;

    int *claims = NULL;
    CLCONTEXT *cp = NULL;
    size_t n = choose_devices(name, type, chosen);
    if (type == CL_DEVICE_TYPE_CPU)
        n = keep_first_platform(chosen, n);
    if (n && key)
        n = device_lock_take(chosen, n, limit ? (size_t)limit : 1, (int)key, &claims);
    else if (limit && n > (size_t)limit)
        n = (size_t)limit;
    if (n)
        cp = context_of(chosen, n, claims);
    else if (enumerate_error())
        fail(ENODEV, enumerate_error(), "%s: a platform or a device does not answer", name);
    if (cp)
        cp->standard = true;
    free(chosen);
    return cp;
}

static void make_standards(void)
{
    struct failure before;
    failure_save(&before);
    for (int i = 0; i < STANDARDS; i++) {
        clerrno = 0;
        *standards[i].place = make_standard(standards[i].name, standards[i].type);
        if (*standards[i].place || !clerrno)
            continue;
        why_not[i] = failure_copy();
        no_context_reason(why_not[i].text);
    }
    failure_restore(&before); /* no device of a kind is no error */
}

STDCL_API void stdcl_init(void)
{
    pthread_once(&standard_once, make_standards);
}

/* The address of a context's variable, after all contexts were created. If it could not be
 * created, report the reason again. */
static CLCONTEXT **standard_slot(int which)
{
    stdcl_init();
    if (which < 0 || which >= STANDARDS)
        return &stdrpu;
    if (!*standards[which].place && why_not[which].code)
        fail(why_not[which].code, 0, "%s",
             why_not[which].text ? why_not[which].text : "out of memory on the host");
    return standards[which].place;
}

STDCL_API CLCONTEXT *stdcl_standard_context(int which)
{
    return *standard_slot(which);
}

STDCL_API CLCONTEXT **stdcl_stddev_address(void)
{
    return standard_slot(0);
}
STDCL_API CLCONTEXT **stdcl_stdcpu_address(void)
{
    return standard_slot(1);
}
STDCL_API CLCONTEXT **stdcl_stdgpu_address(void)
{
    return standard_slot(2);
}
STDCL_API CLCONTEXT **stdcl_stdacc_address(void)
{
    return standard_slot(3);
}
STDCL_API CLCONTEXT **stdcl_stdnpu_address(void)
{
    return standard_slot(4);
}
STDCL_API CLCONTEXT **stdcl_stdrpu_address(void)
{
    return standard_slot(5);
}
