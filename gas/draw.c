/* draw.c - velocities: drawn by the devices or the host, set by the caller, read back; histograms.
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
    SLICE = 256,         /* molecules drawn at once: they fit the first-level cache */
    TOLD_EVERY = 1 << 20 /* molecules between two progress reports */
};

/* One source for machines with and without fused multiply-add, which is a slow call without
 * hardware support. */
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

/* Report progress. Non-zero cancels. */
static int gas_report(const gas *g, const char *call, uint64_t done)
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
        if (i % TOLD_EVERY == 0 && gas_report(g, "gas_create", i + count) != 0)
            return -1;
    }
    return 0;
}

/* ---- Memory. --------------------------------------------------------------------------------- */

/* Bytes of a plane: whole blocks, so that kernels may access whole vectors. */
static size_t gas_plane_bytes(const gas *g)
{
    return (size_t)(g->blocks ? g->blocks : 1) * BLOCK * type_bytes(g->type);
}

static int velocities_upload(gas *g)
{
    for (int c = 0; c < 3 && g->own; c++)
        if (arrays_upload(g->arrays, g->plane[c], (size_t)g->own) != 0)
            return -1;
    g->ready = true;
    return 0;
}

/* Return the blocks of this rank that device dev has. With ARRAYS_TREE each device has all of
 * them, since the tree reads all velocities. */
static uint64_t blocks_on(const gas *g, cl_uint dev, uint64_t *first)
{
    const uint64_t blocks = g->blocks;
    const bool whole = g->method == ARRAYS_TREE;
    *first = whole ? 0 : device_first_block(blocks, dev, g->ndev);
    return whole ? blocks : device_first_block(blocks, dev + 1, g->ndev) - *first;
}

/* Launch the kernel that draws blocks first ... first + blocks - 1 on device dev, one group a
 * block. */
static int draw_launch(const gas *g, cl_uint dev, uint64_t first, uint64_t blocks)
{
    const struct device_kernel *on = &g->draw.device[dev];
    const size_t group = (size_t)on->shape.group;
    const cl_ulong from = first, n = g->own, begin = g->first * BLOCK;
    clndrange_t ndr = clndrange_init1d(0, (size_t)blocks * group, group);
    if (clforkv(g->ctx, dev, on->kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                ARGS(from, n, begin, g->plane[0], g->plane[1], g->plane[2], g->key[0],
                     g->key[1])) == (cl_event)-1)
        return -1;
    return clflush(g->ctx, dev, 0);
}

/* Draw up to `some` blocks on each device, from block `at` of its range on, and wait for them. */
static int draw_on_all(gas *g, uint64_t at, uint64_t some)
{
    int status = 0;
    pace_started(&g->draw.pace, (double)some);
    for (cl_uint dev = 0; dev < g->ndev && status == 0; dev++) {
        uint64_t first;
        const uint64_t blocks = blocks_on(g, dev, &first);
        if (at < blocks)
            status = draw_launch(g, dev, first + at, blocks - at < some ? blocks - at : some);
    }
    for (cl_uint dev = 0; dev < g->ndev; dev++)
        if (clwait(g->ctx, dev, CL_ALL_EVENT) == (cl_event)-1)
            status = -1;
    pace_waited(&g->draw.pace);
    return status;
}

static int gas_open_kernels(gas *g, struct kernels *k, const char *name)
{
    const struct embedded *const front[] = {&fixed_reduce_text, &maxwell_text};
    char options[128];
    if (k->device)
        return 0;
    snprintf(options, sizeof options, "-D MW_WIDTH=WIDTH -D REAL=%s -D STORED=%d -D WIDE=float",
             g->type == ARRAYS_FLOAT ? "float" : "double", g->storage == GAS_STORED);
    if (arrays_kernels_shape(k, g->ctx, "gas.draw", 0, NULL) == 0 &&
        arrays_kernels_open(k, name, options, &draw_file, 2, front, NULL) == 0)
        return 0;
    arrays_kernels_close(k);
    return -1;
}

static uint64_t gas_slice_blocks(const struct kernels *k, uint64_t most)
{
    const double slice = pace_slice(&k->pace);
    return slice >= (double)most ? most : slice < 1 ? 1 : (uint64_t)slice;
}

static int draw_on_devices(gas *g)
{
    if (gas_open_kernels(g, &g->draw, "draw") != 0)
        return -1;
    uint64_t none, some;
    const uint64_t blocks = blocks_on(g, g->ndev - 1, &none); /* no device has more */
    for (uint64_t at = 0; at < blocks; at += some) {
        some = gas_slice_blocks(&g->draw, blocks - at);
        if (draw_on_all(g, at, some) != 0 ||
            gas_report(g, "gas_create",
                       at + some < blocks ? g->own / blocks * (at + some) : g->own) != 0)
            return -1;
    }
    g->ready = true;
    return 0;
}

int gas_draw_place(gas *g)
{
    for (int c = 0; c < 3; c++)
        if (!(g->plane[c] = clmalloc(g->ctx, gas_plane_bytes(g), CL_MEM_ZEROCOPY)))
            return -1;
    if (g->source == GAS_DEVICE)
        return draw_on_devices(g);
    if (g->source == GAS_HOST)
        return draw_on_host(g) == 0 ? velocities_upload(g) : -1;
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

/* ---- Set and read. --------------------------------------------------------------------------- */

static void plane_put(gas *g, int c, size_t i, double v)
{
    if (g->type == ARRAYS_FLOAT)
        ((float *)g->plane[c])[i] = (float)v;
    else
        ((double *)g->plane[c])[i] = v;
}

static double given_component(const float (*single)[3], const double (*wide)[3], size_t i, int c)
{
    return single ? (double)single[i][c] : wide[i][c];
}

/* Find the largest magnitude of this rank's components. */
static int find_largest_component(const gas *g, const float (*single)[3], const double (*wide)[3],
                                  double *largest)
{
    for (size_t i = 0; i < (size_t)g->own; i++)
        for (int c = 0; c < 3; c++) {
            const double v = given_component(single, wide, i, c);
            if (!isfinite(v))
                return clerror_set(
                    EDOM,
                    "gas_set_velocities: component %c of molecule %zu is %g; it must be a "
                    "finite number",
                    "xyz"[c], (size_t)(g->first * BLOCK) + i, v);
            *largest = fmax(*largest, fabs(v));
        }
    return 0;
}

static void join_largest(void *a, const void *b, void *arg)
{
    (void)arg;
    *(double *)a = fmax(*(double *)a, *(const double *)b);
}

/* Unit of given velocities: 1 if the largest component lies between 2^-20 and 2^30, else its power
 * of two, so that no sum of squares overflows and no square that matters underflows, not even in
 * floats. A power of two changes no bit of a result. */
static double given_unit(double largest)
{
    int exponent;
    frexp(largest, &exponent);
    return largest == 0 || (largest >= 0x1p-20 && largest <= 0x1p30) ? 1 : ldexp(1, exponent - 1);
}

/* Store vectors of floats (`single`) or of doubles into the planes. */
static int planes_set(gas *g, const float (*single)[3], const double (*wide)[3])
{
    double largest = 0;
    if (g->source != GAS_GIVEN || g->storage != GAS_STORED)
        return clerror_set(
            EINVAL,
            "gas_set_velocities: this gas draws its velocities; create it with GAS_STORED and GAS_GIVEN");
    g->ready = false;
    if (world_reduce_status(g->world, find_largest_component(g, single, wide, &largest)) != 0 ||
        world_reduce(g->world, &largest, sizeof largest, join_largest, NULL) != 0)
        return -1;
    g->unit = given_unit(largest);
    for (size_t i = 0; i < (size_t)g->own; i++)
        for (int c = 0; c < 3; c++)
            plane_put(g, c, i, given_component(single, wide, i, c) / g->unit);
    return velocities_upload(g);
}

int gas_set_velocities(gas *g, const double (*velocity)[3])
{
    if (no_handle(g, __func__))
        return -1;
    return planes_set(g, NULL, velocity);
}
int gas_set_velocities_single(gas *g, const float (*velocity)[3])
{
    if (no_handle(g, __func__))
        return -1;
    return planes_set(g, velocity, NULL);
}

/* Copy elements of the planes from the devices that have them. */
static int velocities_download(gas *g, size_t first, size_t count)
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
    /* First molecule of the planes. */
    const uint64_t begin = g->storage == GAS_STORED ? g->first * BLOCK : 0;
    if (g->storage == GAS_STORED && (first < begin || first + count > begin + g->own))
        return clerror_set(
            EINVAL, "gas_velocities: rank %d has molecules %llu to %llu, not all from %llu to %llu",
            world_rank(g->world), (unsigned long long)begin, (unsigned long long)(begin + g->own),
            (unsigned long long)first, (unsigned long long)(first + count));
    if (g->storage == GAS_STORED && !g->ready)
        return clerror_set(EINVAL,
                           "gas_velocities: no velocities are set; call gas_set_velocities first");
    if (g->storage == GAS_STORED && velocities_download(g, (size_t)(first - begin), count) != 0)
        return -1;
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

/* Count blocks first ... first + blocks - 1 on one device into g->counts. Stored blocks are
 * numbered within this rank. */
static int histogram_on_device(gas *g, cl_uint dev, uint64_t first, uint64_t blocks, float scale,
                               cl_uint bins)
{
    const struct device_kernel *on = &g->count.device[dev];
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

/* Count the molecules of this rank, device by device. */
static int histogram_all(gas *g, float scale, unsigned bins, uint64_t *count)
{
    if (!g->counts && !(g->counts = clmalloc(g->ctx, (MOST_BINS + 1) * sizeof *g->counts, 0)))
        return -1;
    if (gas_open_kernels(g, &g->count, "histogram") != 0)
        return -1;
    const uint64_t first = g->storage == GAS_STORED ? 0 : g->first;
    for (cl_uint dev = 0; dev < g->ndev; dev++) {
        const uint64_t end = device_first_block(g->blocks, dev + 1, g->ndev);
        uint64_t some;
        for (uint64_t at = device_first_block(g->blocks, dev, g->ndev); at < end; at += some) {
            some = gas_slice_blocks(&g->count, end - at < COUNT_BLOCKS ? end - at : COUNT_BLOCKS);
            if (histogram_on_device(g, dev, first + at, some, scale, bins) != 0)
                return -1;
            for (unsigned b = 0; b <= bins; b++)
                count[b] += g->counts[b];
            if (gas_report(g, "gas_histogram",
                           at + some < g->blocks ? (at + some) * BLOCK : g->own) != 0)
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
            EINVAL,
            "gas_histogram: %u bins up to speed %g; there must be 1 to %d bins, and the speed must be > 0",
            bins, top, MOST_BINS);
    const bool ready = g->storage == GAS_FUSED || g->ready;
    memset(count, 0, (bins + 1) * sizeof *count);
    if (world_reduce_status(
            g->world,
            ready
                ? histogram_all(g, (float)(bins / top * g->unit), bins, count)
                : clerror_set(
                      EINVAL,
                      "gas_histogram: no velocities are set; call gas_set_velocities first")) != 0)
        return -1;
    return world_add(g->world, count, bins + 1);
}
