/* sorter_tune.c - kernels of scans and sorts for the search of tuning entries: the values to try, a
 * problem, its check and its time.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/sorter.h"

#include "arrays/arrays_ref.h"

/* clang-format off */
const struct cltune_knob sorter_knobs[SORTER_KNOBS] = {
    CLTUNE_KNOB("group", 1, 64, 128, 256, 512),
    CLTUNE_KNOB("items", 4, 7, 8, 10, 11, 12, 14, 15, 16, 18, 20, 23, 27, 31, 256, 1024),
    CLTUNE_KNOB("groups_per_unit", 1, 2, 4, 8, 16, 32),
    CLTUNE_KNOB("match", 0, 1, 2),
    CLTUNE_KNOB("look_back", 0, 1),
    CLTUNE_KNOB("depth", 1, 4),
};
/* clang-format on */
const size_t sorter_sizes[SORTER_SIZES] = {1 << 20, 1 << 23}; /* the larger exceeds caches */

struct problem {
    CLCONTEXT *ctx; /* of the tuned device */
    struct cldev_info info;
    struct sorter_variant what;
    size_t n;
    void *x, *first, *right; /* the array, its initial content, and the expected result */
    cl_uint *values, *right_values;
    char shape[512];
    arrays_sorter *sorter; /* with that shape */
};

void sorter_problem_close(void *problem)
{
    struct problem *p = problem;
    arrays_sorter_free(p->sorter);
    if (p->x)
        clfree(p->x);
    if (p->values)
        clfree(p->values);
    free(p->first);
    free(p->right);
    free(p->right_values);
    free(p);
}

/* Draw random keys, by a linear congruential generator (Knuth's MMIX), and compute the expected
 * result. */
static int sorter_problem_init(struct problem *p)
{
    const size_t size = p->n * (size_t)p->what.bytes;
    if (clgetdevinfo(p->ctx, &p->info) != 0)
        return -1;
    p->x = clmalloc(p->ctx, size, CL_MEM_ZEROCOPY);
    p->values = clmalloc(p->ctx, p->n * sizeof *p->values, CL_MEM_ZEROCOPY);
    p->first = malloc(size);
    p->right = malloc(size);
    p->right_values = calloc(p->n, sizeof *p->right_values);
    void *room = malloc(size + p->n * sizeof *p->right_values);
    const int enough = p->x && p->values && p->first && p->right && p->right_values && room;
    uint64_t state = 1;
    for (size_t i = 0; enough && i < size / 4; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        ((uint32_t *)p->first)[i] = (uint32_t)(state >> 32);
    }
    if (enough && p->what.sorts) {
        for (size_t i = 0; i < p->n; i++)
            p->right_values[i] = (cl_uint)i;
        memcpy(p->right, p->first, size);
        arrays_ref_sort(p->what.bytes, 8 * p->what.bytes, p->right, p->right_values, p->n, room);
    } else if (enough) {
        arrays_ref_scan(p->what.bytes, p->first, p->right, p->n);
    }
    free(room);
    return enough ? 0 : clerror_set(ENOMEM, "arrays: out of memory: cannot tune");
}

void *sorter_problem_open(const struct cltune_kernel *kernel, CLCONTEXT *cp, size_t n)
{
    struct problem *p = calloc(1, sizeof *p);
    if (!p) {
        clerror_set(ENOMEM, "arrays: out of memory: cannot tune");
        return NULL;
    }
    *p = (struct problem){.ctx = cp, .what = *(const struct sorter_variant *)kernel->arg, .n = n};
    if (sorter_problem_init(p) == 0)
        return p;
    sorter_problem_close(p);
    return NULL;
}

/* Create the object for a shape, unless the last one had the same shape. */
static int sorter_tune_use(struct problem *p, const char *shape)
{
    if (p->sorter && strcmp(shape, p->shape) == 0)
        return 0;
    arrays_sorter_free(p->sorter);
    snprintf(p->shape, sizeof p->shape, "%s", shape);
    p->sorter =
        arrays_sorter_create(&(struct arrays_sorter_options){.ctx = p->ctx, .shape = p->shape});
    return p->sorter ? 0 : -1;
}

static int sorter_tune_start(struct problem *p)
{
    if (p->what.sorts)
        return arrays_sort_start(
            p->sorter, &(struct arrays_sort_job){.keys = p->x,
                                                 .values = p->what.values ? p->values : NULL,
                                                 .bytes = p->what.bytes,
                                                 .most = p->n});
    return arrays_scan_start(
        p->sorter,
        &(struct arrays_scan_job){.x = p->x, .sums = p->x, .bytes = p->what.bytes, .most = p->n});
}

static int sorter_tune_finish(struct problem *p, int status)
{
    return clwait(p->ctx, 0, CL_ALL_EVENT) == (cl_event)-1 ? -1 : status;
}

/* ---- Interface of the search. ---------------------------------------------------------------- */

int sorter_allowed(void *problem, const char *shape)
{
    const struct problem *p = problem;
    const long group = cltune_value(shape, "group", 1), items = cltune_value(shape, "items", 1);
    const bool cpu = p->info.dev_type & CL_DEVICE_TYPE_CPU;
    if (cpu)
        return group == 1 && items >= 256 && !cltune_value(shape, "match", 0) &&
                       !cltune_value(shape, "look_back", 0) && cltune_value(shape, "depth", 4) == 4
                   ? 0
                   : -1;
    if (group < 32 || items > 32)
        return -1;
    const bool other_depth = cltune_value(shape, "depth", 4) != 4;
    if (!p->what.sorts)
        return cltune_value(shape, "match", 0) || other_depth ? -1 : 0;
    return other_depth && !cltune_value(shape, "look_back", 0) ? -1 : 0;
}

int sorter_verify(void *problem, const char *shape)
{
    struct problem *p = problem;
    const size_t size = p->n * (size_t)p->what.bytes;
    memcpy(p->x, p->first, size);
    for (size_t i = 0; i < p->n; i++)
        p->values[i] = (cl_uint)i;
    if (sorter_tune_use(p, shape) != 0 || clmsync(p->ctx, 0, p->x, CL_MEM_DEVICE) == (cl_event)-1 ||
        clmsync(p->ctx, 0, p->values, CL_MEM_DEVICE) == (cl_event)-1 ||
        sorter_tune_finish(p, sorter_tune_start(p)) != 0 ||
        clmsync(p->ctx, 0, p->x, CL_MEM_HOST) == (cl_event)-1 ||
        clmsync(p->ctx, 0, p->values, CL_MEM_HOST) == (cl_event)-1)
        return -1;
    if (memcmp(p->x, p->right, size) != 0 ||
        (p->what.values && memcmp(p->values, p->right_values, p->n * sizeof *p->values) != 0))
        return clerror_set(EDOM, "arrays: shape %s: wrong %s", shape,
                           p->what.sorts ? "order" : "sum");
    return 0;
}

/* Run repeatedly on the same memory. Sorted keys take as long as random ones, since the first
 * pass, by the lowest digit, destroys their order. */
static int sorter_tune_runs(void *problem, size_t n)
{
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++)
        status = sorter_tune_start(problem);
    return sorter_tune_finish(problem, status);
}

int sorter_measure(void *problem, const char *shape, double *seconds, double *work)
{
    struct problem *p = problem;
    *work = (double)p->n;
    return sorter_tune_use(p, shape) == 0 ? cltune_time(sorter_tune_runs, p, seconds) : -1;
}
