/* particles_npy.c - bodies as a matrix of numpy's: N rows, the columns mass x y z vx vy vz, of
 * float32 or float64.
 * SPDX-License-Identifier: MIT
 */
#include "formats/npy.h"
#include "formats/particles_format.h"

#include "core/host_memory.h"
#include "stdcl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool particles_npy_sniff(const char *start, size_t size)
{
    return size >= 6 && memcmp(start, "\x93NUMPY", 6) == 0;
}

/* Lets npy.c read from the source, as a stream. */
static ssize_t particles_npy_pass_on(void *cookie, char *to, size_t size)
{
    struct reader *s = cookie;
    if (reader_need(s, 1) < 0)
        return -1;
    const size_t n = size < reader_ready(s) ? size : reader_ready(s);
    if (n)
        memcpy(to, s->begin, n);
    s->begin += n;
    return (ssize_t)n;
}

static int particles_npy_check_columns(const char *name, const struct npy *in)
{
    if (in->cols == 7 && in->rows > 0)
        return 0;
    return clerror_set(
        EINVAL,
        "%s: is an array of %zu x %zu numbers; bodies are N x 7, mass x y z vx vy vz, with N > 0",
        name, in->rows, in->cols);
}

static int particles_npy_check_shape(const struct reader *s, const struct npy *in)
{
    if (particles_npy_check_columns(s->name, in) < 0)
        return -1;
    if (s->size >= 0 && npy_bytes(in) > (size_t)s->size)
        return clerror_set(
            EINVAL, "%s: is cut short: %zu x 7 numbers take %zu bytes, and all of it is %lld",
            s->name, in->rows, npy_bytes(in), s->size);
    return 0;
}

static void particles_npy_put(struct particles *p, size_t i, const double value[7])
{
    p->mass[i] = value[0];
    memcpy(p->pos[i], value + 1, sizeof *p->pos);
    memcpy(p->vel[i], value + 4, sizeof *p->vel);
}

/* Copy `rows` rows, which are all rows in Fortran order. */
static void particles_npy_spread(const struct npy *in, size_t rows, const void *x, size_t first,
                                 struct particles *p)
{
    for (size_t i = 0; i < rows; i++) {
        double value[7];
        for (size_t c = 0; c < 7; c++) {
            const size_t k = in->fortran ? c * rows + i : 7 * i + c;
            value[c] = in->size == 4 ? (double)((const float *)x)[k] : ((const double *)x)[k];
        }
        particles_npy_put(p, first + i, value);
    }
}

static int read_matrix(struct reader *s, struct npy *in, struct particles *p)
{
    if (particles_npy_check_shape(s, in) < 0)
        return -1;
    void *x = (double)npy_bytes(in) <= host_memory_left() ? malloc(npy_bytes(in)) : NULL;
    if (!x)
        return clerror_set(ENOMEM, "%s: out of memory for %zu bodies", s->name, in->rows);
    int status = npy_read(in, x) < 0 || particles_reserve(p, in->rows, s->name) < 0 ? -1 : 0;
    if (status == 0)
        particles_npy_spread(in, in->rows, x, 0, p);
    free(x);
    for (p->n = 0; status == 0 && p->n < in->rows; p->n++)
        status = particles_check_body(s->name, p, p->n, NULL);
    return status;
}

static int particles_npy_read_npy(struct reader *s, struct particles *p)
{
    static const cookie_io_functions_t functions = {.read = particles_npy_pass_on};
    struct npy in;
    FILE *fp = fopencookie(s, "r", functions);
    if (!fp)
        return clerror_set(ENOMEM, "%s: out of memory: cannot read it", s->name);
    if (npy_open_stream(&in, fp, s->name) < 0)
        return -1;
    const int status = read_matrix(s, &in, p);
    npy_close(&in);
    return status;
}

static int particles_npy_survey(struct reader *s, struct particles *p)
{
    struct npy in;
    if (npy_open(&in, s->name) < 0)
        return -1;
    const int status = particles_npy_check_columns(s->name, &in) < 0 ? -1
                       : in.fortran ? particles_refuse_parts(s->name)
                                    : 0;
    p->all = in.rows;
    npy_close(&in);
    return status;
}

/* Read the rows piece by piece. */
static int particles_npy_read_rows(struct reader *s, size_t first, size_t count,
                                   struct particles *p)
{
    enum { PIECE = 1 << 13 };
    struct npy in;
    if (npy_open(&in, s->name) < 0)
        return -1;
    void *piece = malloc(PIECE * 7 * sizeof(double));
    int status = piece ? 0 : clerror_set(ENOMEM, "%s: out of memory", s->name);
    for (size_t done = 0, rows; status == 0 && done < count; done += rows) {
        rows = count - done < PIECE ? count - done : PIECE;
        status = npy_read_rows(&in, first + done, rows, piece);
        if (status == 0)
            particles_npy_spread(&in, rows, piece, p->n, p);
        for (size_t k = 0; k < rows && status == 0; k++, p->n++)
            status = particles_check_body(s->name, p, p->n, NULL);
    }
    free(piece);
    npy_close(&in);
    return status;
}

static int write_npy(struct outfile *out, const struct particles *p)
{
    npy_write_header(out->fp, sizeof(double), particles_all(p), 7);
    if (p->all && outfile_divide(out, p->n * 7ull * sizeof(double)) < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++) {
        fwrite(&p->mass[i], sizeof *p->mass, 1, out->fp);
        fwrite(p->pos[i], sizeof *p->pos, 1, out->fp);
        fwrite(p->vel[i], sizeof *p->vel, 1, out->fp);
        if (i % 4096 == 0 && outfile_check(out) < 0)
            return -1;
    }
    return 0;
}

const struct particles_format particles_npy = {
    .label = {.name = "npy", .title = "numpy", .suffixes = ".npy"},
    .sniff = particles_npy_sniff,
    .read = particles_npy_read_npy,
    .survey = particles_npy_survey,
    .read_rows = particles_npy_read_rows,
    .write = write_npy,
    .bytes = 56,
};
