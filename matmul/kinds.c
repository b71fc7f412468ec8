/* kinds.c - the kinds of engine: names and requirements.
 *
 * OpenBLAS and CLBlast are for comparison. They are opened by dlopen on first use, so everything
 * else works without them.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include <dlfcn.h>

static const struct {
    const char *name, *summary;
    bool host;
} kind[MATMUL_KINDS] = {
    [MATMUL_TUNED] = {"tuned", "tiles in registers, in a shape that suits the device", false},
    [MATMUL_NAIVE] = {"naive", "one work-item for each element, from global memory", false},
    [MATMUL_BLOCKED] = {"blocked", "square tiles in local memory", false},
    [MATMUL_CPU_NAIVE] = {"cpu-naive", "three loops on the host", true},
    [MATMUL_CPU_BLOCKED] = {"cpu-blocked", "blocks on the host", true},
    [MATMUL_OPENBLAS] = {"openblas", "the library OpenBLAS, on the host", true},
    [MATMUL_SYCL] = {"sycl", "square tiles in local memory, in SYCL", true},
    [MATMUL_CLBLAST] = {"clblast", "the library CLBlast", false},
};

static bool is_kind(enum matmul_kind k)
{
    return (unsigned)k < MATMUL_KINDS;
}

const char *matmul_kind_name(enum matmul_kind k)
{
    return is_kind(k) ? kind[k].name : "?";
}
const char *matmul_kind_summary(enum matmul_kind k)
{
    return is_kind(k) ? kind[k].summary : "?";
}
int matmul_kind_is_host(enum matmul_kind k)
{
    return is_kind(k) && kind[k].host;
}

int matmul_kind_by_name(const char *name)
{
    char names[256] = "";
    for (int k = 0; k < MATMUL_KINDS; k++) {
        if (strcmp(name, kind[k].name) == 0)
            return k;
        strcat(strcat(names, k ? ", " : ""), kind[k].name);
    }
    return clerror_set(EINVAL, "matmul: no engine is named \"%s\"; available: %s", name, names);
}

/* ---- Libraries. ------------------------------------------------------------------------------ */

struct library {
    const char *const *names;
    void *handle;
    pthread_once_t once;
};

static const char *const openblas_names[] = {"libopenblas.so.0", "libopenblas.so",
                                             "libopenblas.dylib", NULL};
static const char *const clblast_names[] = {"libclblast.so.1", "libclblast.so", "libclblast.dylib",
                                            NULL};
static struct library openblas = {openblas_names, NULL, PTHREAD_ONCE_INIT};
static struct library clblast = {clblast_names, NULL, PTHREAD_ONCE_INIT};

/* The libraries are never closed: both keep threads or objects until the process ends. */
static void kinds_open_library(struct library *l)
{
    for (const char *const *name = l->names; *name && !l->handle; name++)
        l->handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
}

static void open_openblas(void)
{
    kinds_open_library(&openblas);
}
static void open_clblast(void)
{
    kinds_open_library(&clblast);
}

void *matmul_openblas(void)
{
    pthread_once(&openblas.once, open_openblas);
    return openblas.handle;
}

void *matmul_clblast(void)
{
    pthread_once(&clblast.once, open_clblast);
    return clblast.handle;
}

const char *matmul_kind_missing(enum matmul_kind k)
{
    if (k == MATMUL_OPENBLAS && !matmul_openblas())
        return "OpenBLAS is not installed; install libopenblas0 (Debian, Ubuntu) or openblas (Fedora, Arch, "
               "Homebrew)";
    if (k == MATMUL_CLBLAST && !matmul_clblast())
        return "CLBlast is not installed; install libclblast1 (Debian, Ubuntu) or clblast (Fedora, Arch, Homebrew)";
#ifndef STDCL_HAVE_SYCL
    if (k == MATMUL_SYCL)
        return "this build has no SYCL; install AdaptiveCpp (acpp) or Intel's oneAPI compiler (icpx), and build "
               "again";
#endif
    return NULL;
}
