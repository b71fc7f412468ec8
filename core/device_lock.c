/* device_lock.c - locks that assign devices to processes.
 * SPDX-License-Identifier: MIT
 */
#include "core/context.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Lock a device: flock on a file that names key and device. The kernel releases it when the
 * process ends. Return the descriptor, -1 if another process holds the lock, -2 if locks cannot be
 * made. */
static int claim(const struct candidate *c, int key)
{
    char path[160];
    snprintf(path, sizeof path, "/tmp/stdcl-lock-%x-%s", (unsigned)key, c->key);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return -2;
    fchmod(fd, 0666); /* for other users; fails harmlessly if the file is not ours */
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    close(fd);
    return -1;
}

void device_lock_release(int *claims, size_t n)
{
    for (size_t i = 0; claims && i < n; i++)
        close(claims[i]);
    free(claims);
}

size_t device_lock_take(const struct candidate **chosen, size_t n, size_t want, int key,
                        int **claims)
{
    size_t got = 0;
    *claims = calloc(want, sizeof **claims);
    if (!*claims)
        return (void)fail(ENOMEM, 0, "clcontext_create: out of memory"), 0;
    for (size_t i = 0; i < n && got < want; i++) {
        int fd = claim(chosen[i], key);
        if (fd == -2) {
            fail(errno, 0, "clcontext_create: cannot make the lock file of %s in /tmp: %s",
                 chosen[i]->words[2], strerror(errno));
            device_lock_release(*claims, got);
            return 0;
        }
        if (fd >= 0) {
            (*claims)[got] = fd;
            chosen[got++] = chosen[i];
        }
    }
    if (got == want)
        return got;
    device_lock_release(*claims, got);
    fail(EBUSY, 0,
         "clcontext_create: %zu of %zu devices are free under lock key %d, but %zu are wanted", got,
         n, key, want);
    return 0;
}
