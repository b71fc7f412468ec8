/* program.c - kernels, built when first asked for and then kept; scratch memory.
 *
 * From one source many kernels are built, for shapes, transposes and alignments; the line of options identifies each.
 * Devices with the same shape share a program, since a stdcl kernel serves every device of its context.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include <sys/mman.h>

EMBEDDED(tile, "matmul/tile.cl", matmul_tile_cl);
EMBEDDED(fma_file, "matmul/fma.cl", matmul_fma_cl);
EMBEDDED(mma_file, "matmul/mma.cl", matmul_mma_cl);
EMBEDDED(pack, "matmul/pack.cl", matmul_pack_cl);
EMBEDDED(cpu, "matmul/cpu.cl", matmul_cpu_cl);
EMBEDDED(ladder, "matmul/ladder.cl", matmul_ladder_cl);

/* ---- Programs. -------------------------------------------------------------------------------- */

/* The tiles' sources stand behind tile.cl. One that defines what tile.cl is to know gets that as an option instead. */
static void *build(struct matmul *mm, enum matmul_source s, const char *options)
{
    static const struct embedded *const source[SOURCES] = {[SOURCE_FMA] = &fma_file,
                                                           [SOURCE_MMA] = &mma_file,
                                                           [SOURCE_PACK] = &pack,
                                                           [SOURCE_CPU] = &cpu,
                                                           [SOURCE_LADDER] = &ladder};
    const struct embedded *const front = &tile;
    char line[1024];
    snprintf(line, sizeof line, "%s%s", options, mm->precision == MATMUL_DOUBLE ? " -D DOUBLES" : "");
    return embedded_open(mm->ctx, line, source[s], s == SOURCE_FMA || s == SOURCE_MMA, &front);
}

/* mm->lock is held. */
static struct program *find(struct matmul *mm, enum matmul_source s, const char *options)
{
    for (struct program *p = mm->programs; p; p = p->next)
        if (p->source == s && strcmp(p->options, options) == 0)
            return p;
    struct program *p = calloc(1, sizeof *p);
    char *copy = strdup(options);
    if (!p || !copy) {
        clerror_set(ENOMEM, "matmul: no memory on the host");
    } else if ((p->handle = build(mm, s, options))) {
        p->source = s;
        p->options = copy;
        p->next = mm->programs;
        return mm->programs = p;
    }
    free(copy);
    free(p);
    return NULL;
}

cl_kernel matmul_kernel(struct matmul *mm, enum matmul_source s, const char *options, const char *name)
{
    pthread_mutex_lock(&mm->lock);
    const struct program *p = find(mm, s, options);
    pthread_mutex_unlock(&mm->lock);
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

/* ---- Scratch memory, launches. ---------------------------------------------------------------- */

void *matmul_scratch(struct matmul *mm, struct part *p, int which, size_t size)
{
    struct scratch *s = &p->scratch[which];
    if (s->block && s->size >= size)
        return s->block;
    clfree(s->block); /* waits for kernels that use it */
    s->size = size + size / 4;
    s->block = clmalloc(mm->ctx, s->size, p->is_cpu ? CL_MEM_ZEROCOPY : CL_MEM_DEVONLY);
#ifdef MADV_HUGEPAGE
    if (s->block && p->is_cpu)
        madvise(s->block, s->size, MADV_HUGEPAGE); /* panels are read by many a page at a time */
#endif
    if (s->block && !clgetbuffer(mm->ctx, p->dev, s->block)) {
        clfree(s->block);
        s->block = NULL;
    }
    return s->block;
}

int matmul_fork(struct matmul *mm, const struct part *p, cl_kernel kernel, clndrange_t *ndr, cl_uint nargs,
                const struct stdcl_arg *args)
{
    return clforkv(mm->ctx, p->dev, kernel, ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED, nargs, args) == (cl_event)-1 ? -1 : 0;
}

int matmul_scale(struct matmul *mm, struct part *p, size_t m, size_t n, double beta_, const struct operand *c)
{
    cl_kernel kernel = matmul_kernel(mm, SOURCE_PACK, "", "matmul_scale");
    const size_t group = smaller(64, p->info.dev_max_wg_sz);
    const cl_int cols = (cl_int)n;
    const cl_ulong at = c->offset, ld = c->ld;
    clndrange_t ndr = clndrange_init2d(0, round_up(n, group), group, 0, m, 1);
    REAL_NUMBER(beta, beta_);
    const struct stdcl_arg args[] = {VALUE_ARG(cols), REAL_ARG(mm, beta), operand_arg(c), VALUE_ARG(at),
                                     VALUE_ARG(ld)};
    return kernel ? matmul_fork(mm, p, kernel, &ndr, COUNT_OF(args), args) : -1;
}
