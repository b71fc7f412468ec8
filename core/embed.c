/* embed.c - kernels that `stdcl embed` linked into the executable: sources, and binaries for
 * certain devices.
 *
 * Their object files register them before main, without a copy. A binary matches only the device,
 * platform and driver that it was compiled for; other devices use the source.
 * SPDX-License-Identifier: MIT
 */
#include "core/program.h"

static struct stdcl_embedded *embedded; /* oldest first */
static struct stdcl_embedded_binary *binaries;
static pthread_mutex_t embedded_lock = PTHREAD_MUTEX_INITIALIZER;

STDCL_API void stdcl_embed_register(struct stdcl_embedded *source)
{
    pthread_mutex_lock(&embedded_lock);
    struct stdcl_embedded **end = &embedded;
    while (*end)
        end = &(*end)->next;
    source->next = NULL;
    *end = source;
    pthread_mutex_unlock(&embedded_lock);
}

STDCL_API void stdcl_embed_register_binary(struct stdcl_embedded_binary *binary)
{
    pthread_mutex_lock(&embedded_lock);
    binary->next = binaries;
    binaries = binary;
    pthread_mutex_unlock(&embedded_lock);
}

size_t device_identity(cl_device_id id, char *text, size_t size)
{
    char name[256] = "", driver[256] = "", version[256] = "";
    cl_platform_id platform = NULL;
    const bool all =
        clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
        clGetDeviceInfo(id, CL_DRIVER_VERSION, sizeof driver, driver, NULL) == CL_SUCCESS &&
        clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) == CL_SUCCESS &&
        clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL) ==
            CL_SUCCESS;
    snprintf(text, size, "%s, driver %s, %s", name, driver, version);
    return all ? strlen(name) : 0;
}

const struct stdcl_embedded_binary *embedded_binary(const struct stdcl_embedded *source,
                                                    cl_device_id id)
{
    char identity[EMBEDDED_IDENTITY] = "";
    pthread_mutex_lock(&embedded_lock);
    const struct stdcl_embedded_binary *b = binaries;
    pthread_mutex_unlock(&embedded_lock);
    if (b && device_identity(id, identity, sizeof identity) == 0)
        return NULL;
    while (b && (b->source != source || strcmp(b->device, identity) != 0))
        b = b->next;
    return b;
}

const struct stdcl_embedded *embedded_sources(size_t *n)
{
    pthread_mutex_lock(&embedded_lock);
    const struct stdcl_embedded *first = embedded;
    *n = 0;
    for (const struct stdcl_embedded *e = first; e; e = e->next)
        ++*n;
    pthread_mutex_unlock(&embedded_lock);
    return first;
}
