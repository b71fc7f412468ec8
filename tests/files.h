/* files.h - a temporary folder for tests that write files. */
/* SPDX-License-Identifier: MIT */
#ifndef FILES_H
#define FILES_H

#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char files_folder[PATH_MAX];

/* cmocka group setup and teardown: create the folder; remove it with its contents. */
static inline int files_create(void **unused)
{
    const char *tmp = getenv("TMPDIR");
    (void)unused;
    snprintf(files_folder, sizeof files_folder, "%s/stdcl_test.XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(files_folder) ? chmod(files_folder, 0755) : -1;
}

static inline int files_remove(void **unused)
{
    char command[PATH_MAX + 16];
    (void)unused;
    snprintf(command, sizeof command, "rm -rf '%s'", files_folder);
    return system(command);
}

/* Return the path of a name in the folder. The last eight paths stay valid. */
static inline const char *in_folder(const char *name)
{
    static char paths[8][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, PATH_MAX, "%.1000s/%.1000s", files_folder, name);
    return path;
}

static inline void put_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *fp = fopen(path, "wb");
    ready(fp);
    assert_int_equal(fwrite(bytes, 1, size, fp), size);
    assert_int_equal(fclose(fp), 0);
}

static inline void put_text(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

/* Return the content of a file with a terminating 0, for the caller to free; NULL if there is no
 * file. */
static inline char *bytes_of(const char *path, size_t *size)
{
    FILE *fp = fopen(path, "rb");
    char *bytes = NULL;
    long length = 0;
    if (size)
        *size = 0;
    if (!fp)
        return NULL;
    if (fseek(fp, 0, SEEK_END) == 0 && (length = ftell(fp)) >= 0 &&
        (bytes = malloc((size_t)length + 1))) {
        rewind(fp);
        assert_int_equal(fread(bytes, 1, (size_t)length, fp), length);
        bytes[length] = 0;
    }
    fclose(fp);
    if (size)
        *size = (size_t)length;
    return bytes;
}

static inline void holds_text(const char *path, const char *text)
{
    char *bytes = bytes_of(path, NULL);
    ready(bytes);
    assert_string_equal(bytes, text);
    free(bytes);
}

/* Fail unless two files of the folder have the same bytes. */
static inline void check_same_files(const char *one, const char *other)
{
    size_t size1, size2;
    char *bytes1 = bytes_of(in_folder(one), &size1), *bytes2 = bytes_of(in_folder(other), &size2);
    ready(bytes1);
    ready(bytes2);
    assert_int_equal(size1, size2);
    assert_memory_equal(bytes1, bytes2, size1);
    free(bytes1);
    free(bytes2);
}

/* Return the number of entries of a folder whose name contains `part`, hidden entries included. */
static inline int count_files(const char *folder, const char *part)
{
    DIR *dir = opendir(folder);
    int count = 0;
    ready(dir);
    for (struct dirent *e; (e = readdir(dir));)
        count += strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && strstr(e->d_name, part);
    closedir(dir);
    return count;
}

/* Fail unless clerror() contains all of these parts. */
#define says(...) check_says((const char *const[]){__VA_ARGS__, NULL}, __FILE__, __LINE__)
static inline void check_says(const char *const *parts, const char *file, int line)
{
    const char *sentence = clerror();
    for (; *parts; parts++)
        check_contains(sentence, *parts, file, line);
}

/* Fail unless `call` fails with `code` and clerror() contains all parts. clerror() is read once,
 * so this is not `fails` followed by `says`. */
#define fails_saying(code, call, ...)                                                              \
    do {                                                                                           \
        check_forget();                                                                            \
        check_that((call) == -1, #call, "did not return -1", __FILE__, __LINE__);                  \
        assert_int_equal(clerrno, code);                                                           \
        says(__VA_ARGS__);                                                                         \
    } while (0)

#endif
