/* partition.c - the partition of C among devices, and transfers between the host and a device.
 *
 * With several devices C is cut into a grid of blocks, one for each device. A device needs the rows
 * of op(A) and the columns of op(B) of its block and nothing else, so devices exchange no data.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/partition.h"

enum { CUT_GRAIN = 128 }; /* cuts of a large C are at multiples of it */

/* ---- Partition. ------------------------------------------------------------------------------ */

static double sum_weights(const struct matmul *mm, cl_uint from, cl_uint to)
{
    double sum = 0;
    for (cl_uint d = from; d < to; d++)
        sum += mm->device[d].weight;
    return sum;
}

double matmul_peak(CLCONTEXT *ctx, cl_uint dev, enum matmul_precision precision)
{
    return clpeak_flops(ctx, dev, precision == MATMUL_SINGLE ? CLPROF_SINGLE : CLPROF_TENSOR);
}

/* Position of a cut at the fraction `share` of a length; a multiple of CUT_GRAIN if the pieces are
 * long. */
static size_t cut_at(size_t length, double share, cl_uint pieces)
{
    const size_t at = (size_t)(share * (double)length + 0.5);
    const size_t rounded = (at + CUT_GRAIN / 2) / CUT_GRAIN * CUT_GRAIN;
    return share >= 1                                 ? length
           : length >= (size_t)4 * CUT_GRAIN * pieces ? min_size(rounded, length)
                                                      : min_size(at, length);
}

/* Rows of the grid for which all devices together hold the fewest elements of A and B. */
static cl_uint partition_rows(cl_uint ndev, size_t m, size_t n)
{
    cl_uint best = 1;
    double least = 0;
    for (cl_uint rows = 1; rows <= ndev; rows++) {
        const double sent = (double)(ndev / rows) * (double)m + (double)rows * (double)n;
        if (ndev % rows == 0 && (rows == 1 || sent < least)) {
            least = sent;
            best = rows;
        }
    }
    return best;
}

struct area matmul_area(const struct matmul *mm, cl_uint d, size_t m, size_t n)
{
    const cl_uint down = partition_rows(mm->ndev, m, n), across = mm->ndev / down,
                  first = d / across * across;
    const double all = sum_weights(mm, 0, mm->ndev), band = sum_weights(mm, first, first + across);
    struct area a;
    a.row = cut_at(m, sum_weights(mm, 0, first) / all, down);
    a.rows =
        cut_at(m, first + across == mm->ndev ? 1 : sum_weights(mm, 0, first + across) / all, down) -
        a.row;
    a.col = cut_at(n, sum_weights(mm, first, d) / band, across);
    a.cols = cut_at(n, d + 1 == first + across ? 1 : sum_weights(mm, first, d + 1) / band, across) -
             a.col;
    return a;
}

struct host_product matmul_subproduct(const struct matmul *mm, const struct host_product *p,
                                      struct area area)
{
    struct host_product x = *p;
    x.m = area.rows;
    x.n = area.cols;
    x.a = (const char *)p->a + element_offset(is_trans_a(p->trans), p->lda, area.row, 0) * mm->real;
    x.b = (const char *)p->b + element_offset(is_trans_b(p->trans), p->ldb, 0, area.col) * mm->real;
    x.c = p->c ? (char *)p->c + (area.row * p->ldc + area.col) * mm->real : NULL;
    return x;
}

/* ---- Host arrays in place. ------------------------------------------------------------------- */

static int wrap_array(struct matmul *mm, const struct matmul_device *p, const void *x, size_t rows,
                      size_t cols, size_t ld, cl_mem_flags access, struct operand *o)
{
    union {
        const void *in;
        void *out;
    } host = {x};
    cl_int err;
    *o = (struct operand){.ld = ld, .skew = (uintptr_t)x % 64};
    o->buffer = clCreateBuffer(clgetclcontext(mm->ctx, p->dev), access | CL_MEM_USE_HOST_PTR,
                               ((rows - 1) * ld + cols) * mm->real, host.out, &err);
    if (o->buffer)
        return 0;
    return clerror_set(ENOMEM, "matmul: %s cannot use %zu bytes of the host's memory (%s)",
                       p->info.dev_name, ((rows - 1) * ld + cols) * mm->real, oclerror_str(err));
}

/* Bytes from the first to the last of rows x cols elements. */
static double array_span(const struct matmul *mm, size_t rows, size_t cols, size_t ld)
{
    return ((double)(rows - 1) * (double)ld + (double)cols) * (double)mm->real;
}

bool matmul_fits_in_place(const struct matmul *mm, const struct matmul_device *p,
                          const struct host_product *h)
{
    const bool ta = is_trans_a(h->trans), tb = is_trans_b(h->trans);
    const double most = (double)p->info.dev_max_mem_alloc_sz;
    return p->in_place && array_span(mm, ta ? h->k : h->m, ta ? h->m : h->k, h->lda) <= most &&
           array_span(mm, tb ? h->n : h->k, tb ? h->k : h->n, h->ldb) <= most &&
           (!h->c || array_span(mm, h->m, h->n, h->ldc) <= most);
}

int matmul_wrap_host(struct matmul *mm, const struct matmul_device *p, const struct host_product *h,
                     struct product *x)
{
    const bool ta = is_trans_a(h->trans), tb = is_trans_b(h->trans);
    *x = (struct product){.trans_a = ta,
                          .trans_b = tb,
                          .m = h->m,
                          .n = h->n,
                          .k = h->k,
                          .alpha = h->alpha,
                          .beta = h->beta};
    if (h->k > 0 && h->alpha != 0 &&
        (wrap_array(mm, p, h->a, ta ? h->k : h->m, ta ? h->m : h->k, h->lda, CL_MEM_READ_ONLY,
                    &x->a) != 0 ||
         wrap_array(mm, p, h->b, tb ? h->n : h->k, tb ? h->k : h->n, h->ldb, CL_MEM_READ_ONLY,
                    &x->b) != 0))
        return -1;
    return h->c ? wrap_array(mm, p, h->c, h->m, h->n, h->ldc, CL_MEM_READ_WRITE, &x->c) : 0;
}

void matmul_release_operand(struct operand *o)
{
    if (o->buffer)
        clReleaseMemObject(o->buffer);
    o->buffer = NULL;
}

void matmul_unwrap_host(struct product *x)
{
    matmul_release_operand(&x->a);
    matmul_release_operand(&x->b);
    matmul_release_operand(&x->c);
}

/* ---- Copies. --------------------------------------------------------------------------------- */

/* Host rows that are farther apart, in bytes, are copied one by one: CUDA's copies of rectangles
 * have this limit, and a product of such rows was wrong on an H200. */
static const size_t farthest_rows = INT32_MAX;

static int transfer_rows(struct matmul *mm, const struct matmul_device *p, cl_command_queue queue,
                         enum direction direction, const struct operand *o, char *host, size_t ld,
                         size_t rows, size_t cols, cl_event wait1, cl_event wait2, cl_event *done)
{
    struct operand row = *o;
    for (size_t i = 0; i < rows; i++, row.offset += o->ld, host += ld * mm->real)
        if (matmul_transfer(mm, p, queue, direction, &row, host, cols, 1, cols, i ? NULL : wait1,
                            i ? NULL : wait2, i + 1 == rows ? done : NULL) != 0)
            return -1;
    return 0;
}

int matmul_transfer(struct matmul *mm, const struct matmul_device *p, cl_command_queue queue,
                    enum direction direction, const struct operand *o, void *host, size_t ld,
                    size_t rows, size_t cols, cl_event wait1, cl_event wait2, cl_event *done)
{
    if (rows > 1 && ld * mm->real > farthest_rows)
        return transfer_rows(mm, p, queue, direction, o, host, ld, rows, cols, wait1, wait2, done);
    const size_t pitch = o->ld * mm->real, at = o->offset * mm->real;
    const size_t there[3] = {at % pitch, at / pitch, 0}, here[3] = {0, 0, 0},
                 region[3] = {cols * mm->real, rows, 1};
    const cl_event wait[2] = {wait1 ? wait1 : wait2, wait2};
    const cl_uint nwait = (wait1 ? 1u : 0) + (wait2 ? 1u : 0);
    cl_mem buffer = o->block ? clgetbuffer(mm->ctx, p->dev, o->block) : o->buffer;
    cl_int err;
    if (!buffer)
        return -1;
    if (direction == TO_DEVICE && o->ld == cols && ld == cols)
        err = clEnqueueWriteBuffer(queue, buffer, CL_FALSE, at, rows * pitch, host, nwait,
                                   nwait ? wait : NULL, done);
    else if (direction == TO_DEVICE)
        err = clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, there, here, region, pitch, 0,
                                       ld * mm->real, 0, host, nwait, nwait ? wait : NULL, done);
    else if (o->ld == cols && ld == cols)
        err = clEnqueueReadBuffer(queue, buffer, CL_FALSE, at, rows * pitch, host, nwait,
                                  nwait ? wait : NULL, done);
    else
        err = clEnqueueReadBufferRect(queue, buffer, CL_FALSE, there, here, region, pitch, 0,
                                      ld * mm->real, 0, host, nwait, nwait ? wait : NULL, done);
    if (err == CL_SUCCESS)
        return 0;
    return clerror_set(EIO, "matmul: %s cannot copy %zu x %zu elements %s the host (%s)",
                       p->info.dev_name, rows, cols, direction == TO_DEVICE ? "from" : "to",
                       oclerror_str(err));
}

cl_int matmul_wait_event(cl_event ev)
{
    cl_int status = CL_COMPLETE;
    const cl_int err = clWaitForEvents(1, &ev);
    clGetEventInfo(ev, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status < 0 ? status : err;
}

size_t matmul_memory_left(const struct matmul *mm, const struct matmul_device *p)
{
    const size_t all = mm->memory ? mm->memory : (size_t)(0.9 * (double)p->info.dev_global_mem_sz);
    return all > p->loaded_bytes ? all - p->loaded_bytes : 0;
}
