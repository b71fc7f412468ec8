/* npy.h - matrices as numpy's .npy files: two dimensions, float32 or float64, C or Fortran order.
 *
 *   struct npy in;
 *   if (npy_open(&in, "a.npy") < 0)              what it holds, before any of it is read
 *       return -1;
 *   void *x = malloc(npy_bytes(&in));
 *   if (npy_read(&in, x) < 0) ...                rows * cols numbers, in the order they are stored
 *   npy_close(&in);
 *
 * Format versions 1.0 to 3.0, either byte order (numpy/lib/format.py describes them). In Fortran
 * order the columns are stored one after the other: the bytes are those of the transposed matrix in
 * C order. Errors are -1 with a sentence in clerror() that begins with the file's name.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_NPY_H
#define FORMATS_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A file opened for reading. */
struct npy {
    size_t rows, cols;
    size_t size;      /* bytes per number: 4 or 8 */
    bool fortran;     /* columns are stored, not rows */
    size_t done;      /* numbers read so far */
    bool swapped;     /* the file has the other byte order; npy_read swaps */
    FILE *fp;         /* positioned at the first number */
    long begin;       /* its position; -1 for a pipe */
    const char *name; /* not owned */
};

/* Open a file ("-": standard input) and read its header. EINVAL: not a .npy file, an invalid
 * header, not two dimensions, other number types, or a file shorter than its header says. */
int npy_open(struct npy *in, const char *file);

/* As npy_open, from an open stream, which npy_close closes. `name` is for messages. */
int npy_open_stream(struct npy *in, FILE *fp, const char *name);

/* Bytes of all numbers; at most the file's size, where that is known before reading. */
size_t npy_bytes(const struct npy *in);

/* Read all numbers, once. -1 if the file ends early. */
int npy_read(struct npy *in, void *x);
int npy_read_part(struct npy *in, void *x, size_t count); /* the next `count` numbers */

/* Read rows as stored (of Fortran order: columns) from row `first` on. Rows that are not next need
 * a seekable file. */
int npy_read_rows(struct npy *in, size_t first, size_t rows, void *x);

/* Read some columns of rows, as stored, into packed rows. Needs a seekable file; several threads
 * may call it at once. */
int npy_read_part_of_rows(const struct npy *in, size_t first, size_t rows, size_t col, size_t cols,
                          void *x);

/* Close the file; does nothing after a failed open or for a zeroed struct. */
void npy_close(struct npy *in);

/* Write rows x cols numbers of `size` bytes, 4 or 8, from rows of ld numbers, in C order and the
 * machine's byte order. Whole or not at all ("-" is standard output). */
int npy_write(const char *file, size_t size, size_t rows, size_t cols, const void *x, size_t ld);

/* Write only the header of such a file. */
void npy_write_header(FILE *fp, size_t size, size_t rows, size_t cols);

#ifdef __cplusplus
}
#endif
#endif
