/* row_order.c - all rows sorted along the Hilbert curve, without a device that holds all keys.
 *
 *   device 0   rows sorted by key ---\
 *   device 1   rows sorted by key ----+--> merged on the host of every rank: order[]
 *   ...
 *
 * A stable sort of all rows would give the same order: among equal keys the lower row comes first,
 * because devices have ascending ranges of rows.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/parallel_for.h"

enum { PIECES = 64 }; /* merged concurrently */

struct merge {
    const uint64_t *hi, *lo; /* words of the keys by row of a run; lo NULL: one word */
    const cl_uint *row;
    size_t runs;
    size_t *bound; /* [PIECES + 1][runs]: where a piece begins in each run */
    size_t *at;    /* [PIECES][runs]: next entry of each run */
    cl_uint *order;
};

static bool merge_key_precedes(const struct merge *m, size_t a, size_t b)
{
    return m->hi[a] < m->hi[b] || (m->lo && m->hi[a] == m->hi[b] && m->lo[a] < m->lo[b]);
}

/* Return the first entry of [from, end) that the key of entry `key` does not follow. */
static size_t merge_lower_bound(const struct merge *m, size_t from, size_t end, size_t key)
{
    while (from < end) {
        const size_t middle = from + (end - from) / 2;
        if (merge_key_precedes(m, middle, key))
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* Divide the runs into pieces: the keys of a piece precede the keys of the next piece. */
static void merge_divide(struct merge *m, const struct holder *run)
{
    size_t longest = 0;
    for (size_t r = 0; r < m->runs; r++)
        longest = run[r].count > run[longest].count ? r : longest;
    for (size_t k = 0; k <= PIECES; k++)
        for (size_t r = 0; r < m->runs; r++) {
            const size_t first = run[r].first, end = first + run[r].count;
            m->bound[k * m->runs + r] =
                k == 0 ? first
                : k == PIECES
                    ? end
                    : merge_lower_bound(m, first, end,
                                        run[longest].first + k * run[longest].count / PIECES);
        }
    memcpy(m->at, m->bound, PIECES * m->runs * sizeof *m->at);
}

/* Return the run with the first of the next entries; m->runs at the end of the piece. */
static size_t merge_next_run(const struct merge *m, const size_t *at, const size_t *end)
{
    size_t next = m->runs;
    for (size_t r = 0; r < m->runs; r++)
        if (at[r] < end[r] && (next == m->runs || merge_key_precedes(m, at[r], at[next])))
            next = r;
    return next;
}

static void merge_piece(void *merge, size_t k)
{
    const struct merge *m = merge;
    size_t *at = m->at + k * m->runs, to = 0, r;
    for (r = 0; r < m->runs; r++)
        to += at[r] - m->bound[r];
    while ((r = merge_next_run(m, at, m->bound + (k + 1) * m->runs)) < m->runs)
        m->order[to++] = m->row[at[r]++];
}

/* Collective. Fill row[] and the words of keys[] with the sorted rows of all devices. */
static int row_order_sort_own(struct nbody *nb, cl_uint *row, uint64_t *keys)
{
    int status = nbody_domain_measure_cube(nb);
    EACH_TREE(nb, p)
    if (status == 0)
        status = nbody_hilbert_sort_own(nb, p, row, keys);
    if (world_reduce_status(nb->world, status) != 0 ||
        nbody_ranks_spread(nb, row, sizeof *row, 1) != 0)
        return -1;
    for (cl_uint w = 0; w < nb->domain.key_words; w++)
        if (nbody_ranks_spread(nb, keys + w * nb->n, sizeof *keys, 1) != 0)
            return -1;
    return 0;
}

int nbody_domain_sort_rows(struct nbody *nb, cl_uint *order)
{
    const size_t n = nb->n, words = nb->domain.key_words;
    size_t runs;
    struct holder *run = nbody_ranks_holders(nb, &runs);
    uint64_t *keys = malloc(words * n * sizeof *keys);
    cl_uint *row = malloc(n * sizeof *row);
    size_t *bound = run ? malloc((2 * PIECES + 1) * runs * sizeof *bound) : NULL;
    int status =
        run && keys && row && bound
            ? 0
            : clerror_set(ENOMEM, "nbody: out of memory on the host to sort %zu bodies", n);
    status = world_reduce_status(nb->world, status) == 0 ? row_order_sort_own(nb, row, keys) : -1;
    if (status == 0) {
        struct merge m = {.hi = keys,
                          .lo = words > 1 ? keys + n : NULL,
                          .row = row,
                          .runs = runs,
                          .bound = bound,
                          .at = bound + (PIECES + 1) * runs,
                          .order = order};
        merge_divide(&m, run);
        parallel_for(PIECES, merge_piece, &m);
    }
    free(run);
    free(keys);
    free(row);
    free(bound);
    return status;
}
