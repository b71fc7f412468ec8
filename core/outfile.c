/* outfile.c - output files that appear whole or not at all.
 *
 * The bytes go to .NAME.0.tmp in the target's folder, so that the final rename stays within one
 * file system and is atomic. A writer holds a lock (flock) on its temporary file. A temporary file
 * without a lock is the rest of a killed program and is removed; a locked one is skipped, and the
 * next number used. Pipes, devices and standard output cannot be renamed over and are written
 * directly. The names of temporary files are in a fixed table that a signal handler can read.
 * SPDX-License-Identifier: MIT
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie */
#endif
#include "core/outfile.h"

#include "stdcl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The table of temporary files. ----------------------------------------------------------- */

enum { SLOTS = 64 };

/* The process that owns a slot; 0: free; -1: being filled in. Apart from the slots, which cover
 * 64 pages of memory, and usually are all free. */
static atomic_int slot_owner[SLOTS];

/* A child process that writes the file, and would create it again; 0: none. */
static atomic_int slot_writer[SLOTS];

static struct slot {
    ino_t inode;               /* after the rename, a file of the old name is another program's */
    const char *const *within; /* of a folder: names of the files it may contain; NULL: a file */
    char path[PATH_MAX];
} slots[SLOTS];

/* Return the slot that holds the path from now on; -1 with errno, EMFILE if all are in use. */
static int slot_register(const char *path, const char *const *within)
{
    struct stat info;
    if (lstat(path, &info) < 0)
        return -1;
    for (int i = 0; i < SLOTS; i++) {
        int none = 0;
        if (!atomic_compare_exchange_strong(&slot_owner[i], &none, -1))
            continue;
        strcpy(slots[i].path, path); /* make_temporary checked the length */
        slots[i].inode = info.st_ino;
        slots[i].within = within;
        atomic_store(&slot_owner[i], (int)getpid());
        return i;
    }
    errno = EMFILE;
    return -1;
}

static void slot_free(int slot)
{
    atomic_store(&slot_writer[slot], 0);
    atomic_store(&slot_owner[slot], 0);
}

/* True if the file is this process's and exists; a forked child leaves its parent's files alone. */
static bool slot_is_ours(int slot)
{
    struct stat info;
    const int owner = atomic_load(&slot_owner[slot]);
    return owner > 0 && owner == (int)getpid() && lstat(slots[slot].path, &info) == 0 &&
           info.st_ino == slots[slot].inode;
}

static void slot_remove_folder(const char *path, const char *const *within)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (; fd >= 0 && *within; within++)
        unlinkat(fd, *within, 0);
    if (fd >= 0)
        close(fd);
    rmdir(path);
}

static atomic_int making; /* threads between creating and registering a file */

/* Block signals in this thread until the new file is registered; the handler in other threads
 * waits. */
static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
    atomic_fetch_add(&making, 1);
}

static void end_making(const sigset_t *before)
{
    atomic_fetch_sub(&making, 1);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Async-signal-safe. */
static void slot_end_writer(int slot)
{
    const int writer = atomic_exchange(&slot_writer[slot], 0);
    if (writer > 0 && kill(writer, SIGKILL) == 0)
        while (waitpid(writer, NULL, 0) < 0 && errno == EINTR)
            ;
}

void outfile_unlink_all(void)
{
    int before = errno;
    for (int left = 1000; atomic_load(&making) > 0 && left > 0; left--)
        poll(NULL, 0, 1);
    for (int i = 0; i < SLOTS; i++)
        if (atomic_load(&slot_owner[i]) == (int)getpid())
            slot_end_writer(i);
    for (int i = 0; i < SLOTS; i++)
        if (slot_is_ours(i) && !slots[i].within)
            unlink(slots[i].path);
    for (int i = 0; i < SLOTS; i++) /* folders after the files in them */
        if (slot_is_ours(i) && slots[i].within)
            slot_remove_folder(slots[i].path, slots[i].within);
    errno = before;
}

int outfile_folder(char *path, size_t size, const char *word, const char *const *within)
{
    const char *tmp = getenv("TMPDIR");
    const int length = snprintf(path, size, "%s/stdcl-%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", word);
    sigset_t before;
    block_signals(&before);
    errno = ENAMETOOLONG;
    const bool made = length < (int)size && length < PATH_MAX && mkdtemp(path);
    int code = made ? 0 : errno;
    if (made && slot_register(path, within) < 0) {
        code = errno;
        rmdir(path);
    }
    end_making(&before);
    return code ? clerror_set(code, "cannot make a temporary folder '%s': %s", path, strerror(code))
                : 0;
}

void outfile_folder_remove(const char *path)
{
    for (int i = 0; i < SLOTS; i++)
        if (slot_is_ours(i) && slots[i].within && strcmp(slots[i].path, path) == 0) {
            slot_remove_folder(path, slots[i].within);
            slot_free(i);
        }
}

static void on_signal(int number)
{
    outfile_unlink_all();
    raise(number); /* SA_RESETHAND: now the default action */
}

void outfile_guard(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGQUIT};
    static atomic_flag done = ATOMIC_FLAG_INIT;
    struct sigaction now, ours;
    if (atomic_flag_test_and_set(&done))
        return;
    memset(&ours, 0, sizeof ours);
    ours.sa_handler = on_signal;
    ours.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(numbers[i], &ours, NULL);
    atexit(outfile_unlink_all);
}

/* ---- Sentences. ------------------------------------------------------------------------------ */

/* Length of the folder part of a path, for messages and the temporary name: "out/" of "out/x", ""
 * of "x". */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

static bool is_folder(const char *path, int length)
{
    char name[4096];
    struct stat what;
    return snprintf(name, sizeof name, "%.*s", length, path) < (int)sizeof name &&
           stat(name, &what) == 0 && S_ISDIR(what.st_mode);
}

/* Report why the file `path`, `name` to the user, cannot be created or written. */
static int outfile_explain(const char *name, const char *path, int code)
{
    int length = folder_length(path);
    const char *folder = length ? path : ".";
    length = length > 1 ? length - 1 : 1;
    switch (code) {
    case ENOENT:
        if (is_folder(folder, length)) /* such as /proc */
            return clerror_set(code, "%s: no file can be made in the folder '%.*s'", name, length,
                               folder);
        return clerror_set(code, "%s: the folder '%.*s' does not exist; create it first", name,
                           length, folder);
    case ENOTDIR:
        return clerror_set(code, "%s: '%.*s' is not a folder", name, length, folder);
    case EACCES:
    case EPERM:
        return clerror_set(code, "%s: no permission to write in the folder '%.*s'", name, length,
                           folder);
    case EROFS:
        return clerror_set(code, "%s: the file system of '%.*s' can only be read", name, length,
                           folder);
    case ENOSPC:
        return clerror_set(code, "%s: the disk is full; nothing was written", name);
    case EDQUOT:
        return clerror_set(code, "%s: your disk quota is used up; nothing was written", name);
    case EFBIG:
        return clerror_set(
            code, "%s: the file grows larger than the system allows; nothing was written", name);
    case ENAMETOOLONG:
        return clerror_set(code, "%.60s...: the name is too long", name);
    case ECANCELED:
        return clerror_set(
            code, "%s: was given up, since writing it took too long; nothing was written", name);
    default:
        return clerror_set(code, "%s: cannot be written: %s", name, strerror(code));
    }
}

/* ---- The stream. ----------------------------------------------------------------------------- */

/* stdio records that a write failed but not why, so these writes are our own. */
struct sink {
    int fd;
    int error;                         /* errno of the first failed write */
    bool kept;                         /* written whole, whatever the time limit */
    size_t late;                       /* bytes written since the time limit passed */
    const struct outfile_ranks *ranks; /* or NULL */
    unsigned long long at;             /* of these: position of the next byte */
    bool divided;                      /* this rank's own bytes (outfile_divide) */
};

static double (*time_left)(void);

void outfile_limit(double (*left)(void))
{
    time_left = left;
}

void outfile_keep(struct outfile *out)
{
    out->sink->kept = true;
}

static bool is_hurried(const struct sink *sink)
{
    return time_left && !sink->kept && isfinite(time_left());
}

/* Small outputs, and the last lines of a long table, are finished: that takes less time than an
 * explanation. */
static bool sink_gives_up(struct sink *sink, size_t size)
{
    enum { SMALL = 4 << 20 };
    if (sink->error || !is_hurried(sink))
        return sink->error;
    sink->late += size;
    if (sink->late > SMALL && !(time_left() > 0))
        sink->error = ECANCELED;
    return sink->error;
}

static int wait_until_writable(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    return poll(&one, 1, -1) < 0 && errno != EINTR ? -1 : 0;
}

size_t outfile_own_part(const struct outfile_ranks *r, unsigned long long at, size_t size,
                        size_t *skip)
{
    const unsigned long long block = r->block ? r->block : 1 << 20,
                             ranks = (unsigned long long)r->ranks, turn = at / block % ranks;
    const unsigned long long wait = (ranks + (unsigned long long)r->rank - turn) %
                                    ranks; /* blocks until this rank's next one */
    const unsigned long long begin = wait ? (at / block + wait) * block : at,
                             end = (begin / block + 1) * block;
    *skip = begin - at < size ? (size_t)(begin - at) : size;
    return end - at < size ? (size_t)(end - at) - *skip : size - *skip;
}

/* Write this rank's blocks of a common file, or its own bytes. */
static ssize_t write_blocks(struct sink *sink, const char *data, size_t size)
{
    size_t done = 0, skip;
    while (done < size && !sink->error) {
        size_t own = outfile_own_part(sink->ranks, sink->at, size - done, &skip);
        if (sink->divided) {
            own = size - done;
            skip = 0;
        }
        const ssize_t n =
            own ? pwrite(sink->fd, data + done + skip, own, (off_t)(sink->at + skip)) : 0;
        if (n < 0 && errno != EINTR)
            sink->error = errno;
        skip = n < 0 ? 0 : skip + (size_t)n;
        done += skip;
        sink->at += skip;
    }
    errno = sink->error;
    return (ssize_t)done;
}

/* Write all bytes, or fewer after a write has failed. */
static ssize_t sink_write(void *cookie, const char *data, size_t size)
{
    enum { MOST = 1 << 22 }; /* bytes between two looks at the clock */
    struct sink *sink = cookie;
    size_t done = 0;
    if (sink->ranks)
        return write_blocks(sink, data, size);
    while (done < size && !sink_gives_up(sink, size - done < MOST ? size - done : MOST)) {
        const ssize_t n = write(sink->fd, data + done, size - done < MOST ? size - done : MOST);
        if (n >= 0)
            done += (size_t)n;
        else if (errno == EAGAIN ? wait_until_writable(sink->fd) < 0 : errno != EINTR)
            sink->error = errno;
    }
    errno = sink->error;
    return (ssize_t)done;
}

static int sink_close(void *cookie)
{
    const struct sink *sink = cookie;
    return close(sink->fd);
}

/* Takes over the descriptor, also on failure. */
static int open_stream(struct outfile *out, int fd)
{
    static const cookie_io_functions_t functions = {.write = sink_write, .close = sink_close};
    struct sink *sink = malloc(sizeof *sink);
    FILE *fp = sink ? fopencookie(sink, "w", functions) : NULL;
    if (!fp) {
        free(sink);
        close(fd);
        return ENOMEM;
    }
    *sink = (struct sink){.fd = fd};
    setvbuf(fp, NULL, _IOFBF, 1 << 16);
    out->fp = fp;
    out->fd = fd;
    out->sink = sink;
    return 0;
}

/* ---- Opening. -------------------------------------------------------------------------------- */

static void outfile_release(struct outfile *out)
{
    free(out->name);
    free(out->target);
    free(out->temporary);
    free(out->sink);
    memset(out, 0, sizeof *out);
}

/* The descriptor named by /dev/stdout and the like, or -1. Opening such a name again would write
 * from the start of a redirected file, and renaming over it would detach it. */
static int standing_for(const char *name)
{
    static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(name, "-") == 0 || strcmp(name, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(name, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0 && name[length] >= '0' && name[length] <= '9')
            return atoi(name + length);
    }
    return -1;
}

static int open_directly(struct outfile *out, int fd)
{
    if (fd >= 0) {
        if (fd == STDOUT_FILENO)
            fflush(stdout);
        fd = dup(fd);
    } else {
        fd = open(out->name, O_WRONLY | O_CLOEXEC);
    }
    if (fd < 0 && errno == EBADF)
        return clerror_set(EBADF, "%s: is not open", out->name);
    if (fd < 0)
        return clerror_set(errno, "%s: cannot be opened for writing: %s", out->name,
                           strerror(errno));
    if (open_stream(out, fd) != 0)
        return clerror_set(ENOMEM, "%s: out of memory: cannot open it", out->name);
    return 0;
}

/* Remove a temporary file that nobody locks; false if somebody does or it is not ours. */
static bool remove_stale(const char *path)
{
    struct stat opened, named;
    const int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool stale = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 &&
                       lstat(path, &named) == 0 && opened.st_ino == named.st_ino &&
                       opened.st_uid == geteuid();
    const bool removed = stale && unlink(path) == 0;
    if (fd >= 0)
        close(fd);
    return removed;
}

/* Create out->temporary and lock it. EEXIST: the name is in use. */
static int create_locked(const struct outfile *out, int *fd)
{
    struct stat info;
    *fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*fd < 0)
        return errno;
    /* Another program may have removed it as stale before we had the lock. */
    const bool lost = (flock(*fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) ||
                      (fstat(*fd, &info) == 0 && info.st_nlink == 0);
    if (lost)
        close(*fd);
    return lost ? EEXIST : 0;
}

/* Register the file once it is ours: before that, a signal handler must not remove what may be
 * another program's file. */
static int create_and_remember(struct outfile *out, int *fd)
{
    sigset_t before;
    block_signals(&before);
    int code = create_locked(out, fd);
    if (code == 0)
        out->slot = slot_register(out->temporary, NULL);
    if (code == 0 && out->slot < 0) {
        code = errno;
        unlink(out->temporary);
        close(*fd);
    }
    end_making(&before);
    return code;
}

static int create_remembered(struct outfile *out)
{
    int fd, code = create_and_remember(out, &fd);
    if (code)
        return code;
    code = open_stream(out, fd);
    if (code) {
        slot_free(out->slot);
        unlink(out->temporary);
    }
    return code;
}

/* Create the temporary file next to the target. */
static int make_temporary(struct outfile *out)
{
    const char *target = out->target;
    int folder = folder_length(target), code;
    size_t size = (size_t)folder + 300;
    if (size > PATH_MAX || strlen(target + folder) > NAME_MAX)
        return outfile_explain(out->name, target, ENAMETOOLONG);
    out->temporary = malloc(size);
    if (!out->temporary)
        return outfile_explain(out->name, target, ENOMEM);
    unsigned number = 0;
    do {
        snprintf(out->temporary, size, "%.*s.%.200s.%u.tmp", folder, target, target + folder,
                 number);
        code = create_remembered(out);
        number += code == EEXIST && !remove_stale(out->temporary);
    } while (code == EEXIST);
    return code ? outfile_explain(out->name, target, code) : 0;
}

/* Follow symbolic links to the file, so that the links stay. */
static int find_target(struct outfile *out)
{
    struct stat info;
    if (lstat(out->name, &info) == 0 && S_ISLNK(info.st_mode)) {
        out->target = realpath(out->name, NULL);
        if (!out->target)
            return clerror_set(errno, "%s: is a symbolic link that leads nowhere; remove it first",
                               out->name);
        return 0;
    }
    out->target = strdup(out->name);
    return out->target ? 0 : clerror_set(ENOMEM, "%s: out of memory for its name", out->name);
}

static int open_for_rename(struct outfile *out, const struct stat *existing)
{
    if (existing && faccessat(AT_FDCWD, out->name, W_OK, AT_EACCESS) < 0)
        return clerror_set(errno, "%s: the file exists and may not be overwritten (%s)", out->name,
                           strerror(errno));
    if (find_target(out) < 0 || make_temporary(out) < 0)
        return -1;
    if (existing)
        (void)fchmod(out->fd, existing->st_mode & 0777);
    return 0;
}

static bool nowhere;

void outfile_nowhere(void)
{
    nowhere = true;
}

static int open_alone(struct outfile *out, const char *name)
{
    struct stat info;
    int fd = standing_for(name), status;
    memset(out, 0, sizeof *out);
    out->name = strdup(fd == STDOUT_FILENO ? "standard output" : name);
    if (!out->name)
        return clerror_set(ENOMEM, "%s: out of memory for its name", name);
    bool exists = fd < 0 && stat(name, &info) == 0;
    if (!*name)
        status = clerror_set(EINVAL, "the name of the output file is empty");
    else if (exists && S_ISDIR(info.st_mode))
        status = clerror_set(EISDIR, "%s: is a folder; give the name of a file in it", name);
    else if (fd >= 0 || (exists && !S_ISREG(info.st_mode)))
        status = open_directly(out, fd);
    else
        status = open_for_rename(out, exists ? &info : NULL);
    if (status < 0)
        outfile_release(out);
    return status;
}

/* ---- Together. ------------------------------------------------------------------------------- */

static _Thread_local const struct outfile_ranks *together;

void outfile_together(const struct outfile_ranks *ranks)
{
    together = ranks;
}

int outfile_agree(int status)
{
    return together ? together->agree(together->arg, status) : status;
}

int outfile_divide(struct outfile *out, unsigned long long own)
{
    unsigned long long lower = 0;
    fflush(out->fp); /* a failed write is reported by the commit */
    if (!out->ranks)
        return 0;
    if (out->ranks->add_lower(out->ranks->arg, own, &lower) != 0)
        return -1;
    out->sink->at += lower;
    out->sink->divided = true;
    return 0;
}

/* The temporary file created by the first rank, and a mark written to it: on another host the same
 * name may be another file. */
struct begun {
    char temporary[PATH_MAX];
    char mark[32];
};

static int mark_file(const struct outfile *out, struct begun *begun)
{
    uint64_t number[2] = {0};
    if (!out->temporary)
        return 0;
    if (getentropy(number, sizeof number) != 0)
        return outfile_explain(out->name, out->target, errno);
    snprintf(begun->temporary, sizeof begun->temporary, "%s", out->temporary);
    snprintf(begun->mark, sizeof begun->mark, "%.15" PRIx64 "%.15" PRIx64, number[0] >> 4,
             number[1] >> 4);
    errno = ENOSPC; /* of a short write */
    if (pwrite(out->fd, begun->mark, sizeof begun->mark, 0) != (ssize_t)sizeof begun->mark)
        return outfile_explain(out->name, out->target, errno);
    fsync(out->fd); /* for other hosts */
    return 0;
}

static int join_file(struct outfile *out, const struct begun *begun, const char *name)
{
    char mark[sizeof begun->mark] = "";
    int fd = open(begun->temporary, O_RDWR | O_CLOEXEC);
    const int code = fd < 0 ? errno : 0;
    memset(out, 0, sizeof *out);
    if (fd >= 0 && (pread(fd, mark, sizeof mark, 0) != (ssize_t)sizeof mark ||
                    memcmp(mark, begun->mark, sizeof mark) != 0)) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        return clerror_set(
            code ? code : ENOENT,
            "%s: all ranks write it, and must see its folder: %s, which rank 0 has made, %s%s",
            name, begun->temporary, code ? "cannot be opened: " : "is another file here",
            code ? strerror(code) : "");
    out->name = strdup(name);
    if (out->name && open_stream(out, fd) == 0)
        return 0;
    outfile_release(out);
    return clerror_set(ENOMEM, "%s: out of memory: cannot open it", name);
}

/* If the first rank writes directly, the other ranks write nothing. */
static int open_together(struct outfile *out, const char *name, const struct outfile_ranks *r)
{
    struct begun begun = {.mark = ""};
    const bool first = r->rank == 0;
    int status = first ? open_alone(out, name) : 0;
    if (status == 0 && first)
        status = mark_file(out, &begun);
    status = r->agree(r->arg, status);
    if (status == 0)
        status = r->broadcast(r->arg, &begun, sizeof begun);
    if (status == 0 && !first)
        status = *begun.temporary ? join_file(out, &begun, name) : open_alone(out, "/dev/null");
    status = r->agree(r->arg, status);
    if (status == 0) /* all ranks have read the mark, and none writes yet */
        status = r->agree(r->arg, first && out->temporary && ftruncate(out->fd, 0) != 0
                                      ? outfile_explain(out->name, out->target, errno)
                                      : 0);
    if (status != 0) {
        outfile_discard(out);
        return -1;
    }
    out->ranks = out->sink->ranks = *begun.temporary ? r : NULL;
    return 0;
}

int outfile_open(struct outfile *out, const char *name)
{
    memset(out, 0, sizeof *out);
    return together ? open_together(out, name, together)
                    : open_alone(out, nowhere ? "/dev/null" : name);
}

void outfile_set_writer(const struct outfile *out, pid_t child)
{
    if (out->temporary)
        atomic_store(&slot_writer[out->slot], (int)child);
}

/* ---- Closing. -------------------------------------------------------------------------------- */

int outfile_ask(struct outfile *out, size_t size)
{
    return sink_gives_up(out->sink, size) ? outfile_failed(out, out->sink->error) : 0;
}

int outfile_failed(const struct outfile *out, int code)
{
    return outfile_explain(out->name, out->target ? out->target : out->name, code);
}

int outfile_check(struct outfile *out)
{
    return ferror(out->fp) ? outfile_failed(out, out->sink->error) : 0;
}

/* Some files cannot be synced (EINVAL, EROFS, ENOTSUP); others must succeed. */
int outfile_sync(int fd)
{
    int status;
    do
        status = fsync(fd);
    while (status < 0 && errno == EINTR);
    if (status == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP)
        return 0;
    return errno;
}

/* Make the new name survive a power failure, where the system allows it. */
static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    int length = folder_length(path);
    snprintf(folder, sizeof folder, "%.*s", length ? length : 1, length ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

/* Flush and close; 0 or the errno of the failure. */
static int outfile_close(struct outfile *out)
{
    int code = 0;
    if (fflush(out->fp) != 0 || ferror(out->fp))
        code = out->sink->error ? out->sink->error : EIO;
    else if ((out->temporary || out->ranks) && !out->nosync)
        code = outfile_sync(out->fd);
    if (fclose(out->fp) != 0 && !code)
        code = errno;
    out->fp = NULL;
    return code;
}

/* Rename the file to its final name, or remove it; 0 or the errno of the failure. A signal
 * meanwhile removes it too. */
static int give_name(struct outfile *out, int code)
{
    if (!code && rename(out->temporary, out->target) < 0)
        code = errno;
    if (code)
        unlink(out->temporary);
    else if (!out->nosync)
        sync_folder(out->target);
    slot_free(out->slot);
    return code;
}

int outfile_commit(struct outfile *out)
{
    if (!out->fp)
        return 0;
    /* A second descriptor holds the lock until the rename: another program removes a file without
     * a lock. */
    const int lock = out->temporary ? fcntl(out->fd, F_DUPFD_CLOEXEC, 0) : -1;
    const struct outfile_ranks *r = out->ranks;
    const char *path = out->target ? out->target : out->name;
    out->nosync = out->nosync || is_hurried(out->sink);
    int code = outfile_close(out), status = code ? outfile_explain(out->name, path, code) : 0;
    const bool all =
        !r || (status = r->agree(r->arg, status)) == 0; /* rename after all ranks have written */
    if (out->temporary) {
        code = give_name(out, status == 0 ? 0 : EIO);
        status = status == 0 && code ? outfile_explain(out->name, path, code) : status;
    }
    if (lock >= 0)
        close(lock);
    outfile_release(out);
    return r && all ? r->agree(r->arg, status) : status;
}

void outfile_discard(struct outfile *out)
{
    if (!out->fp)
        return;
    const struct outfile_ranks *r = out->ranks;
    if (out->temporary) {
        unlink(out->temporary); /* while it is locked, and therefore ours */
        slot_free(out->slot);
    }
    fclose(out->fp);
    outfile_release(out);
    if (r) /* other ranks may be in their commit */
        r->agree(r->arg, -1);
}
