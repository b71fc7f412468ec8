/* npy.c - matrices as numpy's .npy files.
 *
 *   "\x93NUMPY"  version, 2 bytes  length of the header, 2 bytes (version 1) or 4, little-endian
 *   header       the text of a Python dictionary, {'descr': '<f8', 'fortran_order': False, 'shape':
 *                (3, 4), }
 *   numbers      one after the other
 *
 * The header is text of the file's making: it is read word by word, nothing in it is evaluated, and
 * nothing is allocated before the promised shape is checked against the file's length.
 * SPDX-License-Identifier: MIT
 */
#include "formats/npy.h"

#include "core/outfile.h"
#include "stdcl.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 6, MOST_HEADER = 65536, MOST_DIMENSIONS = 32, MOST_AT_ONCE = 1 << 30 };

static const char magic[MAGIC + 1] = "\x93NUMPY";

static bool is_big_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

/* ---- The words of the dictionary. ------------------------------------------------------------ */

/* Reading position in the header; `problem`: first syntax error. */
struct text {
    const char *at, *end;
    const char *problem;
};

static bool complain(struct text *t, const char *problem)
{
    if (!t->problem)
        t->problem = problem;
    return false;
}

static void npy_skip_blanks(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\n' || *t->at == '\r'))
        t->at++;
}

/* Skip one character if it comes next. */
static bool npy_take(struct text *t, char c)
{
    npy_skip_blanks(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

/* Read a string in either kind of quotes, without escapes, into word[room]. */
static bool take_string(struct text *t, char *word, size_t room)
{
    size_t n = 0;
    const char quote = npy_take(t, '\'') ? '\'' : npy_take(t, '"') ? '"' : 0;
    if (!quote)
        return complain(t, "a name in quotes is missing");
    while (t->at < t->end && *t->at != quote && n + 1 < room && *t->at >= ' ' && *t->at < 127 &&
           *t->at != '\\')
        word[n++] = *t->at++;
    word[n] = 0;
    if (t->at == t->end || *t->at != quote)
        return complain(t, "a text in quotes does not end, or holds what it should not");
    t->at++;
    return true;
}

static bool take_word(struct text *t, const char *word)
{
    npy_skip_blanks(t);
    const size_t length = strlen(word);
    if ((size_t)(t->end - t->at) < length || memcmp(t->at, word, length) != 0)
        return false;
    t->at += length;
    return true;
}

static bool take_size(struct text *t, size_t *value)
{
    npy_skip_blanks(t);
    const char *start = t->at;
    *value = 0;
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        const size_t digit = (size_t)(*t->at - '0');
        if (*value > (SIZE_MAX - digit) / 10)
            return complain(t, "a dimension of its shape is larger than any memory");
        *value = *value * 10 + digit;
    }
    if (t->at == start)
        return complain(t, "its shape is not a list of whole numbers");
    npy_take(t, 'L'); /* Python 2's suffix of long integers */
    return true;
}

/* Read (3, 4) or (3, 4,); the first two of *count dimensions are stored. */
static bool take_shape(struct text *t, size_t dimension[2], size_t *count)
{
    *count = 0;
    if (!npy_take(t, '('))
        return complain(t, "its shape is not a tuple");
    while (!npy_take(t, ')')) {
        size_t value;
        if (!take_size(t, &value))
            return false;
        if (*count < 2)
            dimension[*count] = value;
        if (++*count > MOST_DIMENSIONS)
            return complain(t, "its shape has too many dimensions");
        if (!npy_take(t, ',') && !(t->at < t->end && *t->at == ')'))
            return complain(t, "its shape is not a list of whole numbers");
    }
    return true;
}

/* ---- The header. ----------------------------------------------------------------------------- */

/* Content of a header. */
struct header {
    char descr[64];
    bool fortran, has_descr, has_order, has_shape;
    size_t dimension[2], dimensions;
};

static bool take_entry(struct text *t, struct header *h)
{
    char key[32];
    if (!take_string(t, key, sizeof key))
        return false;
    if (!npy_take(t, ':'))
        return complain(t, "a colon is missing");
    if (strcmp(key, "descr") == 0 && !h->has_descr) {
        h->has_descr = true;
        npy_skip_blanks(t);
        if (t->at < t->end && *t->at == '[')
            return complain(t, "it holds records, not numbers");
        return take_string(t, h->descr, sizeof h->descr);
    }
    if (strcmp(key, "fortran_order") == 0 && !h->has_order) {
        h->has_order = true;
        h->fortran = take_word(t, "True");
        return h->fortran || take_word(t, "False") ||
               complain(t, "fortran_order is neither True nor False");
    }
    if (strcmp(key, "shape") == 0 && !h->has_shape) {
        h->has_shape = true;
        return take_shape(t, h->dimension, &h->dimensions);
    }
    return complain(t, "it has an entry besides descr, fortran_order and shape");
}

static bool read_dictionary(struct text *t, struct header *h)
{
    memset(h, 0, sizeof *h);
    if (!npy_take(t, '{'))
        return complain(t, "it is not a dictionary");
    while (!npy_take(t, '}')) {
        if (!take_entry(t, h))
            return false;
        if (!npy_take(t, ',') && !(t->at < t->end && *t->at == '}'))
            return complain(t, "a comma is missing");
    }
    npy_skip_blanks(t);
    if (t->at != t->end)
        return complain(t, "something follows its dictionary");
    return (h->has_descr && h->has_order && h->has_shape) ||
           complain(t, "it lacks descr, fortran_order or shape");
}

/* Parse the number type: '<f4', '>f8', '=f8' (the machine's order). */
static int npy_read_type(struct npy *in, const char *descr)
{
    const char order = descr[0];
    const bool known = order == '<' || order == '>' || order == '=';
    in->size = strcmp(descr + known, "f4") == 0 ? 4 : strcmp(descr + known, "f8") == 0 ? 8 : 0;
    in->swapped = (order == '<' && is_big_endian()) || (order == '>' && !is_big_endian());
    if (in->size)
        return 0;
    return clerror_set(
        EINVAL,
        "%s: holds numbers of type '%s'; only float32 ('<f4', '>f4') and float64 ('<f8', '>f8') are "
        "read",
        in->name, descr);
}

static int apply_header(struct npy *in, const struct header *h)
{
    if (npy_read_type(in, h->descr) < 0)
        return -1;
    if (h->dimensions != 2)
        return clerror_set(EINVAL, "%s: has %zu dimension%s; a matrix has 2", in->name,
                           h->dimensions, h->dimensions == 1 ? "" : "s");
    in->rows = h->dimension[0];
    in->cols = h->dimension[1];
    in->fortran = h->fortran;
    if (in->cols && in->rows > SIZE_MAX / in->size / in->cols)
        return clerror_set(EINVAL,
                           "%s: its header says %zu x %zu numbers, more than any memory holds",
                           in->name, in->rows, in->cols);
    return 0;
}

/* Read the bytes before the dictionary; return its length, or 0 after an error. */
static size_t read_prefix(struct npy *in)
{
    unsigned char start[MAGIC + 2], length[4] = {0};
    const size_t n = fread(start, 1, sizeof start, in->fp);
    const bool begins = n >= MAGIC && memcmp(start, magic, MAGIC) == 0;
    if (n != sizeof start || !begins) {
        clerror_set(EINVAL,
                    begins ? "%s: ends inside its header"
                    : n    ? "%s: is not a .npy file (it does not begin with \\x93NUMPY)"
                           : "%s: is empty, and no .npy file",
                    in->name);
        return 0;
    }
    const size_t count = start[MAGIC] == 1 ? 2 : 4;
    if (start[MAGIC] < 1 || start[MAGIC] > 3) {
        clerror_set(EINVAL, "%s: is of version %d.%d of the .npy format; 1.0 to 3.0 are read",
                    in->name, start[MAGIC], start[MAGIC + 1]);
        return 0;
    }
    const size_t got = fread(length, 1, count, in->fp);
    const size_t size = (size_t)length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 |
                        (size_t)length[3] << 24;
    if (got != count) {
        clerror_set(EINVAL, "%s: ends inside its header", in->name);
        return 0;
    }
    if (size == 0 || size > MOST_HEADER) {
        clerror_set(EINVAL, "%s: its header is said to have %zu bytes; 1 to %d make sense",
                    in->name, size, MOST_HEADER);
        return 0;
    }
    return size;
}

static int npy_read_header(struct npy *in)
{
    struct header h;
    const size_t size = read_prefix(in);
    if (!size)
        return -1;
    char *line = malloc(size);
    if (!line)
        return clerror_set(ENOMEM, "%s: out of memory for a header of %zu bytes", in->name, size);
    struct text t = {line, line + size, NULL};
    int status = 0;
    if (fread(line, 1, size, in->fp) != size)
        status = clerror_set(EINVAL, "%s: ends inside its header", in->name);
    else if (!read_dictionary(&t, &h))
        status = clerror_set(EINVAL, "%s: its header makes no sense at byte %zu: %s", in->name,
                             (size_t)(t.at - line), t.problem ? t.problem : "it is damaged");
    free(line);
    return status == 0 ? apply_header(in, &h) : status;
}

/* Check a regular file's length before its numbers are read. */
static int check_length(const struct npy *in)
{
    struct stat info;
    const int fd = fileno(in->fp);
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    const off_t at = ftello(in->fp);
    const size_t rest = at >= 0 && info.st_size > at ? (size_t)(info.st_size - at) : 0;
    if (at < 0 || rest >= npy_bytes(in))
        return 0;
    return clerror_set(
        EINVAL, "%s: is cut short: %zu x %zu numbers take %zu bytes, but %zu follow its header",
        in->name, in->rows, in->cols, npy_bytes(in), rest);
}

/* ---- Reading. -------------------------------------------------------------------------------- */

int npy_open_stream(struct npy *in, FILE *fp, const char *name)
{
    *in = (struct npy){.fp = fp, .name = name};
    if (npy_read_header(in) == 0 && check_length(in) == 0) {
        in->begin = ftell(fp);
        return 0;
    }
    npy_close(in);
    return -1;
}

int npy_open(struct npy *in, const char *file)
{
    struct stat info;
    if (strcmp(file, "-") == 0)
        return npy_open_stream(in, stdin, "standard input");
    memset(in, 0, sizeof *in);
    FILE *fp = fopen(file, "rb");
    const int code = errno;
    if (!fp && code == ENOENT)
        return clerror_set(code, "%s: no such file", file);
    if (!fp)
        return clerror_set(code, "%s: cannot be read: %s", file, strerror(code));
    if (fstat(fileno(fp), &info) == 0 && S_ISDIR(info.st_mode)) {
        fclose(fp);
        return clerror_set(EISDIR, "%s: is a folder, not a matrix", file);
    }
    return npy_open_stream(in, fp, file);
}

size_t npy_bytes(const struct npy *in)
{
    return in->rows * in->cols * in->size;
}

static void npy_swap(unsigned char *x, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++, x += size)
        for (size_t k = 0; k < size / 2; k++) {
            const unsigned char kept = x[k];
            x[k] = x[size - 1 - k];
            x[size - 1 - k] = kept;
        }
}

int npy_read(struct npy *in, void *x)
{
    return npy_read_part(in, x, in->rows * in->cols);
}

int npy_read_part(struct npy *in, void *x, size_t count)
{
    const size_t got = count ? fread(x, in->size, count, in->fp) : 0;
    in->done += got;
    if (got != count)
        return clerror_set(EINVAL, "%s: is cut short: it has %zu of %zu numbers", in->name,
                           in->done, in->rows * in->cols);
    if (in->swapped)
        npy_swap(x, count, in->size);
    return 0;
}

int npy_read_rows(struct npy *in, size_t first, size_t rows, void *x)
{
    const size_t cols = in->fortran ? in->rows : in->cols, at = first * cols;
    if (at != in->done &&
        (in->begin < 0 || fseek(in->fp, in->begin + (long)(at * in->size), SEEK_SET) != 0))
        return clerror_set(ESPIPE, "%s: is a pipe, which cannot be read in another order",
                           in->name);
    in->done = at;
    return npy_read_part(in, x, rows * cols);
}

/* Read `size` bytes at a position of the file. */
static int read_at(const struct npy *in, char *x, size_t size, size_t at)
{
    while (size > 0) {
        const ssize_t got =
            pread(fileno(in->fp), x, size < MOST_AT_ONCE ? size : MOST_AT_ONCE, (off_t)at);
        if (got == 0)
            return clerror_set(EINVAL, "%s: is cut short", in->name);
        if (got < 0 && errno != EINTR)
            return clerror_set(errno, "%s: cannot be read: %s", in->name, strerror(errno));
        x += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
        at += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

int npy_read_part_of_rows(const struct npy *in, size_t first, size_t rows, size_t col, size_t cols,
                          void *x)
{
    const size_t row = (in->fortran ? in->rows : in->cols) * in->size, part = cols * in->size;
    const bool whole = part == row;
    if (in->begin < 0)
        return clerror_set(ESPIPE, "%s: is a pipe, which cannot be read in another order",
                           in->name);
    int status = 0;
    for (size_t i = 0; i < rows && status == 0; i += whole ? rows : 1)
        status = read_at(in, (char *)x + i * part, whole ? rows * part : part,
                         (size_t)in->begin + (first + i) * row + col * in->size);
    if (status == 0 && in->swapped)
        npy_swap(x, rows * cols, in->size);
    return status;
}

void npy_close(struct npy *in)
{
    if (in->fp && in->fp != stdin)
        fclose(in->fp);
    memset(in, 0, sizeof *in);
}

/* ---- Writing. -------------------------------------------------------------------------------- */

/* Numbers begin at a multiple of 64 bytes, as numpy writes them. */
void npy_write_header(FILE *fp, size_t size, size_t rows, size_t cols)
{
    char line[192];
    const int used = snprintf(line, sizeof line,
                              "{'descr': '%cf%zu', 'fortran_order': False, 'shape': (%zu, %zu), }",
                              is_big_endian() ? '>' : '<', size, rows, cols);
    const size_t length = ((size_t)used + MAGIC + 4 + 1 + 63) / 64 * 64 - (MAGIC + 4);
    memset(line + used, ' ', length - (size_t)used - 1);
    line[length - 1] = '\n';
    fwrite(magic, 1, MAGIC, fp);
    putc(1, fp);
    putc(0, fp);
    putc((int)(length & 255), fp);
    putc((int)(length >> 8), fp);
    fwrite(line, 1, length, fp);
}

int npy_write(const char *file, size_t size, size_t rows, size_t cols, const void *x, size_t ld)
{
    struct outfile out;
    if (outfile_open(&out, file) < 0)
        return -1;
    npy_write_header(out.fp, size, rows, cols);
    for (size_t i = 0; i < rows && outfile_check(&out) == 0; i++)
        fwrite((const char *)x + i * ld * size, size, cols, out.fp);
    return outfile_commit(&out);
}
