/* kernels.c - a kernel on all devices of a context, built in the shape of each device. Devices of
 * one shape share a program.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/kernels.h"

#include "core/device_info.h"
#include "core/no_device.h"

/* ---- Devices. ----------------------------------------------------------------------------- */

CLCONTEXT *arrays_context(CLCONTEXT *ctx)
{
    if (!ctx)
        ctx = stdgpu ? stdgpu : stdcpu;
    if (!ctx || clgetndev(ctx) == 0) {
        clerror_set(ENODEV, "arrays: there is no OpenCL device; " NO_DEVICE_REMEDY);
        return NULL;
    }
    return ctx;
}

const char *arrays_context_words(const CLCONTEXT *ctx)
{
    return ctx == stdgpu              ? ", stdgpu, the default of .ctx"
           : ctx == stdcpu && !stdgpu ? ", stdcpu, the default of .ctx without a GPU"
                                      : "";
}

int arrays_have_doubles(CLCONTEXT *ctx, cl_uint first_dev, cl_uint ndev, bool *all)
{
    *all = true;
    for (cl_uint dev = first_dev; dev < first_dev + ndev; dev++) {
        cl_uint width = 0;
        if (device_ask(ctx, dev, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof width, &width,
                       "arrays") != 0)
            return -1;
        *all = *all && width > 0;
    }
    return 0;
}

struct array_start arrays_start_of(CLCONTEXT *ctx, const void *x, size_t bytes)
{
    enum { LARGEST_TYPE = 128 }; /* the layer lets buffers start at its multiples */
    const char *block = clmemptr(ctx, (void *)(uintptr_t)x);
    const size_t beyond = block ? (size_t)((const char *)x - block) % LARGEST_TYPE : 0;
    return (struct array_start){(const char *)x - beyond, (cl_uint)(beyond / bytes)};
}

/* ---- Building. ---------------------------------------------------------------------------- */

int arrays_kernels_shape(struct kernels *k, CLCONTEXT *ctx, const char *row, size_t n,
                         const char *words)
{
    k->ctx = ctx;
    k->ndev = k->ndev ? k->ndev : clgetndev(ctx);
    k->pace = pace_of(2e4);
    k->device = calloc(k->ndev, sizeof *k->device);
    if (!k->device)
        return clerror_set(ENOMEM, "arrays: out of memory");
    for (cl_uint dev = 0; dev < k->ndev; dev++) {
        cl_device_type type = 0;
        char name[256] = "";
        const cl_uint of_ctx = k->first_dev + dev;
        if (device_ask(ctx, of_ctx, CL_DEVICE_TYPE, sizeof type, &type, "arrays") != 0 ||
            device_ask(ctx, of_ctx, CL_DEVICE_NAME, sizeof name, name, "arrays") != 0)
            return -1;
        k->device[dev].cpu =
            type & CL_DEVICE_TYPE_CPU &&
            !name_is_oclgrind(name); /* Oclgrind shares no memory (core/context.c) */
        if (arrays_shape_choose(&k->device[dev].shape, &k->device[dev].row, ctx, of_ctx, row, n,
                                words) != 0)
            return -1;
    }
    return 0;
}

/* Open the program of a device, or share the program of an earlier device of equal shape. */
static void *open_on(struct kernels *k, cl_uint dev, const char *options,
                     const struct embedded *file, size_t nfront,
                     const struct embedded *const front[], const clvalue_t *values)
{
    struct device_kernel *on = &k->device[dev];
    const struct arrays_shape *s = &on->shape;
    char all[512];
    for (cl_uint d = 0; d < dev; d++)
        if (strcmp(k->device[d].row.shape, on->row.shape) == 0)
            return k->device[d].program;
    /* -w: PoCL's compiler warns about calls with wide vectors, which it inlines anyway. */
    snprintf(all, sizeof all, "-D GROUP=%d -D WIDTH=%d -D UNROLL=%d%s %s", s->group, s->width,
             s->unroll, on->cpu ? " -w" : "", options);
    on->owner = true;
    return values ? clopen_templatev(k->ctx, file->path, (const char *)file->text, *file->size, all,
                                     CLLD_NOW, values)
                  : embedded_open_as(CLLD_NOW | k->keep, k->ctx, all, file, nfront, front);
}

int arrays_kernels_open(struct kernels *k, const char *name, const char *options,
                        const struct embedded *file, size_t nfront,
                        const struct embedded *const front[], const clvalue_t *values)
{
    for (cl_uint dev = 0; dev < k->ndev; dev++) {
        struct device_kernel *on = &k->device[dev];
        on->program = open_on(k, dev, options, file, nfront, front, values);
        on->kernel = on->program ? clsym(k->ctx, on->program, name, 0) : NULL;
        if (!on->kernel)
            return -1;
    }
    return 0;
}

void arrays_kernels_close(struct kernels *k)
{
    for (cl_uint dev = 0; k->device && dev < k->ndev; dev++)
        if (k->device[dev].owner && k->device[dev].program)
            clclose(k->ctx, k->device[dev].program);
    free(k->device);
    *k = (struct kernels){0};
}
