/* draw.c - velocities: drawn by the devices or the host, given by the caller, handed out;
 * histograms.
 * SPDX-License-Identifier: MIT
 */
#include "gas/engine.h"

#include <math.h>

#include "core/handle.h"
#include "core/progress.h"
#include "gas/maxwell.h"

EMBEDDED(draw_file, "gas/draw.cl", gas_draw_cl);

/* ---- Drawing on the host. -------------------------------------------------------------------- */

enum {
    SLICE = 256,         /* molecules drawn at once: small enough for the first cache */
    TOLD_EVERY = 1 << 20 /* so many the caller is told */
};

/* The same code for machines with and without fused multiply-add, which is a slow call where it is
 * missing. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES                                                                                     \
    __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default"), optimize("O3")))
#else
#define CLONES
#endif

CLONES static void draw_slice(uint64_t first, size_t count, cl_uint k0, cl_uint k1, float *x,
                              float *y, float *z)
{
    for (size_t i = 0; i < count; i++)
        mw_velocity((uint32_t)(first + i), (uint32_t)((first + i) >> 32), k0, k1, &x[i], &y[i],
                    &z[i]);
}

/* What the caller says when it hears how many molecules are done. */
static int tell(const gas *g, const char *call, uint64_t done)
{
    return progress_count(g->progress, g->arg, done, done == g->own, call, g->n, "molecules");
}

static int draw_on_host(gas *g)
{
    float v[3][SLICE];
    const size_t n = (size_t)g->own;
    for (size_t i = 0; i < n; i += SLICE) {
        const size_t count = n - i < SLICE ? n - i : SLICE;
        draw_slice(g->first * BLOCK + i, count, g->key[0], g->key[1], v[0], v[1], v[2]);
        for (int c = 0; c < 3; c++)
            if (g->type == ARRAYS_FLOAT)
                memcpy((float *)g->plane[c] + i, v[c], count * sizeof(float));
            else
                for (size_t k = 0; k < count; k++)
                    ((double *)g->plane[c])[i + k] = (double)v[c][k];
        if (i % TOLD_EVERY == 0 && tell(g, "gas_create", i + count) != 0)
            return -1;
    }
    return 0;
}

/* ---- Memory. --------------------------------------------------------------------------------- */

/* Whole blocks, so that kernels may work in whole vectors. */
static size_t plane_bytes(const gas *g)
{
    return (size_t)(g->blocks ? g->blocks : 1) * BLOCK * type_bytes(g->type);
}

static int send(gas *g)
{
    for (int c = 0; c < 3 && g->own; c++)
        if (arrays_upload(g->arrays, g->plane[c], (size_t)g->own) != 0)
            return -1;
    g->ready = true;
    return 0;
}

/* The blocks of device dev, of this rank's; all of them with ARRAYS_TREE, which needs all
 * velocities on every device. */
static uint64_t blocks_on(const gas *g, cl_uint dev, uint64_t *first)
{
    const uint64_t blocks = g->blocks;
    const bool whole = g->method == ARRAYS_TREE;
    *first = whole ? 0 : share_start(blocks, dev, g->ndev);
    return whole ? blocks : share_start(blocks, dev + 1, g->ndev) - *first;
}

/* Starts the kernel that draws on device dev, for blocks first ... first + blocks - 1, a group
 * each. */
static int start_drawing(const gas *g, cl_uint dev, uint64_t first, uint64_t blocks)
{
    const struct kernels_on *on = &g->draw.on[dev];
    const size_t group = (size_t)on->shape.group;
    const cl_ulong from = first, n = g->own, begin = g->first * BLOCK;
    clndrange_t ndr = clndrange_init1d(0, (size_t)blocks * group, group);
    if (clforkv(g->ctx, dev, on->kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                ARGS(from, n, begin, g->plane[0], g->plane[1], g->plane[2], g->key[0],
                     g->key[1])) == (cl_event)-1)
        return -1;
    return clflush(g->ctx, dev, 0);
}

/* Some blocks of every device's share, from block `at` of it on. */
static int draw_some(gas *g, uint64_t at, uint64_t some)
{
    int status = 0;
    for (cl_uint dev = 0; dev < g->ndev && status == 0; dev++) {
        uint64_t first;
        const uint64_t blocks = blocks_on(g, dev, &first);
        if (at < blocks)
            status = start_drawing(g, dev, first + at, blocks - at < some ? blocks - at : some);
    }
    pace_started(&g->draw.pace, (double)some);
    for (cl_uint dev = 0; dev < g->ndev; dev++)
        if (clwait(g->ctx, dev, CL_ALL_EVENT) == (cl_event)-1)
            status = -1;
    pace_waited(&g->draw.pace);
    return status;
}

static int open_kernels(gas *g, struct kernels *k, const char *name)
{
    const struct embedded *const front[] = {&order_text, &maxwell_text};
    char options[128];
    if (k->on)
        return 0;
    snprintf(options, sizeof options, "-D MW_WIDTH=WIDTH -D REAL=%s -D STORED=%d -D WIDE=float",
             g->type == ARRAYS_FLOAT ? "float" : "double", g->storage == GAS_STORED);
    if (arrays_kernels_shape(k, g->ctx, "gas.draw", 0, NULL) == 0 &&
        arrays_kernels_open(k, name, options, &draw_file, 2, front, NULL) == 0)
        return 0;
    arrays_kernels_close(k);
    return -1;
}

static uint64_t slice_of(const struct kernels *k, uint64_t most)
{
    const double slice = pace_slice(&k->pace);
    return slice >= (double)most ? most : slice < 1 ? 1 : (uint64_t)slice;
}

static int draw_on_devices(gas *g)
{
    if (open_kernels(g, &g->draw, "draw") != 0)
        return -1;
    uint64_t none, some;
    const uint64_t blocks = blocks_on(g, g->ndev - 1, &none); /* no device has more */
    for (uint64_t at = 0; at < blocks; at += some) {
        some = slice_of(&g->draw, blocks - at);
        if (draw_some(g, at, some) != 0 ||
            tell(g, "gas_create", at + some < blocks ? g->own / blocks * (at + some) : g->own) != 0)
            return -1;
    }
    g->ready = true;
    return 0;
}

int gas_draw_place(gas *g)
{
    for (int c = 0; c < 3; c++)
        if (!(g->plane[c] = clmalloc(g->ctx, plane_bytes(g), CL_MEM_ZEROCOPY)))
            return -1;
    if (g->source == GAS_DEVICE)
        return draw_on_devices(g);
    if (g->source == GAS_HOST)
        return draw_on_host(g) == 0 ? send(g) : -1;
    return 0;
}

void gas_draw_free(gas *g)
{
    arrays_kernels_close(&g->draw);
    arrays_kernels_close(&g->count);
    for (int c = 0; c < 3; c++)
        if (g->plane[c])
            clfree(g->plane[c]);
    if (g->counts)
        clfree(g->counts);
}

/* ---- Given and handed out. ------------------------------------------------------------------- */

static void put(gas *g, int c, size_t i, double v)
{
    if (g->type == ARRAYS_FLOAT)
        ((float *)g->plane[c])[i] = (float)v;
    else
        ((double *)g->plane[c])[i] = v;
}

/* Rows of floats (if `single`) or doubles into the planes. */
static int set(gas *g, const float (*single)[3], const double (*wide)[3])
{
    if (g->source != GAS_GIVEN || g->storage != GAS_STORED)
        return clerror_set(
            EINVAL,
            "gas_set_velocities: this gas draws its own; make it with GAS_STORED and GAS_GIVEN");
    for (size_t i = 0; i < (size_t)g->own; i++)
        for (int c = 0; c < 3; c++) {
            const double v = single ? (double)single[i][c] : wide[i][c];
            if (!isfinite(v)) {
                g->ready = false;
                return clerror_set(
                    EDOM,
                    "gas_set_velocities: component %c of molecule %zu is %g; it must be a "
                    "finite number",
                    "xyz"[c], (size_t)(g->first * BLOCK) + i, v);
            }
            put(g, c, i, v);
        }
    return send(g);
}

int gas_set_velocities(gas *g, const double (*velocity)[3])
{
    if (no_handle(g, __func__))
        return -1;
    return set(g, NULL, velocity);
}
int gas_set_velocities_single(gas *g, const float (*velocity)[3])
{
    if (no_handle(g, __func__))
        return -1;
    return set(g, velocity, NULL);
}

/* Brings the planes' elements from the device that has them. */
static int fetch(gas *g, size_t first, size_t count)
{
    const size_t size = type_bytes(g->type);
    for (cl_uint dev = 0; dev < g->ndev; dev++) {
        size_t a, n;
        arrays_partition(g->arrays, (size_t)g->own, dev, &a, &n);
        const size_t from = a > first ? a : first,
                     to = a + n < first + count ? a + n : first + count;
        for (int c = 0; c < 3 && from < to; c++)
            if (clmsyncn(g->ctx, dev, (char *)g->plane[c] + from * size, (to - from) * size,
                         CL_MEM_HOST) == (cl_event)-1)
                return -1;
    }
    return 0;
}

int gas_velocities(gas *g, uint64_t first, size_t count, double (*velocity)[3])
{
    if (no_handle(g, __func__))
        return -1;
    if (first > g->n || count > g->n - first)
        return clerror_set(
            EINVAL, "gas_velocities: there are no %zu molecules from %llu on; the gas has %llu",
            count, (unsigned long long)first, (unsigned long long)g->n);
    const uint64_t begin =
        g->storage == GAS_STORED ? g->first * BLOCK : 0; /* what the planes begin with */
    if (g->storage == GAS_STORED && (first < begin || first + count > begin + g->own))
        return clerror_set(
            EINVAL, "gas_velocities: rank %d has molecules %llu to %llu, not all from %llu to %llu",
            world_rank(g->world), (unsigned long long)begin, (unsigned long long)(begin + g->own),
            (unsigned long long)first, (unsigned long long)(first + count));
    if (g->storage == GAS_STORED && (!g->ready || fetch(g, (size_t)(first - begin), count) != 0))
        return g->ready ? -1 : clerror_set(EINVAL, "gas_velocities: none were given yet");
    for (size_t i = 0; i < count; i += SLICE) {
        float v[3][SLICE];
        const size_t some = count - i < SLICE ? count - i : SLICE;
        if (g->storage == GAS_FUSED)
            draw_slice(first + i, some, g->key[0], g->key[1], v[0], v[1], v[2]);
        for (size_t k = 0; k < some; k++)
            for (int c = 0; c < 3; c++) {
                const size_t at = (size_t)(first - begin) + i + k;
                const double one = g->storage == GAS_FUSED   ? (double)v[c][k]
                                   : g->type == ARRAYS_FLOAT ? (double)((float *)g->plane[c])[at]
                                                             : ((double *)g->plane[c])[at];
                velocity[i + k][c] = one * g->unit;
            }
    }
    return 0;
}

/* ---- Histograms. ----------------------------------------------------------------------------- */

enum { MOST_BINS = 4096, COUNT_BLOCKS = 1 << 16 }; /* 2^31 molecules: a bin's 32 bits suffice */

/* Counts blocks first ... first + blocks - 1 on one device, into g->counts there: of this rank's
 * where they are stored. */
static int count_on(gas *g, cl_uint dev, uint64_t first, uint64_t blocks, float scale, cl_uint bins)
{
    const struct kernels_on *on = &g->count.on[dev];
    const cl_ulong from = first, n = g->storage == GAS_STORED ? g->own : g->n;
    const stdcl_local_t own = {(bins + 1) * sizeof(cl_uint)};
    void *none = g->counts;
    void *const *p = g->storage == GAS_STORED ? g->plane : (void *[]){none, none, none};
    const size_t group = (size_t)on->shape.group;
    clndrange_t ndr = clndrange_init1d(0, (size_t)blocks * group, group);
    pace_started(&g->count.pace, (double)blocks);
    memset(g->counts, 0, (MOST_BINS + 1) * sizeof *g->counts);
    if (clmsync(g->ctx, dev, g->counts, CL_MEM_DEVICE) == (cl_event)-1 ||
        clforkv(g->ctx, dev, on->kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                ARGS(from, n, p[0], p[1], p[2], g->key[0], g->key[1], scale, bins, g->counts,
                     own)) == (cl_event)-1 ||
        clmsync(g->ctx, dev, g->counts, CL_MEM_HOST | CL_EVENT_NOWAIT) == (cl_event)-1 ||
        clwait(g->ctx, dev, CL_ALL_EVENT) == (cl_event)-1)
        return -1;
    pace_waited(&g->count.pace);
    return 0;
}

/* The molecules of this rank, device by device. */
static int count_all(gas *g, float scale, unsigned bins, uint64_t *count)
{
    if (!g->counts && !(g->counts = clmalloc(g->ctx, (MOST_BINS + 1) * sizeof *g->counts, 0)))
        return -1;
    if (open_kernels(g, &g->count, "histogram") != 0)
        return -1;
    const uint64_t first = g->storage == GAS_STORED ? 0 : g->first;
    for (cl_uint dev = 0; dev < g->ndev; dev++) {
        const uint64_t end = share_start(g->blocks, dev + 1, g->ndev);
        uint64_t some;
        for (uint64_t at = share_start(g->blocks, dev, g->ndev); at < end; at += some) {
            some = slice_of(&g->count, end - at < COUNT_BLOCKS ? end - at : COUNT_BLOCKS);
            if (count_on(g, dev, first + at, some, scale, bins) != 0)
                return -1;
            for (unsigned b = 0; b <= bins; b++)
                count[b] += g->counts[b];
            if (tell(g, "gas_histogram", at + some < g->blocks ? (at + some) * BLOCK : g->own) != 0)
                return -1;
        }
    }
    return 0;
}

int gas_histogram(gas *g, double top, unsigned bins, uint64_t *count)
{
    if (no_handle(g, __func__))
        return -1;
    if (!isfinite(top) || top <= 0 || bins < 1 || bins > MOST_BINS)
        return clerror_set(
            EINVAL, "gas_histogram: %u bins up to %g; there must be 1 to %d up to a speed > 0",
            bins, top, MOST_BINS);
    const bool ready = g->storage == GAS_FUSED || g->ready;
    memset(count, 0, (bins + 1) * sizeof *count);
    if (world_reduce_status(
            g->world, ready ? count_all(g, (float)(bins / top * g->unit), bins, count)
                            : clerror_set(EINVAL, "gas_histogram: no velocities were given yet")) !=
        0)
        return -1;
    return world_add(g->world, count, bins + 1);
}
