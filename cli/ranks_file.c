/* ranks_file.c - one output file that all ranks write, each at its own offsets.
 *
 * Ranks bypass the stream of a shared outfile (core/outfile.h) and use pwrite at known offsets.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "files.h"
#include "message.h"
#include "ranks.h"
#include "ranks_file.h"

#include "core/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AT_ONCE = 1 << 30 };

static int ranks_file_pwrite(const struct outfile *out, const char *bytes, size_t size, uint64_t at)
{
    while (size > 0) {
        const ssize_t done = pwrite(out->fd, bytes, size < AT_ONCE ? size : AT_ONCE, (off_t)at);
        if (done <= 0 && errno != EINTR)
            return outfile_failed(out, done < 0 ? errno : EIO);
        if (done > 0) {
            bytes += done;
            size -= (size_t)done;
            at += (uint64_t)done;
        }
    }
    return 0;
}

/* Write the header on rank 0. All ranks format it, so that all know its length. */
static int write_header(struct cli_ranks_file *f, void (*before)(FILE *fp, void *arg), void *arg)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    if (fp && before)
        before(fp, arg);
    int status =
        fp && fclose(fp) == 0 ? 0 : clerror_set(ENOMEM, "out of memory for the header of a file");
    f->begin = size;
    if (status == 0 && cli_ranks_first())
        status = ranks_file_pwrite(&f->out, text, size, 0);
    free(text);
    return status;
}

int cli_ranks_file_open(struct cli_ranks_file *f, const char *name,
                        void (*before)(FILE *fp, void *arg), void *arg)
{
    *f = (struct cli_ranks_file){.begin = 0};
    cli_ranks_shared_files(true);
    int status = outfile_open(&f->out, name);
    cli_ranks_shared_files(false);
    if (status != 0)
        return -1;
    if (cli_ranks_first() && f->out.temporary)
        snprintf(f->name, sizeof f->name, "%s", f->out.temporary);
    status = world_broadcast(cli_world, 0, f->name, sizeof f->name);
    if (status == 0 && !*f->name)
        status = clerror_set(EINVAL, "%s: several ranks can write only a regular file", name);
    if (world_reduce_status(cli_world, status == 0 ? write_header(f, before, arg) : status) == 0)
        return 0;
    cli_ranks_file_discard(f);
    return -1;
}

int cli_ranks_file_write_at(const struct cli_ranks_file *f, uint64_t at, const void *bytes,
                            size_t size)
{
    return ranks_file_pwrite(&f->out, bytes, size, f->begin + at);
}

int cli_ranks_file_sync(const struct cli_ranks_file *f, int status)
{
    const int code = status == 0 ? outfile_sync(f->out.fd) : 0;
    if (code)
        status = outfile_failed(&f->out, code);
    return world_reduce_status(cli_world, status);
}

int cli_ranks_file_commit(struct cli_ranks_file *f)
{
    return outfile_commit(&f->out);
}

void cli_ranks_file_discard(struct cli_ranks_file *f)
{
    f->out.ranks = NULL; /* not collective */
    outfile_discard(&f->out);
}

int cli_ranks_file_write(const char *name, void (*before)(FILE *fp, void *arg), void *arg,
                         const void *bytes, size_t at, size_t size)
{
    struct cli_ranks_file f;
    if (cli_ranks_file_open(&f, name, before, arg) != 0)
        return -1;
    if (world_reduce_status(cli_world, cli_ranks_file_write_at(&f, at, bytes, size)) == 0)
        return cli_ranks_file_commit(&f);
    cli_ranks_file_discard(&f);
    return -1;
}

int cli_ranks_check_output(const char *name)
{
    bool whole = cli_output_is_regular(name);
    if (world_broadcast(cli_world, 0, &whole, sizeof whole) != 0)
        return cli_failed_call(NULL);
    if (!whole)
        return CLI_DONE;
    struct outfile out;
    cli_ranks_shared_files(true);
    const int status = outfile_open(&out, name);
    cli_ranks_shared_files(false);
    if (status == 0)
        outfile_discard(&out);
    return status == 0 ? CLI_DONE : cli_failed_call(NULL);
}

static int ranks_broadcast(void *arg, void *bytes, size_t size)
{
    (void)arg;
    return world_broadcast(cli_world, 0, bytes, size);
}

static int ranks_reduce_status(void *arg, int status)
{
    (void)arg;
    return world_reduce_status(cli_world, status);
}

static int ranks_add_lower(void *arg, unsigned long long own, unsigned long long *lower)
{
    const int rank = world_rank(cli_world);
    unsigned long long *each = calloc((size_t)world_size(cli_world), sizeof *each);
    int status = each ? 0 : clerror_set(ENOMEM, "out of memory for a number of each rank");
    (void)arg;
    status = world_reduce_status(cli_world, status);
    if (status == 0)
        status = world_gather(cli_world, &own, sizeof own, each);
    *lower = 0;
    for (int k = 0; status == 0 && k < rank; k++)
        *lower += each[k];
    free(each);
    return status;
}

void cli_ranks_shared_files(bool on)
{
    static struct outfile_ranks ranks;
    ranks = (struct outfile_ranks){.rank = world_rank(cli_world),
                                   .ranks = world_size(cli_world),
                                   .block = getenv("STDCL_TEST_REBALANCE") ? 4096 : 0,
                                   .broadcast = ranks_broadcast,
                                   .agree = ranks_reduce_status,
                                   .add_lower = ranks_add_lower};
    outfile_together(on && ranks.ranks > 1 ? &ranks : NULL);
}
