/* disk_cache.c - disk cache of programs built with CLLD_CACHE.
 *
 * PoCL preprocesses OpenCL's headers, 20 ms, before it finds a program in its own cache; it loads a
 * binary in 2 ms. But to produce a binary it compiles each kernel once more, for any group size, so
 * a program must ask for this cache.
 *
 * A file holds a line with the key, everything the binary depends on, and the binary. It is used if
 * the checksum in its first line is right and its key is equal. Every failure here only means that
 * the program is built from source.
 *
 * PoCL (to 7.1) reads a binary from files of its own cache and fails if another process adds one
 * meanwhile by starting a kernel of the same program. A process that builds an uncached program
 * therefore holds the lock file: exclusively until the binary is written; or, if it does not store
 * the binary, shared with other such processes until it exits.
 * SPDX-License-Identifier: MIT
 */
#include "core/environment.h"
#include "core/program.h"
#include "core/outfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 64, MOST_BYTES = 64 << 20, MAX_TRIES = 3000 /* in units of 10 ms */ };
static const char suffix[] = ".program";

/* ---- The folder for what may be lost. ---- */

bool cache_path(char *path, size_t size, const char *name)
{
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    int n = cache && *cache == '/' ? snprintf(path, size, "%s/stdcl/%s", cache, name)
            : home && *home        ? snprintf(path, size, "%s/.cache/stdcl/%s", home, name)
                                   : -1;
    return n > 0 && (size_t)n < size;
}

void cache_folders(const char *path)
{
    char folder[CACHE_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *p = strchr(folder + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        mkdir(folder, 0700);
        *p = '/';
    }
}

/* ---- Keys. ---- */

/* FNV-1a over words of eight bytes, then the remaining bytes. */
uint64_t bytes_hash(const void *data, size_t size)
{
    const unsigned char *byte = data;
    uint64_t h = 14695981039346656037u, word;
    for (; size >= sizeof word; byte += sizeof word, size -= sizeof word) {
        memcpy(&word, byte, sizeof word);
        h = (h ^ word) * 1099511628211u;
        h ^= h >> 32;
    }
    while (size--)
        h = (h ^ *byte++) * 1099511628211u;
    return h;
}

/* Write the variables that change how PoCL compiles, and some that change nothing. */
static void print_environment(FILE *fp)
{
    for (char **variable = environ; variable && *variable; variable++)
        if (strncmp(*variable, "POCL_", 5) == 0 && strncmp(*variable, "POCL_CACHE_DIR=", 15) != 0)
            fprintf(fp, "%s\n", *variable);
}

/* Write the key: everything the binary depends on. False if the program is not to be cached. */
static bool find_key(struct disk_entry *s, const struct device *d, const char *source,
                     const char *options)
{
    char identity[EMBEDDED_IDENTITY], name[64];
    const char *wish = getenv("STDCL_CACHE");
    if (!(d->type & CL_DEVICE_TYPE_CPU) || (wish && strcmp(wish, "0") == 0) || debug_prints() ||
        !program_cache_applies(source, options) ||
        !device_identity(d->id, identity, sizeof identity) || !strcasestr(identity, "PoCL"))
        return false;
    FILE *fp = open_memstream(&s->key, &s->size);
    if (!fp)
        return false;
    fprintf(fp, "stdcl %s\n%s\n", stdcl_version(), identity);
    print_environment(fp);
    fprintf(fp, "%s%c%s", options, 0, source);
    const bool whole = !ferror(fp);
    if (fclose(fp) != 0 || !whole || s->size > MOST_BYTES / 4)
        return false;
    snprintf(name, sizeof name, "programs/%016" PRIx64 "%s", bytes_hash(s->key, s->size), suffix);
    return cache_path(s->path, sizeof s->path, name);
}

/* ---- Reading. ---- */

/* The binary within a file's bytes, and its size; NULL if the file is damaged or has another key.
 */
static const unsigned char *binary_in(const struct disk_entry *s, const char *bytes, size_t size,
                                      size_t *binary)
{
    size_t key;
    uint64_t sum;
    const char *line = memchr(bytes, '\n', size < 128 ? size : 128);
    if (!line || sscanf(bytes, "stdcl-program-1 %zu %zu %" SCNx64 "\n", &key, binary, &sum) != 3)
        return NULL;
    const size_t head = (size_t)(line + 1 - bytes);
    if (key != s->size || *binary == 0 || size - head < key || size - head - key != *binary ||
        memcmp(line + 1, s->key, key) != 0 || bytes_hash(line + 1, size - head) != sum)
        return NULL;
    return (const unsigned char *)line + 1 + key;
}

static cl_program disk_entry_read(const struct device *d, const unsigned char *binary, size_t size)
{
    cl_int status, err;
    cl_program program =
        clCreateProgramWithBinary(d->context, 1, &d->id, &size, &binary, &status, &err);
    if (!program || clBuildProgram(program, 1, &d->id, NULL, NULL, NULL) == CL_SUCCESS)
        return program;
    clReleaseProgram(program);
    return NULL;
}

/* The bytes of the file; NULL if there is none. Files of other users are refused: they may hold
 * anything. The file that was examined is the one that is read. */
static char *disk_entry_bytes(const struct disk_entry *s, size_t *size)
{
    struct stat st;
    char *bytes = NULL;
    const int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        st.st_size > 0 && st.st_size <= MOST_BYTES)
        bytes = malloc((size_t)st.st_size);
    for (*size = 0; bytes && *size < (size_t)st.st_size;) {
        const ssize_t n = pread(fd, bytes + *size, (size_t)st.st_size - *size, (off_t)*size);
        if (n <= 0)
            break;
        *size += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

/* Load the program. */
static cl_program disk_entry_take(const struct disk_entry *s, const struct device *d)
{
    cl_program program = NULL;
    size_t size, binary;
    char *bytes = disk_entry_bytes(s, &size);
    const unsigned char *found = bytes ? binary_in(s, bytes, size, &binary) : NULL;
    if (found && (program = disk_entry_read(d, found, binary)) != NULL)
        utimensat(AT_FDCWD, s->path, NULL, 0); /* least recently used files are evicted first */
    free(bytes);
    return program;
}

/* ---- The lock. ---- */

/* Shared lock, held from the build of an uncached program until the process exits. One file is
 * enough. */
static int together = -1;
static pthread_mutex_t together_lock = PTHREAD_MUTEX_INITIALIZER;

static void hold_together(int fd)
{
    struct stat held, more;
    pthread_mutex_lock(&together_lock);
    if (together >= 0 && fstat(together, &held) == 0 && fstat(fd, &more) == 0 &&
        held.st_dev == more.st_dev && held.st_ino == more.st_ino)
        close(fd);
    else
        together = fd;
    pthread_mutex_unlock(&together_lock);
}

/* Load the program if another process has stored it meanwhile. Else s->lock is held exclusively,
 * or is -1 if this process is not to store the program. */
static cl_program lock_or_take(struct disk_entry *s, const struct device *d)
{
    char path[sizeof s->path];
    cl_program program = NULL;
    if (!cache_path(path, sizeof path, "programs/lock"))
        return NULL;
    cache_folders(path);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool alone = false, shared = false;
    static atomic_int max_tries = MAX_TRIES; /* after a timeout, later programs do not wait again */
    for (int tries = 0; fd >= 0 && !program && !alone && !shared && tries < max_tries; tries++) {
        if (tries) /* another process stores a program, perhaps this one */
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        alone = flock(fd, LOCK_EX | LOCK_NB) == 0;
        shared = !alone && flock(fd, LOCK_SH | LOCK_NB) == 0;
        if (!alone && !shared && errno != EWOULDBLOCK && errno != EINTR)
            break;
        program = disk_entry_take(s, d);
    }
    if (fd >= 0 && !program && !alone && !shared)
        max_tries = 1;
    if (alone && !program)
        s->lock = fd;
    else if (shared && !program)
        hold_together(fd);
    else if (fd >= 0)
        close(fd);
    return program;
}

/* ---- Writing. ---- */

unsigned char *binary_of(cl_program program, size_t *size, cl_int *err)
{
    unsigned char *binary = NULL;
    *err = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL);
    if (*err == CL_SUCCESS && (binary = malloc(*size ? *size : 1)) != NULL)
        *err = clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
    if (binary && *err == CL_SUCCESS && *size)
        return binary;
    free(binary);
    return NULL;
}

/* Evict the oldest files until the limits hold. */
static void remove_oldest(const char *path)
{
    char folder[CACHE_PATH], oldest[sizeof((struct dirent *)0)->d_name];
    size_t count = MOST_FILES + 1;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    for (int tries = 0; count > MOST_FILES && tries < MOST_FILES; tries++) {
        struct timespec least = {0};
        DIR *dir = opendir(folder);
        count = 0;
        for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
            struct stat st;
            const size_t length = strlen(e->d_name);
            if (e->d_name[0] == '.' || length < sizeof suffix ||
                strcmp(e->d_name + length - (sizeof suffix - 1), suffix) != 0 ||
                fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
                continue;
            if (count++ == 0 || st.st_mtim.tv_sec < least.tv_sec ||
                (st.st_mtim.tv_sec == least.tv_sec && st.st_mtim.tv_nsec < least.tv_nsec)) {
                least = st.st_mtim;
                memcpy(oldest, e->d_name, length + 1);
            }
        }
        if (dir && count > MOST_FILES)
            unlinkat(dirfd(dir), oldest, 0);
        if (dir)
            closedir(dir);
    }
}

static bool disk_entry_write(const struct disk_entry *s, const unsigned char *binary, size_t size)
{
    struct outfile out;
    char *bytes = malloc(s->size + size);
    if (!bytes || outfile_open(&out, s->path) != 0) {
        free(bytes);
        return false;
    }
    memcpy(bytes, s->key, s->size);
    memcpy(bytes + s->size, binary, size);
    out.nosync = true;
    fprintf(out.fp, "stdcl-program-1 %zu %zu %" PRIx64 "\n", s->size, size,
            bytes_hash(bytes, s->size + size));
    fwrite(bytes, 1, s->size + size, out.fp);
    free(bytes);
    return outfile_commit(&out) == 0 &&
           access(s->path, R_OK) == 0; /* one of several ranks writes files */
}

/* A binary does not contain the compiler's warnings, so a program with warnings is not stored. */
static bool disk_entry_store(const struct disk_entry *s, cl_program program, const char *log)
{
    struct failure before;
    const bool silent = log && log[strspn(log, " \t\r\n")] == '\0';
    size_t size = 0;
    cl_int err = CL_SUCCESS;
    unsigned char *binary = silent ? binary_of(program, &size, &err) : NULL;
    failure_save(&before);
    const bool stored = binary && size < MOST_BYTES / 2 && disk_entry_write(s, binary, size);
    failure_restore(&before);
    free(binary);
    if (stored)
        remove_oldest(s->path);
    return stored;
}

/* ---- For build.c. ---- */

cl_program disk_cache_find(struct disk_entry *s, const struct device *d, const char *source,
                           const char *options)
{
    cl_program program = NULL;
    if (find_key(s, d, source, options) && (program = disk_entry_take(s, d)) == NULL)
        program = lock_or_take(s, d);
    return program;
}

void disk_cache_end(struct disk_entry *s, cl_program built, const char *log)
{
    if (s->lock >= 0 && built && !disk_entry_store(s, built, log) && flock(s->lock, LOCK_SH) == 0)
        hold_together(s->lock);
    else if (s->lock >= 0)
        close(s->lock);
    free(s->key);
}
