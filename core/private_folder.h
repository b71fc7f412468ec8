/* private_folder.h - folders in /tmp, where everybody can write, that are this user's own.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_PRIVATE_FOLDER_H
#define CORE_PRIVATE_FOLDER_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Open /tmp/stdcl-WORD-UID, made if it is not there, and write its path. Return a descriptor; -1
 * with errno, EACCES if it is another user's, a link, or if others can write in it. */
static inline int private_folder_open(const char *word, char *path, size_t size)
{
    struct stat info;
    snprintf(path, size, "/tmp/stdcl-%s-%u", word, (unsigned)geteuid());
    (void)mkdir(path, 0700); /* usually it is there; open tells why it is not */
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        errno = EACCES;
    if (fd < 0 || (fstat(fd, &info) == 0 && info.st_uid == geteuid() && !(info.st_mode & 022)))
        return fd;
    close(fd);
    errno = EACCES;
    return -1;
}

#endif
