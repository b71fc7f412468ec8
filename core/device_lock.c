/* device_lock.c - locks that assign devices to processes.
 *
 * A lock is flock on a file that names key and device, in a folder of this user in /tmp, or in
 * $STDCL_LOCK_DIR, which users of a group can share. The kernel releases it when the process ends.
 * /tmp is everybody's: nothing there is used that is not this user's own.
 * SPDX-License-Identifier: MIT
 */
#include "core/context.h"
#include "core/private_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The folder. ---- */

/* Open the folder; -1 after fail(). *own: it is of this user only. */
static int open_lock_folder(bool *own)
{
    char made[64] = "";
    const char *shared = getenv("STDCL_LOCK_DIR");
    *own = !shared || !*shared;
    const int fd = *own ? private_folder_open("lock", made, sizeof made)
                        : open(shared, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 ? fd
                   : fail(errno, 0,
                          "clcontext_create: the folder of device locks %s cannot be used: %s; "
                          "STDCL_LOCK_DIR may name another folder",
                          *own ? made : shared,
                          *own && errno == EACCES
                              ? "it is not this user's own, or others may write in it"
                              : strerror(errno));
}

/* ---- Locks that this process holds. ---- */

/* Contexts of one process share a lock: they do not block each other. */
static struct held {
    dev_t device;
    ino_t inode;
    int fd;
    size_t users;
} * held;
static size_t held_count;
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;

static struct held *held_find(const struct stat *info)
{
    for (size_t i = 0; i < held_count; i++)
        if (held[i].device == info->st_dev && held[i].inode == info->st_ino)
            return &held[i];
    return NULL;
}

/* Take over the descriptor of a lock. */
static bool held_add(const struct stat *info, int fd)
{
    struct held *more = realloc(held, (held_count + 1) * sizeof *held);
    if (!more)
        return false;
    held = more;
    held[held_count++] = (struct held){info->st_dev, info->st_ino, fd, 1};
    return true;
}

static void held_drop(int fd)
{
    for (size_t i = 0; i < held_count; i++)
        if (held[i].fd == fd && --held[i].users == 0) {
            close(fd);
            held[i] = held[--held_count];
            return;
        }
}

/* ---- One lock. ---- */

enum { LOCK_ERROR = -2, LOCK_BUSY = -1 };

/* Open the file, and create it with the rights of its folder. Reading is enough for flock. */
static int open_lock_file(int folder, const char *name)
{
    enum { FLAGS = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };
    struct stat info;
    int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | FLAGS, 0600);
    if (fd >= 0 && fstat(folder, &info) == 0)
        (void)fchmod(fd, info.st_mode & 0666);
    if (fd < 0 && errno == EEXIST)
        fd = openat(folder, name, O_RDWR | FLAGS);
    if (fd < 0 && errno == EACCES)
        fd = openat(folder, name, O_RDONLY | FLAGS);
    return fd;
}

/* Lock a device. Return the descriptor, LOCK_BUSY, or LOCK_ERROR with errno. A lock that this
 * process holds is busy, too, unless `again`. */
static int claim(int folder, const struct candidate *c, int key, bool own, bool again)
{
    char name[160];
    struct stat info;
    snprintf(name, sizeof name, "%x-%s", (unsigned)key, c->key);
    const int fd = open_lock_file(folder, name);
    if (fd < 0)
        return LOCK_ERROR;
    const bool right = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1 &&
                       (!own || info.st_uid == geteuid());
    struct held *mine = right ? held_find(&info) : NULL;
    if (mine && again)
        mine->users++;
    if (right && !mine && flock(fd, LOCK_EX | LOCK_NB) == 0 && held_add(&info, fd))
        return fd;
    close(fd);
    errno = EINVAL; /* not a file of ours */
    return !right ? LOCK_ERROR : mine && again ? mine->fd : LOCK_BUSY;
}

/* ---- For context.c. ---- */

void device_lock_release(int *claims, size_t n)
{
    pthread_mutex_lock(&held_lock);
    for (size_t i = 0; claims && i < n; i++)
        held_drop(claims[i]);
    pthread_mutex_unlock(&held_lock);
    free(claims);
}

/* Lock more of the devices chosen[*got..n), up to `want` in all, and move them to the front. */
static int take_devices(int folder, const struct candidate **chosen, size_t n, size_t want, int key,
                        bool own, bool again, size_t *got, int *claims)
{
    for (size_t i = *got; i < n && *got < want; i++) {
        const struct candidate *c = chosen[i];
        const int fd = claim(folder, c, key, own, again);
        if (fd == LOCK_ERROR)
            return fail(errno, 0, "clcontext_create: cannot lock %s: %s", c->words[2],
                        errno == EINVAL ? "its lock is no plain file of this user"
                                        : strerror(errno));
        if (fd == LOCK_BUSY)
            continue;
        memmove(chosen + *got + 1, chosen + *got, (i - *got) * sizeof *chosen);
        chosen[*got] = c;
        claims[(*got)++] = fd;
    }
    return 0;
}

/* Prefer devices that no context has locked; then take those of other contexts of this process. */
static int take_in_folder(const struct candidate **chosen, size_t n, size_t want, int key,
                          size_t *got, int *claims)
{
    bool own;
    const int folder = open_lock_folder(&own);
    if (folder < 0)
        return -1;
    pthread_mutex_lock(&held_lock);
    int status = take_devices(folder, chosen, n, want, key, own, false, got, claims);
    if (status == 0)
        status = take_devices(folder, chosen, n, want, key, own, true, got, claims);
    pthread_mutex_unlock(&held_lock);
    close(folder);
    return status;
}

size_t device_lock_take(const struct candidate **chosen, size_t n, size_t want, int key,
                        int **claims)
{
    size_t got = 0;
    *claims = calloc(want, sizeof **claims);
    if (!*claims)
        return (void)fail(ENOMEM, 0, "clcontext_create: out of memory"), 0;
    const int status = take_in_folder(chosen, n, want, key, &got, *claims);
    if (status == 0 && got == want)
        return got;
    device_lock_release(*claims, got);
    if (status == 0)
        fail(EBUSY, 0,
             "clcontext_create: %zu of %zu devices are free under lock key %d, but %zu are wanted",
             got, n, key, want);
    return 0;
}
