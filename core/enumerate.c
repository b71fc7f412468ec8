/* enumerate.c - the machine's OpenCL devices, and their selection by name and type.
 * SPDX-License-Identifier: MIT
 */
#include "core/context.h"
#include "core/device_info.h"
#include "core/no_device.h"
#include "core/pocl.h"

#include <ctype.h>

enum { PLATFORM_NOT_FOUND = -1001 }; /* the ICD loader's code: no platform is installed */

static struct {
    struct candidate *device;
    size_t count;
    cl_uint platforms;
    cl_int error; /* of a failed query; 0: none failed */
} machine;

static bool query_refused(cl_int status)
{
    if (status != CL_SUCCESS && status != CL_DEVICE_NOT_FOUND && status != PLATFORM_NOT_FOUND)
        machine.error = status;
    return status != CL_SUCCESS;
}

/* key: the device's UUID if it has one, else platform and device name; then its number among
 * devices with the same key so far, so that keys are unique. */
static void make_key(struct candidate *c)
{
    unsigned char uuid[16];
    if (device_has_extension(c->id, "cl_khr_device_uuid") &&
        clGetDeviceInfo(c->id, CL_DEVICE_UUID_KHR, sizeof uuid, uuid, NULL) == CL_SUCCESS) {
        for (int i = 0; i < 16; i++)
            snprintf(c->key + 2 * i, 3, "%02x", uuid[i]);
    } else {
        snprintf(c->key, 64, "%.31s.%.31s", c->words[0], c->words[2]);
    }
    for (char *p = c->key; *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    size_t twins = 0, length = strlen(c->key);
    for (size_t i = 0; i < machine.count; i++)
        if (strncmp(machine.device[i].key, c->key, length) == 0 &&
            machine.device[i].key[length] == '-')
            twins++;
    snprintf(c->key + length, sizeof c->key - length, "-%zu", twins);
}

static void add_candidates(cl_platform_id platform)
{
    cl_uint n = 0;
    if (query_refused(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n)) || n == 0)
        return;
    cl_device_id *id = calloc(n, sizeof *id);
    struct candidate *more = realloc(machine.device, (machine.count + n) * sizeof *more);
    if (more)
        machine.device = more;
    if (query_refused(!id || !more ? CL_OUT_OF_HOST_MEMORY
                                   : clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, id, NULL)))
        n = 0;
    for (cl_uint i = 0; i < n; i++) {
        struct candidate *c = &machine.device[machine.count];
        memset(c, 0, sizeof *c);
        c->platform = platform;
        c->id = id[i];
        query_refused(clGetDeviceInfo(id[i], CL_DEVICE_TYPE, sizeof c->type, &c->type, NULL));
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof c->words[0], c->words[0], NULL);
        clGetPlatformInfo(platform, CL_PLATFORM_VENDOR, sizeof c->words[1], c->words[1], NULL);
        clGetDeviceInfo(id[i], CL_DEVICE_NAME, sizeof c->words[2], c->words[2], NULL);
        clGetDeviceInfo(id[i], CL_DEVICE_VENDOR, sizeof c->words[3], c->words[3], NULL);
        make_key(c);
        machine.count++;
    }
    free(id);
}

static void ask_platforms(void)
{
    cl_uint n = 0;
    forked_watch();
    pocl_avoid_shared_folder();
    if (query_refused(clGetPlatformIDs(0, NULL, &n)) || n == 0)
        return;
    machine.platforms = n;
    cl_platform_id *platform = calloc(n, sizeof *platform);
    if (!query_refused(platform ? clGetPlatformIDs(n, platform, NULL) : CL_OUT_OF_HOST_MEMORY))
        for (cl_uint i = 0; i < n; i++)
            add_candidates(platform[i]);
    free(platform);
}

/* Platforms are queried once. */
size_t enumerate_count(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask_platforms);
    return machine.count;
}

cl_int enumerate_error(void)
{
    return machine.error;
}

/* ---- Choosing devices. ---- */

static bool contains_nocase(const char *text, const char *word, size_t length)
{
    for (; *text; text++)
        if (strncasecmp(text, word, length) == 0)
            return true;
    return length == 0;
}

static bool matches(const struct candidate *c, const char *word, size_t length)
{
    for (int i = 0; i < 4; i++)
        if (contains_nocase(c->words[i], word, length))
            return true;
    return false;
}

size_t enumerate_match(const char *patterns, cl_device_type type, const struct candidate **chosen)
{
    size_t n = 0;
    const char *word = patterns ? patterns : "";
    bool more;
    do {
        size_t length = strcspn(word, ",");
        const char *next = word + length;
        more = *next == ',';
        while (length && isspace((unsigned char)*word))
            word++, length--;
        while (length && isspace((unsigned char)word[length - 1]))
            length--;
        for (size_t i = 0; i < machine.count && (length || !patterns || !*patterns); i++) {
            const struct candidate *c = &machine.device[i];
            bool taken = !(c->type & type) || !matches(c, word, length);
            for (size_t k = 0; k < n && !taken; k++)
                taken = chosen[k] == c;
            if (!taken)
                chosen[n++] = c;
        }
        word = next + 1;
    } while (more);
    return n;
}

char *enumerate_names(void)
{
    char *text = NULL, why[1024];
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        return NULL;
    for (size_t i = 0; i < machine.count; i++)
        fprintf(fp, "%s%s (%s)", i ? ", " : "", machine.device[i].words[2],
                machine.device[i].words[0]);
    if (machine.count == 0 && machine.platforms == 0)
        fprintf(fp, "none: no OpenCL platform is installed%s; " NO_DEVICE_REMEDY,
                no_platform_because(why, sizeof why));
    else if (machine.count == 0)
        fprintf(fp, "none: no OpenCL platform has a device%s", no_device_because(why, sizeof why));
    fclose(fp);
    return text;
}
