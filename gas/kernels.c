/* kernels.c - a kernel on all devices of a context, built in the shape of each.
 *
 * Devices of one shape share a program. Kernels carry their common parts (order.h, maxwell.h) in front of
 * them, with #line between, as an embedded kernel has no folder to include from.
 * SPDX-License-Identifier: MIT
 */
#include "gas/engine.h"

#define EMBEDDED(name)                                                                                       \
    extern const unsigned char stdcl_kernel_gas_##name[];                                                    \
    extern const unsigned long stdcl_kernel_gas_##name##_size;
EMBEDDED(order_h)
EMBEDDED(maxwell_h)
EMBEDDED(fused_cl)
EMBEDDED(sum_cl)
EMBEDDED(draw_cl)
EMBEDDED(tree_clt)

static const struct {
    enum source source;
    const char *name;
    const unsigned char *text;
    const unsigned long *size;
} files[] = {
#define FILE_OF(source, file, name)                                                                          \
    {                                                                                                        \
        source, file, stdcl_kernel_gas_##name, &stdcl_kernel_gas_##name##_size                               \
    }
    FILE_OF(SOURCE_ORDER, "gas/order.h", order_h),   FILE_OF(SOURCE_MAXWELL, "gas/maxwell.h", maxwell_h),
    FILE_OF(SOURCE_FUSED, "gas/fused.cl", fused_cl), FILE_OF(SOURCE_SUM, "gas/sum.cl", sum_cl),
    FILE_OF(SOURCE_DRAW, "gas/draw.cl", draw_cl),    FILE_OF(SOURCE_TREE, "gas/tree.clt", tree_clt),
};
enum { FILES = sizeof files / sizeof *files };

/* All files in `sources`, one behind the other; *name becomes the last one's. */
static char *join_sources(unsigned sources, const char **name, size_t *size)
{
    size_t room = 1, length = 0;
    for (int i = 0; i < FILES; i++)
        room += sources & files[i].source ? *files[i].size + 64 : 0;
    char *text = malloc(room);
    for (int i = 0; text && i < FILES; i++)
        if (sources & files[i].source) {
            if (sources != files[i].source) /* a template alone has its own */
                length += (size_t)snprintf(text + length, room - length, "#line 1 \"%s\"\n", files[i].name);
            memcpy(text + length, files[i].text, *files[i].size);
            length += *files[i].size;
            *name = files[i].name;
        }
    if (text)
        text[length] = '\0';
    else
        clerror_set(ENOMEM, "gas: no memory for %zu bytes of kernels", room);
    *size = length;
    return text;
}

int gas_kernels_shape(struct kernels *k, CLCONTEXT *ctx, const char *row, size_t n, const char *words)
{
    k->ctx = ctx;
    k->ndev = clgetndev(ctx);
    k->on = calloc(k->ndev, sizeof *k->on);
    if (!k->on)
        return clerror_set(ENOMEM, "gas: no memory");
    for (cl_uint dev = 0; dev < k->ndev; dev++) {
        cl_device_type type = 0;
        clGetDeviceInfo(clgetdevice(ctx, dev), CL_DEVICE_TYPE, sizeof type, &type, NULL);
        k->on[dev].cpu = type & CL_DEVICE_TYPE_CPU;
        if (gas_shape_choose(&k->on[dev].shape, k->on[dev].label, k->on[dev].reason, ctx, dev, row, n,
                             words) != 0)
            return -1;
    }
    return 0;
}

static int open_on(struct kernels *k, cl_uint dev, const char *name, const char *file, const char *text,
                   size_t size, const char *options, const clvalue_t *values)
{
    struct kernels_on *on = &k->on[dev];
    const struct gas_shape *s = &on->shape;
    char all[512];
    for (cl_uint d = 0; d < dev && !on->program; d++)
        if (strcmp(k->on[d].label, on->label) == 0)
            on->program = k->on[d].program;
    if (!on->program) { /* -w: PoCL's compiler warns about calls with wide vectors, which it then makes none of */
        snprintf(all, sizeof all, "-D GROUP=%d -D WIDTH=%d -D MW_WIDTH=%d -D UNROLL=%d%s %s", s->group,
                 s->width, s->width, s->unroll, on->cpu ? " -w" : "", options);
        on->program = values ? clopen_templatev(k->ctx, file, text, size, all, CLLD_NOW, values)
                             : clopen_named(k->ctx, file, text, size, all, CLLD_NOW);
        on->owner = on->program != NULL;
    }
    on->kernel = on->program ? clsym(k->ctx, on->program, name, 0) : NULL;
    return on->kernel ? 0 : -1;
}

int gas_kernels_open(struct kernels *k, const char *name, unsigned sources, const char *options,
                     const clvalue_t *values)
{
    const char *file = NULL;
    size_t size;
    char *text = join_sources(sources, &file, &size);
    int status = text ? 0 : -1;
    for (cl_uint dev = 0; dev < k->ndev && status == 0; dev++)
        status = open_on(k, dev, name, file, text, size, options, values);
    free(text);
    return status;
}

void gas_kernels_close(struct kernels *k)
{
    for (cl_uint dev = 0; k->on && dev < k->ndev; dev++)
        if (k->on[dev].owner)
            clclose(k->ctx, k->on[dev].program);
    free(k->on);
    *k = (struct kernels){0};
}
