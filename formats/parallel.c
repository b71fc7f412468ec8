/* parallel.c - parallel loops over ranges of a picture or a matrix.
 * SPDX-License-Identifier: MIT
 */
#include "formats/parallel.h"

#include "core/parallel_for.h"

enum { MOST_THREADS = 16 };

struct ranges {
    void (*work)(void *job, size_t from, size_t to);
    void *job;
    size_t n, count;
};

static void work_on_range(void *to, size_t i)
{
    const struct ranges *r = to;
    r->work(r->job, r->n * i / r->count, r->n * (i + 1) / r->count);
}

void parallel_ranges(size_t n, size_t least, void (*work)(void *, size_t, size_t), void *job)
{
    const size_t useful = n / least, most = parallel_for_threads(MOST_THREADS);
    struct ranges r = {work, job, n, useful < 1 ? 1 : useful < most ? useful : most};
    parallel_for(r.count, work_on_range, &r);
}
