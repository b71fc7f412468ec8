/* read.c - reads whole files.
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

char *read_file(const char *file, size_t *size, const char *call)
{
    struct stat st;
    char *data = NULL;
    int fd =
        open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: opening a pipe would block */
    if (fd < 0 || fstat(fd, &st) != 0) {
        fail(errno, 0, "%s: %s: %s", call, file, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        fail(EINVAL, 0, "%s: %s is not a regular file", call, file);
    } else if (!(data = malloc((size_t)st.st_size + 1))) {
        fail(ENOMEM, 0, "%s: %s: out of memory for its %lld bytes", call, file,
             (long long)st.st_size);
    } else {
        ssize_t n = 1;
        for (*size = 0; n > 0 && *size<(size_t)st.st_size; *size += n> 0 ? (size_t)n : 0)
            do
                n = read(fd, data + *size, (size_t)st.st_size - *size);
            while (n < 0 && errno == EINTR);
        if (n < 0) {
            fail(errno, 0, "%s: %s: %s", call, file, strerror(errno));
            free(data);
            data = NULL;
        } else {
            data[*size] = '\0';
        }
    }
    if (fd >= 0)
        close(fd);
    return data;
}
