/* ranks_file.c - one file that all ranks write, each its own bytes of it.
 *
 * It is a file that is written together (core/outfile.h), past its stream: places in it are known.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { AT_ONCE = 1 << 30 };

static int write_all(int fd, const char *bytes, size_t size, uint64_t at, const char *name)
{
    while (size > 0) {
        const ssize_t done = pwrite(fd, bytes, size < AT_ONCE ? size : AT_ONCE, (off_t)at);
        if (done <= 0 && errno != EINTR)
            return clerror_set(done < 0 ? errno : EIO, "%s: cannot be written: %s", name,
                               strerror(done < 0 ? errno : EIO));
        if (done > 0) {
            bytes += done;
            size -= (size_t)done;
            at += (uint64_t)done;
        }
    }
    return 0;
}

/* What rank 0 writes there first; all know how long it is. */
static int put_before(struct cli_ranks_file *f, void (*before)(FILE *fp, void *arg), void *arg)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    if (fp)
        before(fp, arg);
    int status = fp && fclose(fp) == 0 ? 0 : clerror_set(ENOMEM, "no memory to begin a file");
    f->begin = size;
    if (status == 0 && cli_ranks_first())
        status = write_all(f->out.fd, text, size, 0, f->name);
    free(text);
    return status;
}

int cli_ranks_open(struct cli_ranks_file *f, const char *name, void (*before)(FILE *fp, void *arg),
                   void *arg)
{
    *f = (struct cli_ranks_file){.begin = 0};
    cli_ranks_together(true);
    int status = outfile_open(&f->out, name);
    cli_ranks_together(false);
    if (status != 0)
        return -1;
    if (cli_ranks_first() && f->out.temporary)
        snprintf(f->name, sizeof f->name, "%s", f->out.temporary);
    status = world_broadcast(cli_world, 0, f->name, sizeof f->name);
    if (status == 0 && !*f->name)
        status = clerror_set(EINVAL, "%s: is no file that ranks can write together", name);
    if (world_reduce_status(cli_world, status == 0 ? put_before(f, before, arg) : status) == 0)
        return 0;
    cli_ranks_discard(f);
    return -1;
}

int cli_ranks_put(const struct cli_ranks_file *f, uint64_t at, const void *bytes, size_t size)
{
    return write_all(f->out.fd, bytes, size, f->begin + at, f->name);
}

int cli_ranks_settle(const struct cli_ranks_file *f, int status)
{
    const int code = status == 0 ? outfile_sync(f->out.fd) : 0;
    if (code)
        status = clerror_set(code, "%s: cannot be written: %s", f->name, strerror(code));
    return world_reduce_status(cli_world, status);
}

int cli_ranks_commit(struct cli_ranks_file *f)
{
    return outfile_commit(&f->out);
}

void cli_ranks_discard(struct cli_ranks_file *f)
{
    f->out.ranks = NULL; /* one rank may do so alone */
    outfile_discard(&f->out);
}

int cli_ranks_write(const char *name, void (*before)(FILE *fp, void *arg), void *arg,
                    const void *bytes, size_t at, size_t size)
{
    struct cli_ranks_file f;
    if (cli_ranks_open(&f, name, before, arg) != 0)
        return -1;
    if (world_reduce_status(cli_world, cli_ranks_put(&f, at, bytes, size)) == 0)
        return cli_ranks_commit(&f);
    cli_ranks_discard(&f);
    return -1;
}

int cli_ranks_check_output(const char *name)
{
    bool whole = cli_output_is_whole(name);
    if (world_broadcast(cli_world, 0, &whole, sizeof whole) != 0)
        return cli_failed_call(NULL);
    if (!whole)
        return CLI_DONE;
    struct outfile out;
    cli_ranks_together(true);
    const int status = outfile_open(&out, name);
    cli_ranks_together(false);
    if (status == 0)
        outfile_discard(&out);
    return status == 0 ? CLI_DONE : cli_failed_call(NULL);
}

static int broadcast(void *arg, void *bytes, size_t size)
{
    (void)arg;
    return world_broadcast(cli_world, 0, bytes, size);
}

static int agree(void *arg, int status)
{
    (void)arg;
    return world_reduce_status(cli_world, status);
}

void cli_ranks_together(bool on)
{
    static struct outfile_ranks ranks;
    ranks = (struct outfile_ranks){.rank = world_rank(cli_world),
                                   .ranks = world_size(cli_world),
                                   .block = getenv("STDCL_DIVIDE_ANEW") ? 4096 : 0,
                                   .broadcast = broadcast,
                                   .agree = agree};
    outfile_together(on && ranks.ranks > 1 ? &ranks : NULL);
}
