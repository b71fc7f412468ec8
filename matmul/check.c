/* check.c - checks of a product: leading dimensions, sizes, overlap of C with A or B.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include <limits.h>

/* Kernels count rows, columns and depth by int, up to one tile past the end. */
#define SIZE_LIMIT ((size_t)INT_MAX - 65536)

/* An array of rows x cols as stored. */
struct stored_matrix {
    const char *name;
    const void *x;
    size_t rows, cols, *ld;
};

static int check_stored(const char *call, size_t real, const struct stored_matrix *s)
{
    if (s->rows == 0 || s->cols == 0)
        return 0;
    if (*s->ld == 0)
        *s->ld = s->cols;
    if (*s->ld < s->cols)
        return clerror_set(EINVAL,
                           "%s: the leading dimension of %s is %zu, but its rows have %zu elements",
                           call, s->name, *s->ld, s->cols);
    size_t elements, bytes; /* multiplied: a division takes 20 cycles of a product of 300 */
    if (__builtin_mul_overflow(*s->ld, s->rows, &elements) ||
        __builtin_mul_overflow(elements, real, &bytes))
        return clerror_set(EINVAL, "%s: %s, %zu rows of %zu elements, is larger than any memory",
                           call, s->name, s->rows, *s->ld);
    if (!s->x)
        return clerror_set(EINVAL, "%s: %s is NULL", call, s->name);
    return 0;
}

/* Bytes from the first to the last element, gaps included. */
static size_t stored_bytes(const struct stored_matrix *s, size_t real)
{
    return s->rows && s->cols ? ((s->rows - 1) * *s->ld + s->cols) * real : 0;
}

/* True if the columns of some row of x and of y overlap. With equal leading dimensions, two blocks
 * of one larger matrix may lie side by side in the same rows. `gap` is y - x in bytes. */
static bool rows_overlap(const struct stored_matrix *x, const struct stored_matrix *y,
                         ptrdiff_t gap, size_t real)
{
    const ptrdiff_t stride = (ptrdiff_t)(*x->ld * real), wx = (ptrdiff_t)(x->cols * real),
                    wy = (ptrdiff_t)(y->cols * real);
    /* Row i of x overlaps row j of y if (i - j) stride + wx > gap and (i - j) stride < gap + wy. */
    ptrdiff_t t = (gap - wx) / stride - 2;
    const ptrdiff_t least = 1 - (ptrdiff_t)y->rows, most = (ptrdiff_t)x->rows - 1;
    for (t = t < least ? least : t; t <= most && t * stride < gap + wy; t++)
        if (t * stride + wx > gap)
            return true;
    return false;
}

static bool operands_overlap(const struct stored_matrix *x, const struct stored_matrix *y,
                             size_t real)
{
    const uintptr_t px = (uintptr_t)x->x, py = (uintptr_t)y->x;
    if (!stored_bytes(x, real) || !stored_bytes(y, real) || px + stored_bytes(x, real) <= py ||
        py + stored_bytes(y, real) <= px)
        return false;
    return *x->ld != *y->ld || rows_overlap(x, y, (ptrdiff_t)(py - px), real);
}

int matmul_check(const char *call, size_t real, struct host_product *p)
{
    const bool ta = is_trans_a(p->trans), tb = is_trans_b(p->trans);
    const struct stored_matrix a = {"A", p->a, ta ? p->k : p->m, ta ? p->m : p->k, &p->lda};
    const struct stored_matrix b = {"B", p->b, tb ? p->n : p->k, tb ? p->k : p->n, &p->ldb};
    const struct stored_matrix c = {"C", p->c, p->m, p->n, &p->ldc};
    if ((unsigned)p->trans > MATMUL_TT)
        return clerror_set(EINVAL,
                           "%s: transposition %d does not exist; use MATMUL_NN, _NT, _TN or _TT",
                           call, (int)p->trans);
    if (p->m > SIZE_LIMIT || p->n > SIZE_LIMIT || p->k > SIZE_LIMIT)
        return clerror_set(EINVAL,
                           "%s: %zu x %zu by %zu x %zu is too large; the maximum size is %zu", call,
                           p->m, p->k, p->k, p->n, SIZE_LIMIT);
    if (check_stored(call, real, &c) != 0)
        return -1;
    if (p->m == 0 || p->n == 0 || p->alpha == 0) /* A and B are not read */
        return 0;
    if (check_stored(call, real, &a) != 0 || check_stored(call, real, &b) != 0)
        return -1;
    if (p->c && (operands_overlap(&a, &c, real) || operands_overlap(&b, &c, real)))
        return clerror_set(EINVAL, "%s: C overlaps %s; give the result memory of its own", call,
                           operands_overlap(&a, &c, real) ? "A" : "B");
    return 0;
}
