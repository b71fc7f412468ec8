/* outfile.h - output files that appear whole or not at all.
 *
 *   struct outfile out;
 *   if (outfile_open(&out, "run.csv") < 0)      a temporary name in the same folder
 *       return -1;
 *   fprintf(out.fp, "...");                     write as to any FILE
 *   return outfile_commit(&out);                flush, fsync, rename; or remove and report why
 *
 * Until the commit an existing file of that name stays unchanged. Errors are -1 with a message in
 * clerror() that distinguishes a missing folder, missing permission and a full disk. This file is
 * in the core because every room writes files, the core included: clsave, timelines, the tuning
 * store, formats/, the command.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_OUTFILE_H
#define CORE_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct outfile {
    FILE *fp;          /* stream to write to; closed by commit and discard */
    int fd;            /* its descriptor, for another program; flush fp first */
    bool nosync;       /* set after open: do not wait for the disk, as for frames of a film */
    char *name;        /* the caller's, for messages */
    char *target;      /* final name of the temporary file; NULL if written directly */
    char *temporary;   /* NULL if written directly */
    int slot;          /* index of the temporary name in the table for outfile_unlink_all */
    struct sink *sink; /* behind fp */
    const struct outfile_ranks *ranks; /* ranks that write this file together, or NULL */
};

/* Open `name` for writing. A regular or new file is written under a temporary name, .NAME.N.tmp
 * beside it; the remains of a killed program under that name are removed. "-", /dev/stdout, pipes
 * and devices are written directly, blocking while they are full (EAGAIN). An existing file keeps
 * its mode, a symbolic link stays. Errors: ENOENT (no such folder), EACCES, EROFS, EISDIR, ENOSPC,
 * EMFILE. */
int outfile_open(struct outfile *out, const char *name);

/* Set a time limit for outputs: `left` returns the seconds that remain, INFINITY without a limit.
 * With a limit the disk is not waited for, and a file with more than some MiB left is given up
 * when the time is over: ECANCELED. Called from any thread. */
void outfile_limit(double (*left)(void));

/* Write this file whole, whatever the time limit. */
void outfile_keep(struct outfile *out);

/* Before writing `size` bytes past fp: -1 with the reason if the file is given up. */
int outfile_ask(struct outfile *out, size_t size);

/* Report an errno value of writing to its descriptor: -1 with the reason. */
int outfile_failed(const struct outfile *out, int code);

/* Block until the data is on disk, where that is possible; 0, or an errno value. */
int outfile_sync(int fd);

/* From now on write no files: of several processes with the same results, one writes them. */
void outfile_nowhere(void);

/* Processes that produce the same bytes of one file at the same time. Each writes its blocks,
 * round robin, and the first renames the file when all have finished. Open, commit and discard are
 * then collective, with one result. Open fails if the folder is not the same for all. Both
 * callbacks are collective. */
struct outfile_ranks {
    int rank, ranks;
    unsigned long long block; /* bytes; 0: 1 MiB */
    int (*broadcast)(void *arg, void *bytes,
                     size_t size);       /* broadcast from the first rank; -1 with an error */
    int (*agree)(void *arg, int status); /* -1 on all ranks if it is -1 on one, with its error */
    void *arg;
    /* Add up `own` over the lower ranks; -1 with an error. Collective. For outfile_divide. */
    int (*add_lower)(void *arg, unsigned long long own, unsigned long long *lower);
};

/* Files opened by this thread from now on are written together; NULL: no longer. */
void outfile_together(const struct outfile_ranks *ranks);

/* Collective, in a file that ranks write together, after bytes that all have produced: from now on
 * each rank writes `own` bytes of its own, after the bytes of the lower ranks. */
int outfile_divide(struct outfile *out, unsigned long long own);

/* Collective for files that are written together; else return `status`: see `agree`. */
int outfile_agree(int status);

/* Number of bytes this rank writes of `size` bytes at a position; *skip: bytes before them that
 * belong to other ranks. */
size_t outfile_own_part(const struct outfile_ranks *ranks, unsigned long long at, size_t size,
                        size_t *skip);

/* -1 with the reason if an earlier write failed: for long outputs, to stop early. */
int outfile_check(struct outfile *out);

/* Close and rename the file. On failure nothing is left behind. Frees the members of `out` in both
 * cases; a second commit or discard does nothing. */
int outfile_commit(struct outfile *out);

/* Close and remove the temporary file. Does nothing for a zeroed struct. */
void outfile_discard(struct outfile *out);

/* Name a child process that writes this file; 0: it has closed the file. A signal that ends the
 * program kills the child before it removes the file, which the child might create again. Set 0
 * before waitpid: afterwards the number may be another process's. */
void outfile_set_writer(const struct outfile *out, pid_t child);

/* Create a folder stdcl-WORD-XXXXXX in $TMPDIR or /tmp and write its path. A signal that ends the
 * program removes it, as outfile_folder_remove does, with the files named in `within`, a NULL-
 * terminated list that must stay valid. */
int outfile_folder(char *path, size_t size, const char *word, const char *const *within);
void outfile_folder_remove(const char *path);

/* Remove all temporary files and folders, of all threads. Async-signal-safe: for the handler of a
 * signal that ends the program. */
void outfile_unlink_all(void);

/* Install such a handler for SIGHUP, SIGINT, SIGTERM, SIGPIPE and SIGQUIT where no other handler
 * is installed, and at exit, so that an interrupted program leaves no partial file. */
void outfile_guard(void);

#ifdef __cplusplus
}
#endif
#endif
