/* large_rows.h - Larger than Life in plain C: loops over rows of counts (large_field.c).
 *
 * Included once for each pair of types: T of a count, and S of its summands in a square, which may
 * be narrower. NAME(x) is the name of a function for the pair. Counts are modulo 2^8, 2^16 or 2^32,
 * whichever is more than the span of the rule's counts, so they may pass through values outside of
 * it. PLUS(a, b) adds up summands; it may also saturate (large_saturates).
 *
 * Loops have whole blocks of LARGE_BLOCK cells, without a remainder that vectors do not divide.
 * SPDX-License-Identifier: MIT
 */

/* Add the entering row to the sums of columns, and subtract the leaving one. */
LIFE_VECTORS static void NAME(add_rows)(S *restrict sum, const unsigned char *restrict in,
                                        const unsigned char *restrict out, size_t n)
{
    for (size_t b = 0; b < n; b += LARGE_BLOCK)
        for (size_t x = b; x < b + LARGE_BLOCK; x++)
            sum[x] = (S)(sum[x] + in[x] - out[x]);
}

/* to[x] = from[x] + from[x + step] */
LIFE_VECTORS static void NAME(double_sums)(S *restrict to, const S *restrict from, size_t step,
                                           size_t n)
{
    for (size_t b = 0; b < n; b += LARGE_BLOCK)
        for (size_t x = b; x < b + LARGE_BLOCK; x++)
            to[x] = (S)(from[x] + from[x + step]);
}

LIFE_VECTORS static void NAME(add_term)(T *restrict count, const S *restrict term, size_t n)
{
    for (size_t b = 0; b < n; b += LARGE_BLOCK)
        for (size_t x = b; x < b + LARGE_BLOCK; x++)
            count[x] = (T)(count[x] + term[x]);
}

/* The sum of `window` entries of `from` from x on is the sum of term[i][x] over the returned number
 * of terms: sums of 1, 2, 4 ... entries, in the arrays spare[0], spare[1] ... `from` has
 * n + window - 1 entries. */
static unsigned NAME(slide)(const S *from, S *const spare[], size_t window, size_t n,
                            const S *term[LARGE_TERMS])
{
    unsigned terms = 0;
    size_t done = 0, step = 1;
    for (; 2 * step <= window; step *= 2) {
        if (window & step) {
            term[terms++] = from + done;
            done += step;
        }
        if (4 * step > window)
            break;
        NAME(double_sums)(*spare, from, step, n + window - 2 * step);
        from = *spare++;
    }
    term[terms++] = from + done; /* of the greatest power of two the two halves */
    term[terms++] = from + done + step;
    return terms;
}

/* Prefix sums: sum[x] of the first x values of a row of n. Only first ... end - 1, whole blocks,
 * are nonzero. */
static void NAME(prefix)(T *restrict sum, const unsigned char *restrict value, size_t first,
                         size_t end, size_t n)
{
    T all = 0;
    memset(sum, 0, first * sizeof *sum);
    for (size_t x = first; x < end; x += 8) {
        unsigned char before[8];
        const unsigned eight = large_prefix_eight(value + x, before);
        for (unsigned k = 0; k < 8; k++)
            sum[x + k] = (T)(all + before[k]);
        all = (T)(all + eight);
    }
    for (size_t x = end; x <= n; x++)
        sum[x] = all;
}

/* Add the sums of a run that begins at first[x] and ends before end[x]. */
LIFE_VECTORS static void NAME(add_run)(T *restrict count, const T *first, const T *end, T weight,
                                       size_t n)
{
    for (size_t b = 0; b < n; b += LARGE_BLOCK)
        for (size_t x = b; x < b + LARGE_BLOCK; x++)
            count[x] = (T)(count[x] + (unsigned)weight * (unsigned)(end[x] - first[x]));
}

/* Add the sums of two runs of weight 1. */
LIFE_VECTORS static void NAME(add_two_runs)(T *restrict count, const T *const first[2],
                                            const T *const end[2], size_t n)
{
    const T *const first0 = first[0], *const first1 = first[1], *const end0 = end[0],
                   *const end1 = end[1];
    for (size_t b = 0; b < n; b += LARGE_BLOCK)
        for (size_t x = b; x < b + LARGE_BLOCK; x++)
            count[x] = (T)(count[x] + end0[x] - first0[x] + end1[x] - first1[x]);
}

/* Take odd[x] at every second x from `from` on. */
static void NAME(take_odd)(T *restrict count, const T *restrict odd, size_t from, size_t n)
{
    for (size_t x = from; x < n; x += 2)
        count[x] = odd[x];
}

/* ---- Next states. ---------------------------------------------------------------------------- */

/* is[x] = 1 if the counts of a rule include count[x], else 0. */
LIFE_VECTORS static void NAME(within)(unsigned char *restrict is, const T *restrict count, T least,
                                      T width, size_t n)
{
    for (size_t b = 0; b < n; b += LARGE_BLOCK)
        for (size_t x = b; x < b + LARGE_BLOCK; x++)
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

/* count[x] of a cell from the sum of a row's terms: without the middle, or inverted. */
LIFE_VECTORS static void NAME(finish_counts)(T *count, const unsigned char *value,
                                             const struct large_decision *d, size_t n)
{
    const T flip = (T)d->flip, plus = (T)d->plus;
    const unsigned char middle = d->middle;
    for (size_t b = 0; b < n; b += LARGE_BLOCK)
        for (size_t x = b; x < b + LARGE_BLOCK; x++)
            count[x] = (T)(((count[x] - (value[x] & middle)) ^ flip) + plus);
}

/* Compute next states of n cells from the sums of `terms` arrays, 4 or 6, or from count[] if
 * `terms` is 0. The rule has at most one interval each of births and survivals; `more`: more than
 * two states. */
static inline __attribute__((always_inline)) void NAME(decide)(const struct large_decision *d,
                                                               const S *const term[],
                                                               const T *const count, int terms,
                                                               bool more,
                                                               const struct large_part *p)
{
    const S *const t0 = term[0], *const t1 = term[1], *const t2 = term[2], *const t3 = term[3],
                   *const t4 = term[4], *const t5 = term[5];
    const T flip = (T)d->flip, plus = (T)d->plus, birth = (T)d->birth.least,
            births = (T)d->birth.most, stay = (T)(d->birth.least ^ d->stay.least),
            stays = (T)(d->birth.most ^ d->stay.most);
    const unsigned char middle = d->middle, inverted = d->inverted, next = d->next_inverted,
                        last = d->last;
    const unsigned char *const value = p->value, *const from = p->from;
    unsigned char *const to = p->to, *const to_value = p->to_value;
    const size_t n = p->n;
    for (size_t b = 0; b < n; b += LARGE_BLOCK)
        LARGE_INDEPENDENT for (size_t x = b; x < b + LARGE_BLOCK; x++)
        {
            T c = terms ? PLUS(PLUS(t0[x], t1[x]), PLUS(t2[x], t3[x])) : count[x];
            if (terms > 4)
                c = PLUS(c, PLUS(t4[x], t5[x]));
            c = (T)(((c - (value[x] & middle)) ^ flip) + plus);
            const unsigned char state = from[x] ^ inverted, alive = state == 1;
            const T live = (T) - (T)alive, least = (T)(birth ^ (live & stay)),
                    width = (T)(births ^ (live & stays)), above = (T)(c - least);
            const unsigned char is = above <= width;
            if (more) {
                const unsigned char grown = (unsigned char)(state + 1), ends = state != last,
                                    older = grown & (unsigned char)-ends, dies = state > 1,
                                    dying = (unsigned char)-dies, no = is ^ 1, tired = alive & no,
                                    young = (unsigned char)(is + tired + tired),
                                    new = (older & dying) | (young & (unsigned char)~dying);
                to[x] = new;
                to_value[x] = new == 1;
            } else {
                to[x] = is ^ next;
            }
        }
}

#define DECIDE(name, terms, more)                                                                  \
    LIFE_VECTORS static void NAME(name)(const struct large_decision *d, const S *const term[],     \
                                        const T *count, const struct large_part *p)                \
    {                                                                                              \
        NAME(decide)(d, term, count, terms, more, p);                                              \
    }
DECIDE(decide_count, 0, false)
DECIDE(decide_4, 4, false)
DECIDE(decide_6, 6, false)
DECIDE(decide_count_more, 0, true)
DECIDE(decide_4_more, 4, true)
DECIDE(decide_6_more, 6, true)
#undef DECIDE

/* Compute next states of n cells from their counts, under any rule. */
static void NAME(decide_lists)(const struct large_field *f, struct large_work *w, T *count,
                               const struct large_part *p)
{
    NAME(finish_counts)(count, p->value, &f->decision, p->n);
    NAME(listed)(&f->rule.birth, count, w->born, p->n);
    NAME(listed)(&f->rule.survival, count, w->stays, p->n);
    if (f->rule.states == 2)
        next_of_two(&f->decision, w->born, w->stays, p->from, p->to, p->n);
    else
        next_of_more(&f->decision, w->born, w->stays, p);
}

/* Compute next states of a part from the sums of `terms` arrays, or from w->count if it is 0. */
static void NAME(decide_row)(const struct large_field *f, struct large_work *w,
                             const S *term[LARGE_TERMS], unsigned terms, const struct large_part *p)
{
    const bool more = f->rule.states > 2;
    if (terms > 6 || (terms && !f->simple)) {
        memset(w->count, 0, p->n * sizeof(T));
        while (terms)
            NAME(add_term)(w->count, term[--terms], p->n);
    }
    const unsigned sums = !terms ? 0 : terms > 4 ? 6 : 4;
    for (unsigned i = terms; i < 6; i++)
        term[i] = w->zeros;
    if (!f->simple)
        NAME(decide_lists)(f, w, w->count, p);
    else if (!sums)
        (more ? NAME(decide_count_more) : NAME(decide_count))(&f->decision, term, w->count, p);
    else if (sums == 4)
        (more ? NAME(decide_4_more) : NAME(decide_4))(&f->decision, term, NULL, p);
    else
        (more ? NAME(decide_6_more) : NAME(decide_6))(&f->decision, term, NULL, p);
}

/* ---- Rows. ----------------------------------------------------------------------------------- */

/* Sums of columns: row `enter` enters, and row `leave`, unless it is `enter`, leaves. */
static void NAME(advance_sums)(const struct large_field *f, struct large_work *w, long enter,
                               long leave)
{
    const struct large_row in = large_row_at(f, enter),
                           out = leave < enter ? large_row_at(f, leave) : large_no_row(f);
    const struct large_extent e = large_extent_join(in.extent, out.extent);
    const size_t first = f->torus ? 0 : f->margin + e.first,
                 n = f->torus ? f->stride : e.end - e.first;
    if (e.first < e.end)
        NAME(add_rows)((S *)w->sums + first, in.value + first, out.value + first, n);
}

/* Compute the part of a row from its square neighbourhoods. */
static void NAME(square_row)(const struct large_field *f, struct large_work *w,
                             const struct large_part *p)
{
    const S *term[LARGE_TERMS];
    const size_t at = f->margin + p->first - f->columns;
    const unsigned terms =
        NAME(slide)((const S *)w->sums + at, (S *const *)w->spare, 2 * f->reach + 1, p->n, term);
    NAME(decide_row)(f, w, term, terms, p);
}

/* Prefix sums of row y, in entry y modulo 2 reach + 1 of `sums`. */
static void NAME(enter_row)(const struct large_field *f, struct large_work *w, long y)
{
    const long rows = 2 * (long)f->reach + 1;
    const size_t at = (size_t)(y % rows + rows) % (size_t)rows;
    const struct large_row row = large_row_at(f, y);
    const bool lives = row.extent.first < row.extent.end;
    w->row_lives[at] = lives;
    if (lives)
        NAME(prefix)
    ((T *)w->sums + at * w->stride, row.value, f->torus ? 0 : f->margin + row.extent.first,
     f->torus ? f->stride : f->margin + row.extent.end, f->stride);
}

/* Add up a list of runs into count[]; runs of weight 1 in pairs. */
static void NAME(count_runs)(const struct large_field *f, const struct large_work *w,
                             const struct large_run *run, size_t runs, long y,
                             const struct large_part *p, T *count)
{
    const long rows = 2 * (long)f->reach + 1, own = (y % rows + rows) % rows;
    const T *first[2], *end[2];
    unsigned pending = 0;
    memset(count, 0, p->n * sizeof *count);
    for (size_t i = 0; i < runs; i++) {
        const long to = own + run[i].dy, at = to < 0 ? to + rows : to < rows ? to : to - rows;
        const T *sums = (const T *)w->sums + (size_t)at * w->stride + f->margin + p->first;
        if (!w->row_lives[at])
            continue;
        first[pending] = sums + run[i].first;
        end[pending] = sums + run[i].last + 1;
        if (run[i].weight != 1)
            NAME(add_run)(count, first[pending], end[pending], (T)run[i].weight, p->n);
        else if (pending)
            NAME(add_two_runs)(count, first, end, p->n);
        pending = run[i].weight != 1 ? pending : !pending;
    }
    if (pending)
        NAME(add_run)(count, first[0], end[0], 1, p->n);
}

static void NAME(runs_row)(const struct large_field *f, struct large_work *w, long y,
                           const struct large_part *p)
{
    const S *term[LARGE_TERMS];
    NAME(count_runs)(f, w, f->run, f->runs, y, p, w->count);
    if (f->odd_runs) {
        NAME(count_runs)(f, w, f->run + f->runs, f->odd_runs, y, p, w->spare[0]);
        NAME(take_odd)(w->count, w->spare[0], !((p->first + (size_t)y + f->parity) & 1), p->n);
    }
    NAME(decide_row)(f, w, term, 0, p);
}

/* Compute rows first ... end - 1. */
static void NAME(rows)(const struct large_field *f, struct large_work *w, size_t first, size_t end)
{
    const long from = (long)first, reach = (long)f->reach;
    if (!f->run)
        memset(w->sums, 0, w->stride * sizeof(S));
    for (long y = from - reach; y < from + reach; y++)
        if (f->run)
            NAME(enter_row)(f, w, y);
        else
            NAME(advance_sums)(f, w, y, y);
    for (long y = from; y < (long)end; y++) {
        if (f->run)
            NAME(enter_row)(f, w, y + reach);
        else
            NAME(advance_sums)(f, w, y + reach, y > from ? y - reach - 1 : y + reach);
        const struct large_part p = large_row_begin(f, (size_t)y);
        if (p.n && f->run)
            NAME(runs_row)(f, w, y, &p);
        else if (p.n)
            NAME(square_row)(f, w, &p);
        large_row_end(f, (size_t)y, &p);
    }
}

#undef NAME
#undef PLUS
#undef T
#undef S
