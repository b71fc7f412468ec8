/* builds_once.c - program cache for tests that create many engines.
 *
 * PoCL takes 30 to 40 ms to build even a program in its cache, since it reads the source with
 * all headers first. Tests with hundreds of engines would spend most of their time there. The
 * linker puts this file between the libraries and the calls that create and build programs
 * (`builds_once` in CMakeLists.txt): a program with the source, options and context of an
 * earlier one is not built, and the earlier program replaces it. Kernels are created anew each
 * time, so engines share no mutable state. Not for tests of building itself.
 *
 * While builds_unoptimised is set, PoCL's front end does not optimise, which takes a third of
 * the time and up to ten seconds less per kernel: for shapes that no tuning entry has. With
 * STDCL_TEST_DEEP in the environment the flag has no effect.
 * SPDX-License-Identifier: MIT
 */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "builds_once.h"
#include "deep.h"
#include "pocl.h"

#include <CL/cl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REAL(type, call, ...)                                                                      \
    type __real_##call(__VA_ARGS__);                                                               \
    type __wrap_##call(__VA_ARGS__);                                                               \
    type __wrap_##call(__VA_ARGS__)

struct program {
    struct program *next;
    cl_program made; /* the caller's program */
    cl_program
        built; /* the program used: `made`, or an earlier one with equal source and options */
    cl_context context;
    char *source, *options;
    int references;
};

bool builds_unoptimised;
const char *builds_option;
atomic_int builds_called;

static struct program *programs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct program *find_built_program(cl_program made)
{
    struct program *p = programs;
    while (p && p->made != made)
        p = p->next;
    return p;
}

static cl_program built(cl_program made)
{
    pthread_mutex_lock(&lock);
    const struct program *p = find_built_program(made);
    cl_program found = p && p->built ? p->built : made;
    pthread_mutex_unlock(&lock);
    return found;
}

cl_int __real_clRetainProgram(cl_program);

REAL(cl_program, clCreateProgramWithSource, cl_context context, cl_uint n, const char **text,
     const size_t *size, cl_int *err)
{
    cl_program made = __real_clCreateProgramWithSource(context, n, text, size, err);
    if (!made || n != 1 || size)
        return made;
    struct program *p = calloc(1, sizeof *p);
    pthread_mutex_lock(&lock);
    *p = (struct program){programs, made, NULL, context, strdup(*text), NULL, 1};
    programs = p;
    pthread_mutex_unlock(&lock);
    return made;
}

static struct program *built_before(const struct program *p, const char *options)
{
    struct program *q = p ? programs : NULL;
    while (q && !(q->built == q->made && q->context == p->context &&
                  strcmp(q->options, options) == 0 && strcmp(q->source, p->source) == 0))
        q = q->next;
    return q;
}

static bool runs_unoptimised(cl_device_id device)
{
    char version[256] = "";
    cl_platform_id platform;
    if (clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) == CL_SUCCESS)
        clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL);
    return pocl_runs_unoptimised(pocl_version_in(version));
}

REAL(cl_int, clBuildProgram, cl_program made, cl_uint n, const cl_device_id *device,
     const char *options, void (*done)(cl_program, void *), void *arg)
{
    char more[4096], less[4096 + 32];
    builds_called++;
    if (builds_option) {
        snprintf(more, sizeof more, "%s %s", options, builds_option);
        options = more;
    }
    pthread_mutex_lock(&lock);
    struct program *p = find_built_program(made), *q = built_before(p, options);
    if (!q && n == 1 && builds_unoptimised && runs_unoptimised(*device) && !deep_tests()) {
        snprintf(less, sizeof less, "%s -cl-opt-disable", options);
        options = less;
        q = built_before(p, options);
    }
    if (q)
        p->built = q->made;
    pthread_mutex_unlock(&lock);
    if (q)
        return CL_SUCCESS;
    const cl_int err = __real_clBuildProgram(made, n, device, options, done, arg);
    if (err == CL_SUCCESS && p) {
        __real_clRetainProgram(made); /* for later calls */
        pthread_mutex_lock(&lock);
        p->options = strdup(options);
        p->built = made;
        pthread_mutex_unlock(&lock);
    }
    return err;
}

REAL(cl_int, clRetainProgram, cl_program made)
{
    pthread_mutex_lock(&lock);
    struct program *p = find_built_program(made);
    if (p)
        p->references++;
    pthread_mutex_unlock(&lock);
    return __real_clRetainProgram(made);
}

REAL(cl_int, clReleaseProgram, cl_program made)
{
    pthread_mutex_lock(&lock);
    struct program **at = &programs;
    while (*at && (*at)->made != made)
        at = &(*at)->next;
    struct program *p = *at;
    if (p && --p->references == 0 &&
        p->built != made) { /* a number that the driver may give to another program */
        *at = p->next;
        free(p->source);
        free(p);
    }
    pthread_mutex_unlock(&lock);
    return __real_clReleaseProgram(made);
}

REAL(cl_kernel, clCreateKernel, cl_program made, const char *name, cl_int *err)
{
    return __real_clCreateKernel(built(made), name, err);
}

REAL(cl_int, clGetProgramInfo, cl_program made, cl_program_info what, size_t room, void *answer,
     size_t *size)
{
    return __real_clGetProgramInfo(built(made), what, room, answer, size);
}

REAL(cl_int, clGetProgramBuildInfo, cl_program made, cl_device_id device,
     cl_program_build_info what, size_t room, void *answer, size_t *size)
{
    return __real_clGetProgramBuildInfo(built(made), device, what, room, answer, size);
}
