/* program.c - programs built on first use and cached; workspaces; launches.
 *
 * One source gives many programs, for shapes, transposes and alignments. The line of options
 * identifies each. Devices of one shape share a program: a stdcl kernel serves every device of its
 * context.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/partition.h"
#include "matmul/plan.h"
#include "matmul/program.h"

#include "core/embedded.h"
#include "core/untracked.h"
#include "core/clock.h"
#include "core/progress.h"

#include <sys/mman.h>

EMBEDDED(last_group, "matmul/last_group.cl", matmul_last_group_cl);
EMBEDDED(tile, "matmul/tile.cl", matmul_tile_cl);
EMBEDDED(fma_file, "matmul/fma.cl", matmul_fma_cl);
EMBEDDED(mma_file, "matmul/mma.cl", matmul_mma_cl);
EMBEDDED(pack, "matmul/pack.cl", matmul_pack_cl);
EMBEDDED(cpu, "matmul/cpu.cl", matmul_cpu_cl);
EMBEDDED(baseline, "matmul/baseline.cl", matmul_baseline_cl);
EMBEDDED(skinny, "matmul/skinny.cl", matmul_skinny_cl);

/* ---- Programs. ------------------------------------------------------------------------------- */

/* Compile a program. The sources of tiles follow last_group.cl and tile.cl, that of skinny.cl
 * follows last_group.cl. A definition that tile.cl needs is passed as an option. Programs for CPUs
 * are cached on disk, except with the caller's shape words: a search tries many shapes. */
static void *program_compile(struct matmul *mm, enum matmul_source s, const char *options)
{
    static const struct embedded *const source[SOURCES] = {
        [SOURCE_FMA] = &fma_file, [SOURCE_MMA] = &mma_file,      [SOURCE_PACK] = &pack,
        [SOURCE_CPU] = &cpu,      [SOURCE_BASELINE] = &baseline, [SOURCE_SKINNY] = &skinny};
    const struct embedded *const front[] = {&last_group, &tile};
    const size_t fronts = s == SOURCE_FMA || s == SOURCE_MMA ? 2 : s == SOURCE_SKINNY ? 1 : 0;
    char line[1024];
    snprintf(line, sizeof line, "%s%s", options,
             mm->precision == MATMUL_DOUBLE ? " -D DOUBLES" : "");
    return embedded_open_as(s == SOURCE_CPU && !mm->shape_words ? CLLD_CACHE : CLLD_NOW, mm->ctx,
                            line, source[s], fronts, front);
}

/* Return the cached program, or compile it. The caller holds mm->lock. */
static struct program *program_find(struct matmul *mm, enum matmul_source s, const char *options)
{
    for (struct program *p = mm->programs; p; p = p->next)
        if (p->source == s && strcmp(p->options, options) == 0)
            return p;
    struct program *p = calloc(1, sizeof *p);
    char *copy = strdup(options);
    if (!p || !copy) {
        clerror_set(ENOMEM, "matmul: out of memory on the host");
    } else if ((p->handle = program_compile(mm, s, options))) {
        p->source = s;
        p->options = copy;
        p->next = mm->programs;
        return mm->programs = p;
    }
    free(copy);
    free(p);
    return NULL;
}

static _Thread_local double seconds_built;

double matmul_build_seconds(void)
{
    return seconds_built;
}

cl_kernel matmul_kernel(struct matmul *mm, enum matmul_source s, const char *options,
                        const char *name)
{
    const double start = seconds_now();
    pthread_mutex_lock(&mm->lock);
    const struct program *p = program_find(mm, s, options);
    pthread_mutex_unlock(&mm->lock);
    seconds_built += seconds_now() - start;
    return p ? clsym(mm->ctx, p->handle, name, 0) : NULL;
}

void matmul_programs_close(struct matmul *mm)
{
    while (mm->programs) {
        struct program *p = mm->programs;
        mm->programs = p->next;
        clclose(mm->ctx, p->handle);
        free(p->options);
        free(p);
    }
}

/* ---- Workspaces, launches. ------------------------------------------------------------------- */

int matmul_fill_buffer(struct matmul *mm, const struct matmul_device *p, void *block, cl_uint value,
                       size_t bytes)
{
    cl_event done = NULL;
    cl_mem buffer = clgetbuffer(mm->ctx, p->dev, block);
    if (!buffer)
        return -1;
    cl_int err = clEnqueueFillBuffer(clgetqueue(mm->ctx, p->dev), buffer, &value, sizeof value, 0,
                                     bytes / sizeof value * sizeof value, 0, NULL, &done);
    if (err == CL_SUCCESS)
        err = matmul_wait_event(done);
    if (done)
        clReleaseEvent(done);
    if (err == CL_SUCCESS)
        return 0;
    return clerror_set(EIO, "matmul: %s cannot fill its scratch memory (%s)", p->info.dev_name,
                       oclerror_str(err));
}

/* True if new device memory is to be filled with NaN. */
static bool debug_fills_nan(void)
{
    const char *level = getenv("STDCL_DEBUG");
    return level && *level && strcmp(level, "0") != 0;
}

void *matmul_device_alloc(struct matmul *mm, const struct matmul_device *p, size_t size, int flags)
{
    void *block = clmalloc(mm->ctx, size, flags);
    if (block && clgetbuffer(mm->ctx, p->dev, block) &&
        (!debug_fills_nan() || matmul_fill_buffer(mm, p, block, ~0u, size) == 0))
        return block;
    clfree(block);
    return NULL;
}

void *matmul_workspace(struct matmul *mm, struct matmul_device *p, int which, size_t size)
{
    struct workspace *s = &p->workspace[which];
    if (s->block && s->size >= size)
        return s->block;
    clfree(s->block); /* waits for kernels that use it */
    s->size = size + size / 4;
    s->block = matmul_device_alloc(mm, p, s->size, p->is_cpu ? CL_MEM_ZEROCOPY : CL_MEM_DEVONLY);
#ifdef MADV_HUGEPAGE
    if (s->block && p->is_cpu)
        madvise(s->block, s->size, MADV_HUGEPAGE); /* many cores read panels, a page at a time */
#endif
    return s->block;
}

void *matmul_splitk_workspace(struct matmul *mm, struct matmul_device *p, size_t elements)
{
    const size_t counters = SPLITK_PARTS_MAX * sizeof(cl_uint),
                 size = counters + elements * mm->real;
    struct workspace *s = &p->workspace[WORKSPACE_SPLIT_K];
    const bool fresh = !s->block || s->size < size;
    void *block = matmul_workspace(mm, p, WORKSPACE_SPLIT_K, size);
    if (!block || !fresh || matmul_fill_buffer(mm, p, block, 0, counters) == 0)
        return block;
    clfree(s->block); /* its counters are not zero */
    s->block = NULL;
    return NULL;
}

void matmul_set_report(struct matmul *mm, struct matmul_device *p,
                       int (*pause)(void *arg, double work), void *arg)
{
    p->report = mm->progress ? pause : NULL;
    p->report_arg = arg;
    p->pace.queued = 0;
}

/* Block until the launched kernels are complete, and report their work. */
static int launch_wait_room(struct matmul *mm, struct matmul_device *p)
{
    const double done = p->pace.queued;
    const bool failed = clwait(mm->ctx, p->dev, CL_KERNEL_EVENT) == (cl_event)-1;
    pace_waited(&p->pace);
    if (failed)
        return -1;
    if (p->report(p->report_arg, done) == 0)
        return 0;
    /* The counters count groups that will not run: renew them. */
    p->workspace[WORKSPACE_SPLIT_K].size = 0;
    return progress_cancelled("matmul");
}

static int launch_range(struct matmul *mm, struct matmul_device *p, cl_kernel kernel,
                        const clndrange_t *ndr, double work, cl_uint nargs,
                        const struct stdcl_arg *args)
{
    clndrange_t range = *ndr;
    if (p->report && !pace_has_room(&p->pace, work) && launch_wait_room(mm, p) != 0)
        return -1;
    const int untracked = p->capability > 0
                              ? CL_EVENT_UNTRACKED
                              : 0; /* what untracked_flag would ask the driver at each launch */
    const int flags = CL_EVENT_NOWAIT | CL_EVENT_CHECKED | untracked;
    if (p->report)
        pace_started(&p->pace, work);
    return clforkv(mm->ctx, p->dev, kernel, &range, flags, nargs, args) == (cl_event)-1 ? -1 : 0;
}

/* Launch whole rows of groups (dimension 1), or a part of one row: as many groups as a slice of
 * time holds, at least one for each compute unit. */
int matmul_launch(struct matmul *mm, struct matmul_device *p, cl_kernel kernel,
                  const clndrange_t *ndr, double work, cl_uint nargs, const struct stdcl_arg *args)
{
    const size_t across = ndr->gtid[0] / ndr->ltid[0],
                 down = ndr->dim > 1 ? ndr->gtid[1] / ndr->ltid[1] : 1;
    const double group = work / ((double)across * (double)down), fit = pace_slice(&p->pace) / group;
    if (!p->report || !(fit < (double)across * (double)down))
        return launch_range(mm, p, kernel, ndr, work, nargs, args);
    const size_t units = matmul_compute_units(p), most = fit < (double)units ? units : (size_t)fit;
    for (size_t x = 0, y = 0; y < down;) {
        const bool rows = x == 0 && most >= across;
        const size_t wide = rows ? across : min_size(most, across - x),
                     high = rows ? min_size(most / across, down - y) : 1;
        clndrange_t range = *ndr;
        range.gtid_offset[0] = x * ndr->ltid[0];
        range.gtid[0] = wide * ndr->ltid[0];
        if (ndr->dim > 1) {
            range.gtid_offset[1] = y * ndr->ltid[1];
            range.gtid[1] = high * ndr->ltid[1];
        }
        if (launch_range(mm, p, kernel, &range, group * (double)wide * (double)high, nargs, args) !=
            0)
            return -1;
        x = (x + wide) % across;
        y += x == 0 ? high : 0;
    }
    return 0;
}

int matmul_launch_scale(struct matmul *mm, struct matmul_device *p, size_t m, size_t n,
                        double beta_, const struct operand *c)
{
    cl_kernel kernel = matmul_kernel(mm, SOURCE_PACK, "", "matmul_scale");
    const size_t group = min_size(64, p->info.dev_max_wg_sz);
    const cl_int cols = (cl_int)n;
    const cl_ulong at = c->offset, ld = c->ld;
    clndrange_t ndr = clndrange_init2d(0, round_up(n, group), group, 0, m, 1);
    return kernel ? matmul_launch(mm, p, kernel, &ndr, 0,
                                  ARGS(cols, REAL(mm, beta_), operand_arg(c), at, ld))
                  : -1;
}
