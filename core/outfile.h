/* outfile.h - output files that appear whole or not at all.
 *
 *   struct outfile out;
 *   if (outfile_open(&out, "run.csv") < 0)      a temporary name in the same folder
 *       return -1;
 *   fprintf(out.fp, "...");                     write as to any FILE
 *   return outfile_commit(&out);                flush, fsync, rename; or remove and say why
 *
 * Until the commit an older file of that name stays as it was. Errors are -1 with a sentence in
 * clerror() that tells a missing folder, missing permission and a full disk apart. It lies in the
 * core because every room above writes files, and so does the core: clsave, timelines, the tuning
 * store, formats/, the command.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_OUTFILE_H
#define CORE_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct outfile {
    FILE *fp; /* where to write; closed by commit and discard */
    int fd; /* the same, for another program to write to; nothing may be in the buffer of fp then */
    bool nosync;       /* set after open: do not wait for the disk, as for frames of a film */
    char *name;        /* as the caller gave it, for messages */
    char *target;      /* what the temporary file becomes; NULL if written directly */
    char *temporary;   /* NULL if written directly */
    int slot;          /* where the temporary name is kept for outfile_unlink_all */
    struct sink *sink; /* what fp writes to */
    const struct outfile_ranks *ranks; /* who writes this file together, or NULL */
};

/* Opens `name` for writing. A regular file, or none yet, is written under a temporary name,
 * .NAME.N.tmp beside it; what a killed program has left under that name is removed. "-",
 * /dev/stdout, pipes and devices are written directly, and waited for where they are full (EAGAIN).
 * An existing file keeps its mode, a symbolic link stays one. Errors: ENOENT (no such folder),
 * EACCES, EROFS, EISDIR, ENOSPC, EMFILE. */
int outfile_open(struct outfile *out, const char *name);

/* `left` tells how many seconds there are for the files that are being written, INFINITY while
 * nobody waits. Then the disk is not waited for, and a file of which more than some MiB are still
 * to be written when none is left is given up: ECANCELED. It is called from any thread. */
void outfile_limit(double (*left)(void));

/* This one is written whole, however little time is left. */
void outfile_keep(struct outfile *out);

/* For what is written to the file past fp, before `size` bytes more: -1 with the reason when it is
 * given up. */
int outfile_ask(struct outfile *out, size_t size);

/* Waits until the disk has what was written to it, where that can be waited for; 0, or the error's
 * number. */
int outfile_sync(int fd);

/* From now on files of any name go nowhere: of several processes that compute the same, one writes
 * it. */
void outfile_nowhere(void);

/* Processes that make the same bytes of one file, at the same time: each writes its blocks, by
 * turns, and the first gives it its name when all have. Open, commit and discard are collective
 * then, and have one result. Open fails where the folder is not the same for all. Both functions
 * are collective. */
struct outfile_ranks {
    int rank, ranks;
    unsigned long long block; /* bytes; 0: a MiB */
    int (*broadcast)(void *arg, void *bytes,
                     size_t size);       /* the first's to all; -1 with an error */
    int (*agree)(void *arg, int status); /* -1 everywhere if it is -1 anywhere, with its error */
    void *arg;
};

/* Files that this thread opens from now on are such; NULL: no more. */
void outfile_together(const struct outfile_ranks *ranks);

/* Whether this process has to write `size` bytes at a place, and how many of them; *skip: those
 * before that are others'. */
size_t outfile_own_part(const struct outfile_ranks *ranks, unsigned long long at, size_t size,
                        size_t *skip);

/* -1 with the reason when an earlier write has failed; for long outputs, to stop early. */
int outfile_check(struct outfile *out);

/* Closes the file and gives it its name. On failure nothing of it is left behind. Frees what `out`
 * holds in both cases; a second commit or discard does nothing. */
int outfile_commit(struct outfile *out);

/* Closes and removes the temporary file. Nothing happens to one that was never opened (zeroed). */
void outfile_discard(struct outfile *out);

/* Makes a folder stdcl-WORD-XXXXXX in $TMPDIR or /tmp and writes its path; a signal that ends the
 * program removes it, as outfile_folder_remove does, with the files `within`: names, ended by NULL,
 * that stay valid. */
int outfile_folder(char *path, size_t size, const char *word, const char *const *within);
void outfile_folder_remove(const char *path);

/* Removes the temporary files of all that is open, in all threads, and such folders.
 * Async-signal-safe: for the handler of a signal that ends the program. */
void outfile_unlink_all(void);

/* Installs such a handler for SIGHUP, SIGINT, SIGTERM, SIGPIPE and SIGQUIT where nobody else has a
 * handler, and the same at exit, so that a program that is interrupted leaves nothing
 * half-written. */
void outfile_guard(void);

#ifdef __cplusplus
}
#endif
#endif
