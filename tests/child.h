/* child.h - start tests/layer_child.c in another environment and read its output. */
/* SPDX-License-Identifier: MIT */
#ifndef CHILD_H
#define CHILD_H

#include "check.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct child {
    pid_t pid;
    FILE *out; /* its standard output, and standard error too */
    int in;    /* its standard input */
};

/* Start layer_child with up to 8 words, in our environment plus `env`, a NULL-terminated list. */
static inline struct child start_child(const char *const *env, const char *const *words)
{
    char *argv[10] = {(char *)(uintptr_t)LAYER_CHILD};
    char *envp[1024];
    size_t argc = 1, n = 0;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    argv[argc] = NULL;
    for (const char *const *e = env; *e; e++) /* first, so that they win */
        envp[n++] = (char *)(uintptr_t)*e;
    for (char **e = environ; *e && n < 1000; e++) {
        size_t name = strcspn(*e, "=") + 1;
        bool replaced = false;
        for (const char *const *given = env; *given; given++)
            replaced |= strncmp(*given, *e, name) == 0;
        if (!replaced)
            envp[n++] = *e;
    }
    envp[n] = NULL;

    int out[2], in[2];
    assert_int_equal(pipe(out) | pipe(in), 0);
    for (int i = 0; i < 2; i++) { /* no other child may inherit our ends */
        fcntl(out[i], F_SETFD, FD_CLOEXEC);
        fcntl(in[i], F_SETFD, FD_CLOEXEC);
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDERR_FILENO);
    struct child child = {.in = in[1], .out = fdopen(out[0], "r")};
    assert_int_equal(posix_spawn(&child.pid, LAYER_CHILD, &actions, NULL, argv, envp), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(in[0]);
    return child;
}

/* Let a child end and return its exit status, or minus the signal that ended it. */
static inline int end_child(struct child *child)
{
    int status = 0;
    close(child->in);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    fclose(child->out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Return the first line a child prints, valid until the next call. */
static inline const char *line_of(struct child *child)
{
    static char line[2048];
    line[0] = 0;
    if (!fgets(line, sizeof line, child->out))
        print_error("the child printed nothing\n");
    return line;
}

/* Return a child's output after a successful exit. */
#define answer_of(env, ...) answer_of_list(env, (const char *const[]){__VA_ARGS__, NULL})
static inline const char *answer_of_list(const char *const *env, const char *const *words)
{
    struct child child = start_child(env, words);
    const char *line = line_of(&child);
    assert_int_equal(end_child(&child), 0);
    return line;
}
#define with(...) ((const char *const[]){__VA_ARGS__, NULL})
#define with_nothing ((const char *const[]){NULL})

#endif /* CHILD_H */
