/* gas_input.c - velocities from files: rows of three numbers, in a .npy file or in HDF5. */
#include "gas_job.h"

#include <sys/stat.h>

#include "formats/hdf5.h"

/* ---- .npy ------------------------------------------------------------------------------------ */

/* NumPy's format, versions 1 to 3: a magic word, the length of a header, and the header, a literal of Python
 * such as {'descr': '<f4', 'fortran_order': False, 'shape': (1000, 3), }; then the numbers. */

enum { MOST_HEADER = 1 << 16 };

struct npy {
    const char *file;
    FILE *fp;
    char header[MOST_HEADER + 1];
    bool wide, swapped;
    unsigned long long n;
};

static int read_header(struct npy *npy)
{
    unsigned char start[12];
    if (fread(start, 1, 10, npy->fp) != 10 || memcmp(start, "\x93NUMPY", 6) != 0)
        return cli_failed("'%s' is neither a .npy nor an HDF5 file", npy->file);
    size_t length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1 && fread(start + 10, 1, 2, npy->fp) == 2)
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (start[6] < 1 || start[6] > 3 || length > MOST_HEADER ||
        fread(npy->header, 1, length, npy->fp) != length)
        return cli_failed("'%s': the header of this .npy file is damaged or cut short", npy->file);
    npy->header[length] = '\0';
    return CLI_DONE;
}

/* What stands behind 'key': in the header. */
static const char *value_of(const struct npy *npy, const char *key)
{
    const char *at = strstr(npy->header, key);
    at = at ? strchr(at + strlen(key), ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : "";
}

static int understand_header(struct npy *npy)
{
    const char *type = value_of(npy, "'descr'"), *shape = value_of(npy, "'shape'");
    const uint16_t one = 1;
    const bool little = *(const unsigned char *)&one == 1;
    unsigned long long columns = 0;
    int end = 0;
    if (strncmp(type, "'<f4'", 5) && strncmp(type, "'<f8'", 5) && strncmp(type, "'>f4'", 5) &&
        strncmp(type, "'>f8'", 5))
        return cli_failed("'%s' holds numbers of type %.*s; velocities are '<f4' or '<f8' (float32, float64)",
                          npy->file, (int)strcspn(type, ","), type);
    if (strncmp(value_of(npy, "'fortran_order'"), "False", 5))
        return cli_failed("'%s' is in Fortran order; numpy.ascontiguousarray gives the other", npy->file);
    if (sscanf(shape, "(%llu, %llu)%n", &npy->n, &columns, &end) != 2 || !end || columns != 3 || npy->n == 0)
        return cli_failed("'%s' has the shape %.*s; velocities are rows of three, (N, 3) with N > 0",
                          npy->file, (int)strcspn(shape, ")") + 1, shape);
    npy->wide = type[3] == '8';
    npy->swapped = (type[1] == '<') != little;
    return CLI_DONE;
}

static void swap_bytes(unsigned char *data, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++, data += size)
        for (size_t k = 0; k < size / 2; k++) {
            const unsigned char byte = data[k];
            data[k] = data[size - 1 - k];
            data[size - 1 - k] = byte;
        }
}

/* The numbers; room for them is only asked for when the file is long enough. */
static int read_numbers(struct npy *npy, struct gas_job *job)
{
    const size_t size = npy->wide ? 8 : 4;
    struct stat status;
    const off_t at = ftello(npy->fp);
    if (fstat(fileno(npy->fp), &status) != 0 || at < 0 ||
        (S_ISREG(status.st_mode) && npy->n > (unsigned long long)(status.st_size - at) / 3 / size))
        return cli_failed("'%s' is cut short: its header promises %llu rows of three", npy->file, npy->n);
    if (cli_memory_for((size_t)npy->n, 3 * size, "velocities") != CLI_DONE)
        return CLI_FAILED;
    job->n = npy->n;
    job->precision = npy->wide ? GAS_DOUBLE : GAS_FLOAT;
    job->velocity = cli_alloc((size_t)npy->n, 3 * size);
    if (fread(job->velocity, 3 * size, (size_t)npy->n, npy->fp) != npy->n)
        return cli_failed("'%s' is cut short: its header promises %llu rows of three", npy->file, npy->n);
    if (npy->swapped)
        swap_bytes(job->velocity, 3 * (size_t)npy->n, size);
    return CLI_DONE;
}

static int read_npy(struct gas_job *job)
{
    struct npy *npy = cli_alloc(1, sizeof *npy);
    npy->file = job->input;
    npy->fp = fopen(job->input, "rb");
    int status = npy->fp ? read_header(npy) : cli_failed("'%s': %s", job->input, strerror(errno));
    if (status == CLI_DONE)
        status = understand_header(npy);
    if (status == CLI_DONE)
        status = read_numbers(npy, job);
    if (npy->fp)
        fclose(npy->fp);
    free(npy);
    return status;
}

/* ---- HDF5. ----------------------------------------------------------------------------------- */

static int read_hdf5(struct gas_job *job)
{
    static const char *const usual[] = {"velocities", "Velocities", "PartType1/Velocities",
                                        "PartType0/Velocities", NULL};
    const char *const asked[] = {job->dataset, NULL};
    struct hdf5_rows rows;
    if (hdf5_read_rows(job->input, job->dataset ? asked : usual, 3, &rows) != 0)
        return cli_failed_call(NULL);
    job->n = rows.n;
    job->precision = rows.wide ? GAS_DOUBLE : GAS_FLOAT;
    job->velocity = rows.data;
    return CLI_DONE;
}

/* ---- Either. --------------------------------------------------------------------------------- */

int gas_input_read(struct gas_job *job)
{
    const bool hdf5 = hdf5_is(job->input);
    const int asked = job->precision;
    if (!hdf5 && job->dataset)
        return cli_wrong("--dataset: '%s' is no HDF5 file", job->input);
    const int status = hdf5 ? read_hdf5(job) : read_npy(job);
    if (status == CLI_DONE && asked == GAS_DOUBLE &&
        job->precision == GAS_FLOAT) { /* floats, summed as doubles */
        const float *from = job->velocity;
        double *to = cli_alloc((size_t)job->n * 3, sizeof *to);
        for (size_t i = 0; i < (size_t)job->n * 3; i++)
            to[i] = (double)from[i];
        free(job->velocity);
        job->velocity = to;
        job->precision = GAS_DOUBLE;
    }
    return status;
}

int gas_input_give(struct gas_job *job)
{
    const int failed = job->precision == GAS_DOUBLE ? gas_set_velocities(job->gas, job->velocity)
                                                    : gas_set_velocities_single(job->gas, job->velocity);
    gas_input_free(job);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}

void gas_input_free(struct gas_job *job)
{
    free(job->velocity);
    job->velocity = NULL;
}
