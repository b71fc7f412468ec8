/* ranks_file.c - one file that all ranks write, each its own bytes of it.
 *
 * Rank 0 makes the file under a temporary name; when all have written and their bytes are on the disk, it gets its name.
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
            return clerror_set(done < 0 ? errno : EIO, "%s: cannot be written: %s", name, strerror(done < 0 ? errno : EIO));
        if (done > 0) {
            bytes += done;
            size -= (size_t)done;
            at += (uint64_t)done;
        }
    }
    return 0;
}

/* What rank 0 tells the others of it. */
struct place {
    char name[CLI_RANKS_NAME];
    uint64_t begin;
};

static int make(struct cli_ranks_file *f, const char *name, void (*before)(FILE *fp, void *arg), void *arg, struct place *place)
{
    if (outfile_open(&f->out, name) != 0)
        return -1;
    if (!f->out.temporary)
        return clerror_set(EINVAL, "%s: is no file that ranks can write together", name);
    if (strlen(f->out.temporary) >= CLI_RANKS_NAME)
        return clerror_set(ENAMETOOLONG, "%s: is too long a name", name);
    before(f->out.fp, arg);
    const off_t end = fflush(f->out.fp) == 0 ? lseek(f->out.fd, 0, SEEK_CUR) : -1;
    if (end < 0 || outfile_check(&f->out) != 0)
        return -1;
    snprintf(place->name, CLI_RANKS_NAME, "%s", f->out.temporary);
    place->begin = (uint64_t)end;
    return 0;
}

int cli_ranks_open(struct cli_ranks_file *f, const char *name, void (*before)(FILE *fp, void *arg), void *arg)
{
    struct place place = {.begin = 0};
    *f = (struct cli_ranks_file){.fd = -1};
    int status = world_agree(cli_world, cli_ranks_first() ? make(f, name, before, arg, &place) : 0);
    if (status == 0)
        status = world_broadcast(cli_world, 0, &place, sizeof place);
    if (status == 0) {
        memcpy(f->name, place.name, sizeof f->name);
        f->begin = place.begin;
        f->fd = open(f->name, O_WRONLY | O_CLOEXEC);
        if (f->fd < 0)
            status = clerror_set(errno, "%s: cannot be opened: %s; all ranks must see the folder", f->name, strerror(errno));
        status = world_agree(cli_world, status);
    }
    if (status != 0)
        cli_ranks_discard(f);
    return status;
}

int cli_ranks_put(const struct cli_ranks_file *f, uint64_t at, const void *bytes, size_t size)
{
    return write_all(f->fd, bytes, size, f->begin + at, f->name);
}

int cli_ranks_settle(struct cli_ranks_file *f, int status)
{
    if (status == 0 && fsync(f->fd) != 0 && errno != EINVAL)
        status = clerror_set(errno, "%s: cannot be written: %s", f->name, strerror(errno));
    if (close(f->fd) != 0 && status == 0)
        status = clerror_set(errno, "%s: cannot be written: %s", f->name, strerror(errno));
    f->fd = -1;
    return world_agree(cli_world, status);
}

int cli_ranks_commit(struct cli_ranks_file *f)
{
    return world_agree(cli_world, cli_ranks_first() ? outfile_commit(&f->out) : 0);
}

void cli_ranks_discard(struct cli_ranks_file *f)
{
    if (f->fd > 0) /* 0: it was never opened */
        close(f->fd);
    f->fd = -1;
    if (cli_ranks_first())
        outfile_discard(&f->out);
}

int cli_ranks_write(const char *name, void (*before)(FILE *fp, void *arg), void *arg, const void *bytes, size_t at, size_t size)
{
    struct cli_ranks_file f;
    if (cli_ranks_open(&f, name, before, arg) != 0)
        return -1;
    if (cli_ranks_settle(&f, cli_ranks_put(&f, at, bytes, size)) == 0)
        return cli_ranks_commit(&f);
    cli_ranks_discard(&f);
    return -1;
}

static int broadcast(void *arg, void *bytes, size_t size)
{
    (void)arg;
    return world_broadcast(cli_world, 0, bytes, size);
}

static int agree(void *arg, int status)
{
    (void)arg;
    return world_agree(cli_world, status);
}

void cli_ranks_together(bool on)
{
    static struct outfile_ranks ranks;
    ranks = (struct outfile_ranks){.rank = world_rank(cli_world), .ranks = world_size(cli_world), .block = getenv("STDCL_DIVIDE_ANEW") ? 4096 : 0,
                                   .broadcast = broadcast, .agree = agree};
    outfile_together(on && ranks.ranks > 1 ? &ranks : NULL);
}
