/* pocl.h - make PoCL offer the processors as two devices, or the loader offer none. The names of
 * PoCL's devices and its usable build options depend on its version.
 * SPDX-License-Identifier: MIT
 */
#ifndef POCL_H
#define POCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Return PoCL's major version in a platform version such as "OpenCL 3.0 PoCL 5.0+debian ..."; 0
 * for another platform. */
static inline int pocl_version_in(const char *text)
{
    const char *pocl = strcasestr(text, "pocl ");
    return pocl ? atoi(pocl + 5) : 0;
}

/* Return PoCL's major version, or 0 if it is not installed. `name`, if not NULL, receives the
 * platform's name. */
static inline int pocl_version(char name[256])
{
    cl_platform_id platform[16];
    cl_uint n = 0;
    if (clGetPlatformIDs(16, platform, &n) != CL_SUCCESS)
        return 0;
    for (cl_uint i = 0; i < n && i < 16; i++) {
        char text[256] = "";
        clGetPlatformInfo(platform[i], CL_PLATFORM_VERSION, sizeof text, text, NULL);
        const int version = pocl_version_in(text);
        if (name && version)
            clGetPlatformInfo(platform[i], CL_PLATFORM_NAME, 256, name, NULL);
        if (version)
            return version;
    }
    return 0;
}

/* True if kernels that the front end did not optimise run correctly. PoCL 7.0 and 7.1 leave
 * get_local_id undefined in functions called by such kernels and compute wrong cells of Life
 * with them (tests/drivers/README.md). */
static inline bool pocl_runs_unoptimised(int version)
{
    return version > 0 && version < 7;
}

/* Environment: no drivers at all. The folder exists on every Linux and contains no driver; for a
 * missing folder some loaders use their default. */
#define NO_DRIVERS "OCL_ICD_VENDORS=/proc/self/task"

/* Environment: two equal devices, three, and two of different kinds. */
static inline const char *pocl_twice(int version)
{
    return version < 4 ? "POCL_DEVICES=pthread pthread" : "POCL_DEVICES=cpu cpu";
}

static inline const char *pocl_thrice(int version)
{
    return version < 4 ? "POCL_DEVICES=pthread pthread pthread" : "POCL_DEVICES=cpu cpu cpu";
}

static inline const char *pocl_kinds(int version)
{
    return version < 4 ? "POCL_DEVICES=basic pthread" : "POCL_DEVICES=cpu-minimal cpu";
}

#endif /* POCL_H */
