/* row_order.c - all rows sorted along the Hilbert curve, without a device or a host that holds all
 * keys.
 *
 *   devices    rows sorted by key -> one sorted run per rank
 *   ranks      n-th elements of all runs: the runs' parts that belong to each rank
 *   exchange   each rank receives sorted parts of all runs -> merged: places of its rows
 *
 * A stable sort of all rows gives the same order: among equal keys the lower row comes first, and
 * ranks and their devices have ascending ranges of rows.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/parallel_for.h"

/* ---- Merge. ---------------------------------------------------------------------------------- */

enum { PIECES = 64, MERGE_SAMPLES = 4 * PIECES }; /* PIECES are merged concurrently */

struct merge {
    const uint64_t *hi, *lo; /* words of the keys of all runs; lo NULL: one word */
    size_t runs;
    size_t *begin;  /* [runs + 1]: where each run begins */
    size_t *bound;  /* [PIECES + 1][runs]: where a piece begins in each run */
    size_t *at;     /* [PIECES][runs]: next entry of each run */
    cl_uint *place; /* receives the place of each entry; NULL: `to` receives the entries */
    const struct sorted_rows *from;
    struct sorted_rows *to;
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

/* Fill sample[] with entries from all runs at equal distances, sorted by key. */
static void merge_sample(const struct merge *m, size_t *sample)
{
    const size_t n = m->begin[m->runs];
    for (size_t k = 0; k < MERGE_SAMPLES; k++) {
        const size_t entry = k * n / MERGE_SAMPLES;
        size_t to = k;
        for (; to > 0 && merge_key_precedes(m, entry, sample[to - 1]); to--)
            sample[to] = sample[to - 1];
        sample[to] = entry;
    }
}

/* Divide the runs into pieces: the keys of a piece precede the keys of the next piece. Samples from
 * all runs keep the pieces equal where the runs have different keys, such as domains. */
static void merge_divide(struct merge *m)
{
    const size_t *const begin = m->begin;
    size_t sample[MERGE_SAMPLES];
    if (begin[m->runs] > 0)
        merge_sample(m, sample);
    for (size_t k = 0; k <= PIECES; k++)
        for (size_t r = 0; r < m->runs; r++)
            m->bound[k * m->runs + r] = k == 0 ? begin[r]
                                        : k == PIECES
                                            ? begin[r + 1]
                                            : merge_lower_bound(m, begin[r], begin[r + 1],
                                                                sample[k * MERGE_SAMPLES / PIECES]);
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

static void merge_copy_row(const struct merge *m, size_t from, size_t to)
{
    m->to->row[to] = m->from->row[from];
    for (cl_uint w = 0; w < m->to->words; w++)
        m->to->keys[w * m->to->n + to] = m->from->keys[w * m->from->n + from];
}

static void merge_piece(void *merge, size_t k)
{
    const struct merge *m = merge;
    size_t *at = m->at + k * m->runs, to = 0, r;
    for (r = 0; r < m->runs; r++)
        to += at[r] - m->begin[r];
    for (; (r = merge_next_run(m, at, m->bound + (k + 1) * m->runs)) < m->runs; at[r]++, to++)
        if (m->place)
            m->place[at[r]] = (cl_uint)to;
        else
            merge_copy_row(m, at[r], to);
}

static int row_order_no_memory(size_t n)
{
    return clerror_set(ENOMEM, "nbody: out of memory on the host to sort %zu bodies", n);
}

/* Merge runs of rows. place[] receives the place of each entry; if it is NULL, `to` receives the
 * entries. */
static int merge_runs(const struct sorted_rows *s, size_t runs, const size_t *begin, cl_uint *place,
                      struct sorted_rows *to)
{
    struct merge m = {.hi = s->keys,
                      .lo = s->words > 1 ? s->keys + s->n : NULL,
                      .place = place,
                      .from = s,
                      .to = to};
    m.begin = malloc((runs + 1 + (2 * PIECES + 1) * runs) * sizeof *m.begin);
    if (!m.begin)
        return row_order_no_memory(s->n);
    m.begin[0] = 0;
    for (size_t r = 0; r < runs; r++) /* but for empty runs */
        if (begin[r + 1] > begin[r])
            m.begin[++m.runs] = begin[r + 1];
    m.bound = m.begin + runs + 1;
    m.at = m.bound + (PIECES + 1) * runs;
    merge_divide(&m);
    parallel_for(PIECES, merge_piece, &m);
    free(m.begin);
    return 0;
}

/* ---- Parts of the ranks. --------------------------------------------------------------------- */

/* The keys of all ranks' rows, with the row as their lowest word, are different. The first key of
 * each rank after the sort is found digit by digit: every rank counts its own rows below each
 * candidate, and the ranks add the counts. */
enum { WORDS = 3, DIGIT_BITS = 4, DIGITS = (1 << DIGIT_BITS) - 1 };

/* True if row k of a run precedes a key. */
static bool row_precedes(const struct nbody *nb, const struct sorted_rows *s, size_t k,
                         const uint64_t key[WORDS])
{
    for (cl_uint w = 0; w < s->words; w++)
        if (s->keys[w * s->n + k] != key[w])
            return s->keys[w * s->n + k] < key[w];
    return nbody_ranks_own_first(nb) + s->row[k] < key[s->words];
}

/* Number of this rank's rows that precede a key. */
static size_t rows_below(const struct nbody *nb, const struct sorted_rows *s,
                         const uint64_t key[WORDS])
{
    size_t from = 0, end = s->n;
    while (from < end) {
        const size_t middle = from + (end - from) / 2;
        if (row_precedes(nb, s, middle, key))
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* Find the digit from bit `shift` on in word w of each rank's first key: the largest one below
 * which there are no more rows than the rank's first row. */
static int row_order_find_digit(const struct nbody *nb, const struct sorted_rows *s, cl_uint w,
                                int shift, uint64_t (*key)[WORDS], uint64_t (*below)[DIGITS])
{
    const int ranks = world_size(nb->world);
    for (int k = 0; k < ranks; k++)
        for (size_t digit = 1; digit <= DIGITS; digit++) {
            uint64_t at[WORDS];
            memcpy(at, key[k], sizeof at);
            at[w] |= digit << shift;
            below[k][digit - 1] = rows_below(nb, s, at);
        }
    if (world_add(nb->world, below[0], (size_t)ranks * DIGITS) != 0)
        return -1;
    for (int k = 0; k < ranks; k++) {
        uint64_t digit = 0;
        while (digit < DIGITS && below[k][digit] <= nb->domain.first_row[k])
            digit++;
        key[k][w] |= digit << shift;
    }
    return 0;
}

/* Collective. Find the first of this rank's sorted rows that goes to each rank. */
static int row_order_find_parts(const struct nbody *nb, const struct sorted_rows *s, size_t *begin)
{
    const size_t ranks = (size_t)world_size(nb->world);
    begin[0] = 0;
    uint64_t(*key)[WORDS] = calloc(ranks, sizeof *key);
    uint64_t(*below)[DIGITS] = malloc(ranks * sizeof *below);
    int status = world_reduce_status(nb->world, key && below ? 0 : row_order_no_memory(s->n));
    for (cl_uint w = 0; w <= s->words; w++)
        for (int shift = w < s->words ? 64 : 32; status == 0 && shift > 0;)
            status = row_order_find_digit(nb, s, w, shift -= DIGIT_BITS, key, below);
    for (size_t k = 1; status == 0 && k < ranks; k++) {
        begin[k] = rows_below(nb, s, key[k]);
        begin[k] = begin[k] > begin[k - 1] ? begin[k] : begin[k - 1];
    }
    free(key);
    free(below);
    return status;
}

/* Collective. Replace this rank's sorted keys by those that it receives. */
static int exchange_keys(const struct nbody *nb, struct sorted_rows *s, const struct route *route)
{
    const size_t n = route->came[world_size(nb->world)];
    uint64_t *const keys = malloc((s->words * n + 1) * sizeof *keys);
    int status = world_reduce_status(nb->world, keys ? 0 : row_order_no_memory(n));
    for (cl_uint w = 0; status == 0 && w < s->words; w++)
        status = nbody_route_move(nb, route, sizeof *keys, s->keys + w * s->n, keys + w * n);
    free(s->keys);
    s->keys = keys;
    s->n = n;
    return status;
}

/* Collective. EIO if a rank would not receive its number of rows: a device sorted wrongly. */
static int check_received(const struct nbody *nb, const struct route *route)
{
    const size_t came = route->came[world_size(nb->world)], rows = nbody_ranks_own_rows(nb);
    return world_reduce_status(
        nb->world, came == rows
                       ? 0
                       : clerror_set(EIO,
                                     "nbody: a device sorted the bodies wrongly: a rank would get "
                                     "%zu bodies instead of %zu; the driver may be defective",
                                     came, rows));
}

int nbody_domain_merge_rows(struct nbody *nb, struct sorted_rows *s, struct route *route)
{
    const size_t ranks = (size_t)world_size(nb->world);
    int status = world_reduce_status(nb->world, nbody_route_open(nb, route, s->n));
    if (status == 0 && ranks > 1) {
        if (row_order_find_parts(nb, s, route->begin) != 0 ||
            nbody_route_exchange_counts(nb, route) != 0 || check_received(nb, route) != 0 ||
            exchange_keys(nb, s, route) != 0)
            status = -1;
        if (status == 0) {
            route->place = route->memory[1] = malloc((s->n + 1) * sizeof *route->place);
            status = route->place ? merge_runs(s, ranks, route->came, route->memory[1], NULL)
                                  : row_order_no_memory(s->n);
            status = world_reduce_status(nb->world, status);
        }
    }
    free(s->keys);
    route->order = route->memory[0] = s->row;
    return status;
}

/* ---- Rows of the devices. -------------------------------------------------------------------- */

static int allocate_sorted_rows(struct sorted_rows *s)
{
    s->row = malloc((s->n + 1) * sizeof *s->row);
    s->keys = malloc((s->words * s->n + 1) * sizeof *s->keys);
    return s->row && s->keys ? 0 : row_order_no_memory(s->n);
}

static void free_sorted_rows(struct sorted_rows *s)
{
    free(s->row);
    free(s->keys);
}

/* Merge the runs of this rank's devices into one. */
static int merge_devices(const struct nbody *nb, struct sorted_rows *s)
{
    const size_t runs = nb->domain.tree->owned;
    if (runs < 2)
        return 0;
    struct sorted_rows to = {.n = s->n, .words = world_size(nb->world) > 1 ? s->words : 0};
    size_t run = 0, *const begin = calloc(runs + 1, sizeof *begin);
    int status = begin ? allocate_sorted_rows(&to) : row_order_no_memory(s->n);
    EACH_TREE(nb, p)
    if (status == 0) {
        begin[run + 1] = begin[run] + p->count;
        run++;
    }
    if (status == 0)
        status = merge_runs(s, runs, begin, NULL, &to);
    free_sorted_rows(status == 0 ? s : &to);
    *s = status == 0 ? to : *s;
    free(begin);
    return status;
}

static int sort_own(struct nbody *nb, struct nbody_device *p)
{
    return nbody_hilbert_sort_own(nb, p, nb->domain.tree->sorted);
}

int nbody_domain_sort_rows(struct nbody *nb, struct route *route)
{
    struct sorted_rows s = {.n = nbody_ranks_own_rows(nb), .words = nb->domain.key_words};
    *route = (struct route){.begin = NULL};
    int status = world_reduce_status(nb->world, allocate_sorted_rows(&s));
    if (status == 0)
        status = nbody_domain_find_cube(nb);
    EACH_TREE(nb, p)
    if (status == 0)
        status = nbody_device_wait(nb, p); /* the threads then count no work as done */
    nb->domain.tree->sorted = &s;
    if (status == 0)
        status = nbody_device_threads_all(nb, sort_own);
    nb->domain.tree->sorted = NULL;
    if (status == 0)
        status = merge_devices(nb, &s);
    if (world_reduce_status(nb->world, status) == 0)
        return nbody_domain_merge_rows(nb, &s, route);
    free_sorted_rows(&s);
    return -1;
}
