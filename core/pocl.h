/* pocl.h - reasons why PoCL, which makes the CPU an OpenCL device, offers no device although it
 * reports no error.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_POCL_H
#define CORE_POCL_H

#include "core/private_folder.h"
#include "stdcl.h"

#include <sys/resource.h>

static inline int is_pocl(cl_platform_id platform)
{
    char name[256] = "";
    return clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
           strstr(name, "Portable Computing Language");
}

/* True if PoCL is among the platforms. */
static inline int has_pocl(void)
{
    cl_uint n = 0;
    cl_platform_id platform[32];
    if (clGetPlatformIDs(32, platform, &n) != CL_SUCCESS)
        return 0;
    for (cl_uint i = 0; i < n && i < 32; i++)
        if (is_pocl(platform[i]))
            return 1;
    return 0;
}

/* The folder of PoCL's kernel cache, which PoCL creates with its parents. Without it PoCL offers
 * no device. */
static inline void pocl_folder(char *path, size_t size)
{
    const char *own = getenv("POCL_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    if (own && *own)
        snprintf(path, size, "%s", own);
    else if (cache && *cache)
        snprintf(path, size, "%s/pocl/kcache", cache);
    else
        snprintf(path, size, "%s%s/pocl/kcache", home && *home ? home : "/tmp",
                 home && *home ? "/.cache" : "");
}

/* Without a home PoCL takes compiled kernels from /tmp/pocl, where everybody can put some. Name a
 * folder of this user only. Called before PoCL is loaded. */
static inline void pocl_avoid_shared_folder(void)
{
    static const char *const names[] = {"POCL_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
    char path[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) && *getenv(names[i]))
            return;
    const int fd = private_folder_open("pocl", path, sizeof path);
    if (fd >= 0)
        close(fd);
    else if (snprintf(path, sizeof path, "/tmp/stdcl-pocl-XXXXXX") < 0 || !mkdtemp(path))
        return;
    setenv("POCL_CACHE_DIR", path, 1);
}

/* " (...)": the limit of the address space, below which the loader finds no platform although
 * drivers are installed; "" without a limit. For a machine without a platform. */
static inline const char *no_platform_because(char *text, size_t size)
{
    struct rlimit limit;
    *text = 0;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(
            text, size,
            " (an installed driver cannot be loaded if memory is limited too much: ulimit -v is "
            "%.0f MiB)",
            (double)limit.rlim_cur / 1048576);
    return text;
}

/* " (...)": why the environment may prevent PoCL's device; "" without PoCL. */
static inline const char *no_device_because(char *text, size_t size)
{
    char folder[2048];
    const char *devices = getenv("POCL_DEVICES");
    struct rlimit limit;
    *text = 0;
    pocl_folder(folder, sizeof folder);
    if (has_pocl() && devices && *devices)
        snprintf(text, size, " (POCL_DEVICES is set to '%.200s')", devices);
    else if (has_pocl() && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(text, size,
                 " (PoCL is installed; it has none when memory is limited too much: ulimit -v is "
                 "%.0f MiB)",
                 (double)limit.rlim_cur / 1048576);
    else if (has_pocl())
        snprintf(
            text, size,
            " (PoCL is installed; it has none when it cannot write in '%.400s', and POCL_CACHE_DIR may name another folder)",
            folder);
    return text;
}

#endif
