/* kernel_copy.c - copies of kernels for recordings, on one device, with arguments of their own.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel.h"

/* Copy the recorded arguments. False if out of memory. */
static bool copy_args(struct kernel *copy, const struct kernel *k)
{
    copy->versions = k->versions;
    memcpy(copy->parameters, k->parameters, k->nargs * sizeof *k->parameters);
    for (cl_uint i = 0; i < k->nargs; i++) {
        copy->args[i] = k->args[i];
        copy->args[i].value = NULL;
        copy->args[i].capacity = 0;
        if (k->args[i].kind != ARG_VALUE)
            continue;
        copy->args[i].value = malloc(k->args[i].size ? k->args[i].size : 1);
        if (!copy->args[i].value)
            return false;
        memcpy(copy->args[i].value, k->args[i].value, k->args[i].size);
        copy->args[i].capacity = k->args[i].size;
    }
    return true;
}

static bool copy_allocate(struct kernel *copy, const struct kernel *k, cl_uint dev)
{
    const cl_uint ndev = k->program->cp->ndev;
    copy->name = strdup(k->name);
    copy->on_device = calloc(ndev, sizeof *copy->on_device);
    copy->bound = calloc(ndev, sizeof *copy->bound);
    copy->args = calloc(k->nargs + 1, sizeof *copy->args);
    copy->parameters = calloc(k->nargs + 1, sizeof *copy->parameters);
    if (copy->bound)
        copy->bound[dev] = calloc(k->nargs + 1, sizeof **copy->bound);
    return copy->name && copy->on_device && copy->bound && copy->bound[dev] && copy->args &&
           copy->parameters;
}

static cl_int copy_create(struct kernel *copy, const struct kernel *k, cl_uint dev)
{
    cl_program program = NULL;
    copy->nargs = k->nargs;
    if (!copy_allocate(copy, k, dev) || !copy_args(copy, k))
        return CL_OUT_OF_HOST_MEMORY;
    cl_int err =
        clGetKernelInfo(k->on_device[dev], CL_KERNEL_PROGRAM, sizeof program, &program, NULL);
    if (err == CL_SUCCESS)
        copy->on_device[dev] = clCreateKernel(program, k->name, &err);
    return err;
}

struct kernel *kernel_copy(struct kernel *k, cl_uint dev, const char *call)
{
    cl_int err = CL_OUT_OF_HOST_MEMORY;
    struct kernel *copy = calloc(1, sizeof *copy);
    if (copy) {
        copy->program = k->program;
        copy->origin = k;
        pthread_mutex_init(&copy->lock, NULL);
        err = copy_create(copy, k, dev);
    }
    if (err == CL_SUCCESS) {
        program_retain(k->program);
        return copy;
    }
    if (copy)
        kernel_free(copy);
    return (void)fail(errno_of(err), err, "%s: kernel %s cannot be recorded", call, k->name), NULL;
}

void kernel_free_copy(struct kernel *copy)
{
    struct program *p = copy->program;
    kernel_free(copy);
    program_release(p);
}
