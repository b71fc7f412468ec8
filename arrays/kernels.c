/* kernels.c - a kernel on all devices of a context, built in the shape of each.
 *
 * Devices of one shape share a program. Kernels carry their common parts (order.h, ...) in front of them, with
 * #line between, as an embedded kernel has no folder to include from.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/blocks.h"

/* ---- Devices. --------------------------------------------------------------------------------- */

CLCONTEXT *arrays_context(CLCONTEXT *ctx)
{
    if (!ctx)
        ctx = stdgpu ? stdgpu : stdcpu;
    if (!ctx || clgetndev(ctx) == 0) {
        clerror_set(ENODEV, "arrays: there is no OpenCL device");
        return NULL;
    }
    return ctx;
}

bool arrays_have_doubles(CLCONTEXT *ctx)
{
    struct cldev_info *info = calloc(clgetndev(ctx), sizeof *info);
    bool all = info && clgetdevinfo(ctx, info) == 0;
    for (cl_uint dev = 0; all && dev < clgetndev(ctx); dev++)
        all = info[dev].dev_pref_vec_double > 0;
    free(info);
    return all;
}

/* ---- Building. -------------------------------------------------------------------------------- */

/* All files, one behind the other. */
static char *join_files(size_t nfiles, const struct kernel_text *file, size_t *size)
{
    size_t room = 1, length = 0;
    for (size_t i = 0; i < nfiles; i++)
        room += *file[i].size + strlen(file[i].name) + 16;
    char *text = malloc(room);
    for (size_t i = 0; text && i < nfiles; i++) {
        if (nfiles > 1) /* a template alone has its own */
            length += (size_t)snprintf(text + length, room - length, "#line 1 \"%s\"\n", file[i].name);
        memcpy(text + length, file[i].text, *file[i].size);
        length += *file[i].size;
    }
    if (text)
        text[length] = '\0';
    else
        clerror_set(ENOMEM, "arrays: no memory for %zu bytes of kernels", room);
    *size = length;
    return text;
}

int arrays_kernels_shape(struct kernels *k, CLCONTEXT *ctx, const char *row, size_t n, const char *words)
{
    k->ctx = ctx;
    k->ndev = clgetndev(ctx);
    k->on = calloc(k->ndev, sizeof *k->on);
    if (!k->on)
        return clerror_set(ENOMEM, "arrays: no memory");
    for (cl_uint dev = 0; dev < k->ndev; dev++) {
        cl_device_type type = 0;
        clGetDeviceInfo(clgetdevice(ctx, dev), CL_DEVICE_TYPE, sizeof type, &type, NULL);
        k->on[dev].cpu = type & CL_DEVICE_TYPE_CPU;
        if (arrays_shape_choose(&k->on[dev].shape, &k->on[dev].row, ctx, dev, row, n, words) != 0)
            return -1;
    }
    return 0;
}

static int open_on(struct kernels *k, cl_uint dev, const char *name, const char *file, const char *text,
                   size_t size, const char *options, const clvalue_t *values)
{
    struct kernels_on *on = &k->on[dev];
    const struct arrays_shape *s = &on->shape;
    char all[512];
    for (cl_uint d = 0; d < dev && !on->program; d++)
        if (strcmp(k->on[d].row.shape, on->row.shape) == 0)
            on->program = k->on[d].program;
    if (!on->program) { /* -w: PoCL's compiler warns about calls with wide vectors, which it then makes none of */
        snprintf(all, sizeof all, "-D GROUP=%d -D WIDTH=%d -D UNROLL=%d%s %s", s->group, s->width, s->unroll,
                 on->cpu ? " -w" : "", options);
        on->program = values ? clopen_templatev(k->ctx, file, text, size, all, CLLD_NOW, values)
                             : clopen_named(k->ctx, file, text, size, all, CLLD_NOW);
        on->owner = on->program != NULL;
    }
    on->kernel = on->program ? clsym(k->ctx, on->program, name, 0) : NULL;
    return on->kernel ? 0 : -1;
}

int arrays_kernels_open(struct kernels *k, const char *name, size_t nfiles, const struct kernel_text *file,
                        const char *options, const clvalue_t *values)
{
    size_t size;
    char *text = join_files(nfiles, file, &size);
    int status = text ? 0 : -1;
    for (cl_uint dev = 0; dev < k->ndev && status == 0; dev++)
        status = open_on(k, dev, name, file[nfiles - 1].name, text, size, options, values);
    free(text);
    return status;
}

void arrays_kernels_close(struct kernels *k)
{
    for (cl_uint dev = 0; k->on && dev < k->ndev; dev++)
        if (k->on[dev].owner)
            clclose(k->ctx, k->on[dev].program);
    free(k->on);
    *k = (struct kernels){0};
}
