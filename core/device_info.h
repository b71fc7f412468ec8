/* device_info.h - checked queries of a device, for values that results depend on.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_DEVICE_INFO_H
#define CORE_DEVICE_INFO_H

#include "stdcl.h"

#include <CL/cl_ext.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifndef CL_DEVICE_UUID_KHR
#define CL_DEVICE_UUID_KHR 0x106A
#endif

/* Return 0 if a query of device `dev` succeeded, else -1 after clerror_set in the name of `call`.
 */
static inline int device_answered(cl_int err, cl_uint dev, const char *call)
{
    return err == CL_SUCCESS
               ? 0
               : clerror_set(EIO, "%s: device %u does not tell what it is (OpenCL error %d)", call,
                             dev, err);
}

/* clGetDeviceInfo for values the result depends on: failure is an error, never 0. Return -1 after
 * clerror_set in the name of `call`. */
static inline int device_ask(CLCONTEXT *cp, cl_uint dev, cl_device_info what, size_t size,
                             void *answer, const char *call)
{
    return device_answered(clGetDeviceInfo(clgetdevice(cp, dev), what, size, answer, NULL), dev,
                           call);
}

/* True if CL_DEVICE_VENDOR names NVIDIA; the driver may be another vendor's. */
static inline bool vendor_is_nvidia(const char *vendor)
{
    return strcasestr(vendor, "nvidia") != NULL;
}

/* True if CL_DEVICE_NAME is that of the emulator Oclgrind, a CPU device that takes minutes for
 * milliseconds of work and copies memory that real CPU devices share with the host. */
static inline bool name_is_oclgrind(const char *name)
{
    return strstr(name, "Oclgrind") != NULL;
}

/* True if CL_DEVICE_EXTENSIONS contains `name`; false also when out of memory. */
static inline bool device_has_extension(cl_device_id id, const char *name)
{
    size_t size = 0;
    clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size);
    char *all = (char *)calloc(size + 1, 1);
    const bool has = all &&
                     clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, all, NULL) == CL_SUCCESS &&
                     strstr(all, name);
    free(all);
    return has;
}

/* NVIDIA's compute capability of a device, 90 for 9.0. Return OpenCL's error code:
 * CL_INVALID_VALUE if the driver is not NVIDIA's, with *capability = 0. */
static inline cl_int device_compute_capability(cl_device_id id, cl_uint *capability)
{
    cl_uint major = 0, minor = 0;
    *capability = 0;
    cl_int err =
        clGetDeviceInfo(id, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, sizeof major, &major, NULL);
    if (err != CL_SUCCESS)
        return err;
    err = clGetDeviceInfo(id, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, sizeof minor, &minor, NULL);
    if (err == CL_SUCCESS)
        *capability = 10 * major + minor;
    return err;
}

#endif
