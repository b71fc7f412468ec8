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

/* A file that is open for reading. */
struct npy {
    size_t rows, cols;
    size_t size;      /* bytes of a number: 4 or 8 */
    bool fortran;     /* columns are stored, not rows */
    size_t done;      /* numbers that were read */
    bool swapped;     /* the numbers are in the other byte order; npy_read turns them */
    FILE *fp;         /* stands at the first number */
    long begin;       /* where that is; -1 in a pipe */
    const char *name; /* not owned */
};

/* Opens a file ("-": the standard input) and reads its header. EINVAL: no .npy file, a header that
 * makes no sense, other than two dimensions, other types of number, or too short for what its
 * header promises. */
int npy_open(struct npy *in, const char *file);

/* The same from an open stream, which npy_close closes. `name` is for messages. */
int npy_open_stream(struct npy *in, FILE *fp, const char *name);

/* Bytes of all numbers; no more than the file has, if that can be told before reading. */
size_t npy_bytes(const struct npy *in);

/* Reads all numbers, once. -1 when the file ends before. */
int npy_read(struct npy *in, void *x);
int npy_read_part(struct npy *in, void *x, size_t count); /* the next `count` of them */

/* Rows as they are stored (of Fortran order: columns) from row `first` on. What is not next needs a
 * file that is no pipe. */
int npy_read_rows(struct npy *in, size_t first, size_t rows, void *x);

/* Some columns of rows, as they are stored, into packed rows; of a file that is no pipe, and by
 * several threads at once. */
int npy_read_part_of_rows(const struct npy *in, size_t first, size_t rows, size_t col, size_t cols,
                          void *x);

/* Closes what open has opened; nothing happens to one that failed to open, or was zeroed. */
void npy_close(struct npy *in);

/* Writes rows x cols numbers of `size` bytes, 4 or 8, from rows of ld numbers, in C order and the
 * machine's byte order. The file appears whole or not at all ("-" is the standard output). */
int npy_write(const char *file, size_t size, size_t rows, size_t cols, const void *x, size_t ld);

/* Only what stands before the numbers of such a file. */
void npy_write_header(FILE *fp, size_t size, size_t rows, size_t cols);

#ifdef __cplusplus
}
#endif
#endif
