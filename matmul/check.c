/* check.c - what a product may be: leading dimensions, sizes, overlap.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include <limits.h>

/* Kernels count rows, columns and depth in ints, up to one tile beyond the last. */
#define MOST ((size_t)INT_MAX - 65536)

/* An array of rows x cols as it is stored. */
struct disk_entry {
    const char *name;
    const void *x;
    size_t rows, cols, *ld;
};

static int check_stored(const char *call, size_t real, const struct disk_entry *s)
{
    if (s->rows == 0 || s->cols == 0)
        return 0;
    if (*s->ld == 0)
        *s->ld = s->cols;
    if (*s->ld < s->cols)
        return clerror_set(EINVAL,
                           "%s: the leading dimension of %s is %zu, but its rows have %zu elements",
                           call, s->name, *s->ld, s->cols);
    if (*s->ld > SIZE_MAX / real / s->rows)
        return clerror_set(EINVAL, "%s: %s, %zu rows of %zu elements, is larger than any memory",
                           call, s->name, s->rows, *s->ld);
    if (!s->x)
        return clerror_set(EINVAL, "%s: %s is NULL", call, s->name);
    return 0;
}

/* Bytes from the first to behind the last element. */
static size_t extent(const struct disk_entry *s, size_t real)
{
    return s->rows && s->cols ? ((s->rows - 1) * *s->ld + s->cols) * real : 0;
}

/* With equal leading dimensions, one may lie beside the other in the same rows, as the blocks of a
 * larger matrix do: whether the columns of some row meet. `gap` is from x to y, in bytes; so are
 * all lengths. */
static bool rows_meet(const struct disk_entry *x, const struct disk_entry *y, ptrdiff_t gap, size_t real)
{
    const ptrdiff_t stride = (ptrdiff_t)(*x->ld * real), wx = (ptrdiff_t)(x->cols * real),
                    wy = (ptrdiff_t)(y->cols * real);
    /* Row i of x and row j of y meet when (i - j) stride + wx > gap and (i - j) stride < gap +
     * wy. */
    ptrdiff_t t = (gap - wx) / stride - 2;
    const ptrdiff_t least = 1 - (ptrdiff_t)y->rows, most = (ptrdiff_t)x->rows - 1;
    for (t = t < least ? least : t; t <= most && t * stride < gap + wy; t++)
        if (t * stride + wx > gap)
            return true;
    return false;
}

static bool overlap(const struct disk_entry *x, const struct disk_entry *y, size_t real)
{
    const uintptr_t px = (uintptr_t)x->x, py = (uintptr_t)y->x;
    if (!extent(x, real) || !extent(y, real) || px + extent(x, real) <= py ||
        py + extent(y, real) <= px)
        return false;
    return *x->ld != *y->ld || rows_meet(x, y, (ptrdiff_t)(py - px), real);
}

int matmul_check(const char *call, size_t real, struct host_product *p)
{
    const bool ta = trans_a(p->trans), tb = trans_b(p->trans);
    const struct disk_entry a = {"A", p->a, ta ? p->k : p->m, ta ? p->m : p->k, &p->lda};
    const struct disk_entry b = {"B", p->b, tb ? p->n : p->k, tb ? p->k : p->n, &p->ldb};
    const struct disk_entry c = {"C", p->c, p->m, p->n, &p->ldc};
    if ((unsigned)p->trans > MATMUL_TT)
        return clerror_set(EINVAL,
                           "%s: there is no transposition %d; take MATMUL_NN, _NT, _TN or _TT",
                           call, (int)p->trans);
    if (p->m > MOST || p->n > MOST || p->k > MOST)
        return clerror_set(EINVAL, "%s: a product of %zu x %zu by %zu x %zu; sizes go up to %zu",
                           call, p->m, p->k, p->k, p->n, MOST);
    if (check_stored(call, real, &c) != 0)
        return -1;
    if (p->m == 0 || p->n == 0 || p->alpha == 0) /* A and B are not looked at */
        return 0;
    if (check_stored(call, real, &a) != 0 || check_stored(call, real, &b) != 0)
        return -1;
    if (p->c && (overlap(&a, &c, real) || overlap(&b, &c, real)))
        return clerror_set(EINVAL, "%s: C overlaps %s; give the result memory of its own", call,
                           overlap(&a, &c, real) ? "A" : "B");
    return 0;
}
