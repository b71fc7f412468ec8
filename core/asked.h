/* asked.h - a question to a device on whose answer depends what is computed: an answer that is not
 * given is an error, and no zero.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_ASKED_H
#define CORE_ASKED_H

#include "stdcl.h"

#include <errno.h>

/* clGetDeviceInfo of a device of a context; -1 after clerror_set, in the name of `call`. */
static inline int device_ask(CLCONTEXT *cp, cl_uint dev, cl_device_info what, size_t size,
                             void *answer, const char *call)
{
    const cl_int err = clGetDeviceInfo(clgetdevice(cp, dev), what, size, answer, NULL);
    return err == CL_SUCCESS
               ? 0
               : clerror_set(EIO, "%s: device %u does not tell what it is (OpenCL error %d)", call,
                             dev, err);
}

#endif
