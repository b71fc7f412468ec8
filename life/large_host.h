/* large_host.h - Larger than Life in plain C: loops over rows of counts (large_host.c).
 *
 * Included once for each type T of a count, with NAME(x) as the name of a function for T. Counts
 * are modulo 2^8, 2^16 or 2^32, whichever is more than the span of the rule's counts, so they may
 * pass through values outside of it.
 * SPDX-License-Identifier: MIT
 */

/* Add the entering row to the sums of columns, and subtract the leaving one. */
LIFE_VECTORS static void NAME(add_rows)(T *restrict sum, const unsigned char *restrict in,
                                        const unsigned char *restrict out, size_t n)
{
    for (size_t x = 0; x < n; x++)
        sum[x] = (T)(sum[x] + in[x] - out[x]);
}

/* to[x] = from[x] + from[x + step] */
LIFE_VECTORS static void NAME(double_sums)(T *restrict to, const T *restrict from, size_t step,
                                           size_t n)
{
    for (size_t x = 0; x < n; x++)
        to[x] = (T)(from[x] + from[x + step]);
}

LIFE_VECTORS static void NAME(add_sums)(T *restrict to, const T *restrict from, size_t n)
{
    for (size_t x = 0; x < n; x++)
        to[x] = (T)(to[x] + from[x]);
}

/* count[x] = sum of `window` entries of `from` from x on, for n values of x. `window` is odd;
 * `from` and both spare arrays have n + window - 1 entries. The spare arrays hold sums of 2, 4, 8
 * ... entries. */
static void NAME(slide)(T *count, const T *from, T *const spare[2], size_t window, size_t n)
{
    size_t done = 1;
    memcpy(count, from, n * sizeof *count);
    for (size_t step = 2, i = 0; step <= window; step *= 2, i ^= 1) {
        NAME(double_sums)(spare[i], from, step / 2, n + window - step);
        from = spare[i];
        if (!(window & step))
            continue;
        NAME(add_sums)(count, from + done, n);
        done += step;
    }
}

/* Prefix sums: sum[x] of the first x values. Return true if one of the values is not 0. */
static bool NAME(prefix)(T *restrict sum, const unsigned char *restrict value, size_t n)
{
    T all = 0;
    unsigned any = 0;
    for (size_t x = 0; x < n; x++) {
        sum[x] = all;
        all = (T)(all + value[x]);
        any |= value[x];
    }
    sum[n] = all;
    return any;
}

/* Add the sums of a run, which begins at first[x] and ends before end[x]. */
LIFE_VECTORS static void NAME(add_run)(T *restrict count, const T *first, const T *end, T weight,
                                       size_t n)
{
    for (size_t x = 0; x < n; x++)
        count[x] = (T)(count[x] + (unsigned)weight * (unsigned)(end[x] - first[x]));
}

/* Take odd[x] at every second x from `from` on. */
static void NAME(take_odd)(T *restrict count, const T *restrict odd, size_t from, size_t n)
{
    for (size_t x = from; x < n; x += 2)
        count[x] = odd[x];
}

LIFE_VECTORS static void NAME(leave_middle)(T *restrict count, const unsigned char *restrict value,
                                            size_t n)
{
    for (size_t x = 0; x < n; x++)
        count[x] = (T)(count[x] - value[x]);
}

LIFE_VECTORS static void NAME(invert)(T *restrict count, T total, size_t n)
{
    for (size_t x = 0; x < n; x++)
        count[x] = (T)(total - count[x]);
}

/* is[x] = 1 if the counts of a rule include count[x], else 0. */
LIFE_VECTORS static void NAME(within)(unsigned char *restrict is, const T *restrict count, T least,
                                      T width, size_t n)
{
    for (size_t x = 0; x < n; x++)
        is[x] |= (T)(count[x] - least) <= width;
}

static void NAME(listed)(const struct large_counts *counts, const T *count, unsigned char *is,
                         size_t n)
{
    memset(is, 0, n);
    for (unsigned i = 0; i < counts->n; i++)
        NAME(within)
    (is, count, (T)counts->of[i].least, (T)(counts->of[i].most - counts->of[i].least), n);
}

/* ---- A generation. --------------------------------------------------------------------------- */

/* Count the neighbours in a square of the cells in row y. Sums of columns, large_host.sums, are of
 * the rows around row y - 1. */
static void NAME(count_square)(struct large_host *h, const struct large_area *a, long y)
{
    const size_t n = a->width + 2 * h->columns, reach = h->reach;
    T *sum = h->sums, *const spare[2] = {h->work[0], h->work[1]};
    large_values(h, a, y + (long)reach, h->value[0]);
    large_values(h, a, y - (long)reach - 1, h->value[1]);
    NAME(add_rows)(sum, h->value[0], h->value[1], n);
    NAME(slide)(h->count, sum, spare, 2 * reach + 1, a->width);
    if (!h->rule.middle) {
        large_values(h, a, y, h->value[0]);
        NAME(leave_middle)(h->count, h->value[0] + h->columns, a->width);
    }
}

/* Add up a list of runs. The prefix sums of row y are in entry y modulo 2 reach + 1 of h->sums. */
static void NAME(count_runs)(const struct large_host *h, const struct large_run *run, size_t runs,
                             long y, T *count, size_t n)
{
    const long rows = 2 * (long)h->reach + 1;
    memset(count, 0, n * sizeof *count);
    for (size_t i = 0; i < runs; i++) {
        const size_t at = (size_t)((y + run[i].dy) % rows + rows) % (size_t)rows;
        const T *sums = (const T *)h->sums + at * h->stride + h->columns;
        if (h->row_lives[at])
            NAME(add_run)(count, sums + run[i].first, sums + run[i].last + 1, (T)run[i].weight, n);
    }
}

static void NAME(enter_row)(struct large_host *h, const struct large_area *a, long y)
{
    const long rows = 2 * (long)h->reach + 1;
    const size_t at = (size_t)(y % rows + rows) % (size_t)rows;
    large_values(h, a, y, h->value[0]);
    h->row_lives[at] =
        NAME(prefix)((T *)h->sums + at * h->stride, h->value[0], a->width + 2 * h->columns);
}

static void NAME(count_lists)(struct large_host *h, const struct large_area *a, long y)
{
    NAME(enter_row)(h, a, y + (long)h->reach);
    NAME(count_runs)(h, h->run, h->runs, y, h->count, a->width);
    if (!h->odd_runs)
        return;
    NAME(count_runs)(h, h->run + h->runs, h->odd_runs, y, h->work[0], a->width);
    NAME(take_odd)(h->count, h->work[0], !((a->x + (size_t)y) & 1), a->width);
}

/* Diagonal sums of row y, from entry 1 on: of a cell and all cells up to its left, or with `right`
 * up to its right. The entries before and after a row are 0. */
static T *NAME(diagonal)(const struct large_host *h, bool right, long y)
{
    const long rows = diamond_rows(h);
    const size_t at = (size_t)((y % rows + rows) % rows);
    return (T *)h->sums + (2 * at + right) * h->stride + 1;
}

LIFE_VECTORS static void NAME(add_diagonals)(T *restrict left, T *restrict right,
                                             const T *restrict left_above,
                                             const T *restrict right_above,
                                             const unsigned char *restrict value, size_t n)
{
    for (size_t x = 0; x < n; x++) {
        left[x] = (T)(value[x] + left_above[(ptrdiff_t)x - 1]);
        right[x] = (T)(value[x] + right_above[x + 1]);
    }
}

/* The lower edges of a diamond around row y enter, and the upper edges of the one around row y - 1
 * leave; a sum along an edge is the difference of two diagonal sums. */
LIFE_VECTORS static void NAME(add_edges)(T *restrict sum, const T *restrict enter,
                                         const T *restrict enter_left, const T *restrict left,
                                         const T *restrict right, const T *restrict left_top,
                                         const T *restrict right_top, size_t reach, size_t n)
{
    for (size_t x = 0; x < n; x++)
        sum[x] = (T)(sum[x] + enter[x + reach] - right[x + 2 * reach + 1] +
                     enter_left[x + reach - 1] - left[(ptrdiff_t)x - 1] - left[x + 2 * reach] +
                     left_top[x + reach - 1] - right[x] + right_top[x + reach]);
}

/* Advance the sums of diamonds, h->work[1], to row y. */
static void NAME(enter_diamond)(struct large_host *h, const struct large_area *a, long y)
{
    const long reach = (long)h->reach, last = y + reach;
    large_values(h, a, last, h->value[0]);
    NAME(add_diagonals)
    (NAME(diagonal)(h, false, last), NAME(diagonal)(h, true, last),
     NAME(diagonal)(h, false, last - 1), NAME(diagonal)(h, true, last - 1), h->value[0],
     a->width + 2 * h->columns);
    NAME(add_edges)
    (h->work[1], NAME(diagonal)(h, true, last), NAME(diagonal)(h, false, last - 1),
     NAME(diagonal)(h, false, y - 1), NAME(diagonal)(h, true, y - 1),
     NAME(diagonal)(h, false, y - 2 - reach), NAME(diagonal)(h, true, y - 1 - reach), h->reach,
     a->width);
}

static void NAME(count_diamond)(struct large_host *h, const struct large_area *a, long y)
{
    NAME(enter_diamond)(h, a, y);
    memcpy(h->count, h->work[1], a->width * sizeof(T));
    if (!h->rule.middle) {
        large_values(h, a, y, h->value[0]);
        NAME(leave_middle)(h->count, h->value[0] + h->columns, a->width);
    }
}

/* Sums before the first row of an area. */
static void NAME(begin)(struct large_host *h, const struct large_area *a)
{
    const long y = (long)a->y, reach = (long)h->reach;
    if (h->diamond) { /* as if the rows above the first diamond were empty */
        memset(h->sums, 0, 2 * (size_t)diamond_rows(h) * h->stride * sizeof(T));
        memset(h->work[1], 0, a->width * sizeof(T));
        for (long i = y - 2 * reach; i < y; i++)
            NAME(enter_diamond)(h, a, i);
        return;
    }
    if (h->run) {
        for (long i = y - reach; i < y + reach; i++)
            NAME(enter_row)(h, a, i);
        return;
    }
    const size_t n = a->width + 2 * h->columns;
    memset(h->sums, 0, n * sizeof(T));
    memset(h->value[1], 0, n);
    for (long i = y - reach - 1; i < y + reach; i++) {
        large_values(h, a, i, h->value[0]);
        NAME(add_rows)(h->sums, h->value[0], h->value[1], n);
    }
}

static void NAME(row)(struct large_host *h, const struct large_area *a, long y)
{
    if (h->diamond)
        NAME(count_diamond)(h, a, y);
    else if (h->run)
        NAME(count_lists)(h, a, y);
    else
        NAME(count_square)(h, a, y);
    if (a->inverted)
        NAME(invert)(h->count, (T)h->total, a->width);
    NAME(listed)(&h->rule.birth, h->count, h->born, a->width);
    NAME(listed)(&h->rule.survival, h->count, h->stays, a->width);
}

#undef NAME
#undef T
