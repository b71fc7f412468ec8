/* standard.c - the standard contexts, stddev and the others, as the environment shapes them.
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"

static const struct {
    const char *name; /* of the environment variables */
    cl_device_type type;
} standards[] = {
    {"STDDEV", CL_DEVICE_TYPE_ALL},         {"STDCPU", CL_DEVICE_TYPE_CPU},
    {"STDGPU", CL_DEVICE_TYPE_GPU},         {"STDACC", CL_DEVICE_TYPE_ACCELERATOR},
    {"STDNPU", CL_DEVICE_TYPE_ALL},
};
enum { STANDARDS = sizeof standards / sizeof *standards };

static CLCONTEXT *standard[STANDARDS];
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

static CLCONTEXT *make_standard(const char *name, cl_device_type type)
{
    const char *enabled = variable(name, ""), *max = variable(name, "_MAX_NDEV");
    const char *lock = variable(name, "_LOCK");
    if (enabled && strcmp(enabled, "0") == 0)
        return NULL;
    const struct candidate **chosen = calloc(machine_size() + 1, sizeof *chosen);
    if (!chosen)
        return fail(ENOMEM, 0, "%s: no memory on the host", name), NULL;

    int *claims = NULL;
    CLCONTEXT *cp = NULL;
    size_t n = machine_choose(variable(name, "_PLATFORM_NAME"), type, chosen);
    size_t limit = max ? strtoul(max, NULL, 10) : 0;
    int key = lock ? (int)strtol(lock, NULL, 0) : 0;
    if (type == CL_DEVICE_TYPE_CPU)
        n = keep_first_platform(chosen, n);
    if (n && key)
        n = claims_take(chosen, n, limit ? limit : 1, key, &claims);
    else if (limit && n > limit)
        n = limit;
    if (n)
        cp = context_of(chosen, n, claims);
    else if (machine_error())
        fail(ENODEV, machine_error(), "%s: a platform or a device does not answer", name);
    if (cp)
        cp->standard = true;
    free(chosen);
    return cp;
}

static void make_standards(void)
{
    struct failure before;
    failure_set_aside(&before);
    for (int i = 0; i < STANDARDS; i++) {
        clerrno = 0;
        standard[i] = make_standard(standards[i].name, standards[i].type);
        if (!standard[i] && clerrno)
            why_not[i] = failure_copy();
    }
    failure_restore(&before); /* no device of some kind is no error */
}

STDCL_API void stdcl_init(void) { pthread_once(&standard_once, make_standards); }

STDCL_API CLCONTEXT *stdcl_standard_context(int which)
{
    stdcl_init();
    if (which < 0 || which >= STANDARDS)
        return NULL;
    if (!standard[which] && why_not[which].code)
        fail(why_not[which].code, 0, "%s", why_not[which].text ? why_not[which].text : "no memory on the host");
    return standard[which];
}
