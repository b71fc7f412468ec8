/* ranks_file.c - one file that all ranks write, each its own bytes of it.
 *
 * Rank 0 makes the file under a temporary name; when all have written and their bytes are on the disk, it gets its name.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include "core/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { NAME_BYTES = 4096, AT_ONCE = 1 << 30 };

struct place {
    char name[NAME_BYTES]; /* the temporary one */
    uint64_t begin;        /* where what stands before ends */
};

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

/* This rank's bytes, as far as the disk. */
static int write_own(const struct place *place, const char *bytes, size_t at, size_t size)
{
    const int fd = open(place->name, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return clerror_set(errno, "%s: cannot be opened: %s; all ranks must see the folder", place->name, strerror(errno));
    int status = write_all(fd, bytes, size, place->begin + at, place->name);
    if (status == 0 && fsync(fd) != 0 && errno != EINVAL)
        status = clerror_set(errno, "%s: cannot be written: %s", place->name, strerror(errno));
    if (close(fd) != 0 && status == 0)
        status = clerror_set(errno, "%s: cannot be written: %s", place->name, strerror(errno));
    return status;
}

static int make(struct outfile *out, const char *name, void (*before)(FILE *fp, void *arg), void *arg, struct place *place)
{
    if (outfile_open(out, name) != 0)
        return -1;
    if (!out->temporary)
        return clerror_set(EINVAL, "%s: is no file that ranks can write together", name);
    if (strlen(out->temporary) >= NAME_BYTES)
        return clerror_set(ENAMETOOLONG, "%s: is too long a name", name);
    before(out->fp, arg);
    const off_t end = fflush(out->fp) == 0 ? lseek(out->fd, 0, SEEK_CUR) : -1;
    if (end < 0 || outfile_check(out) != 0)
        return -1;
    snprintf(place->name, NAME_BYTES, "%s", out->temporary);
    place->begin = (uint64_t)end;
    return 0;
}

int cli_ranks_write(const char *name, void (*before)(FILE *fp, void *arg), void *arg, const void *bytes, size_t at, size_t size)
{
    struct outfile out = {0};
    struct place place = {.begin = 0};
    int status = world_agree(cli_world, cli_ranks_first() ? make(&out, name, before, arg, &place) : 0);
    if (status == 0)
        status = world_broadcast(cli_world, 0, &place, sizeof place);
    if (status == 0)
        status = world_agree(cli_world, write_own(&place, bytes, at, size));
    if (status == 0 && cli_ranks_first())
        status = outfile_commit(&out);
    else if (cli_ranks_first())
        outfile_discard(&out);
    return world_agree(cli_world, status);
}
