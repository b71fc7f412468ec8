/* engine_bytes.c - the engine "packed" with a byte a cell, on the context's first device, by the
 * kernel of the rule's family.
 * SPDX-License-Identifier: MIT
 */
#include "life/bytes.h"
#include "life/cells.h"

#include "core/round.h"

#include <string.h>

static unsigned char *bytes_row(const struct bytes *b, size_t y)
{
    return (unsigned char *)b->g.grid[0] + y * b->pitch;
}

static void bytes_pack(life *lf, size_t y)
{
    const struct bytes *b = lf->state;
    memset(bytes_row(b, y) + lf->width, 0, b->pitch - lf->width);
    life_states_of_planes(lf, 0, y, lf->width, bytes_row(b, y));
}

static void bytes_unpack(life *lf, size_t y)
{
    life_states_to_planes(lf, 0, y, lf->width, bytes_row(lf->state, y));
}

static int bytes_before(life *lf)
{
    const struct bytes *b = lf->state;
    if (!b->before)
        return 0;
    lf->launches++;
    return life_event_status(lf->rule.row->bytes->start_before(lf, b));
}

static cl_event bytes_start(life *lf, size_t y, size_t rows)
{
    const struct bytes *b = lf->state;
    clndrange_t ndr = clndrange_init2d(0, round_up(b->pitch / b->columns, b->across), b->across, 0,
                                       round_up(divide_up(rows, b->rows), b->down), b->down);
    return lf->rule.row->bytes->start(lf, b, &ndr, (cl_int)y);
}

static cl_event bytes_count(life *lf, clndrange_t *ndr, cl_ulong at)
{
    const struct bytes *b = lf->state;
    return clforka(lf->ctx, DEVICE, b->g.counter, ndr, UNWAITED, b->g.grid[b->g.current],
                   (cl_ulong)(b->pitch * lf->height), b->g.sums, at);
}

static int bytes_open_kernels(life *lf, struct bytes *b, const struct bytes_method *method)
{
    if (device_grid_open_kernels(lf, method->step, "life_count_bytes", method->open) < 0)
        return -1;
    b->before = method->before ? clsym(lf->ctx, b->g.program[0], method->before, 0) : NULL;
    return b->before || !method->before ? 0 : -1;
}

static int bytes_open(life *lf, const struct cldev_info *info)
{
    struct bytes *b = lf->state;
    const struct bytes_method *method = lf->rule.row->bytes;
    const bool cpu = info->dev_type & CL_DEVICE_TYPE_CPU;
    b->columns = cpu ? 16 : 4;
    b->across = cpu ? 8 : 32;
    b->down = cpu ? 1 : 4;
    b->items = cpu ? 1 : 64;
    b->g.pace = pace_of(2e7);
    method->choose(lf, b);
    b->g.slice = b->rows;
    b->g.extra_flags = b->filled ? 0 : CL_MEM_DEVONLY;
    device_grid_count(&b->g, info, b->items, 1, false);
    if (device_grid_allocate(lf, info, (double)b->pitch * (double)lf->height,
                             (double)b->extra_bytes, false) < 0)
        return -1;
    if (b->filled) {
        method->fill(lf, b->g.extra);
        if (life_event_status(clmsync(lf->ctx, DEVICE, b->g.extra, CL_MEM_DEVICE)) < 0)
            return -1;
    }
    return bytes_open_kernels(lf, b, method);
}

static int bytes_create(life *lf, const struct life_options *options)
{
    static const struct device_grid_how how = {.pack = bytes_pack,
                                               .unpack = bytes_unpack,
                                               .before = bytes_before,
                                               .start = bytes_start,
                                               .count = bytes_count};
    (void)options;
    return device_grid_create(lf, sizeof(struct bytes), &how, bytes_open);
}

const struct life_backend life_bytes_backend = DEVICE_GRID_BACKEND(bytes_create);
