/* fault.h - the call to fail, read from the environment by layer.c and shim.c.
 *
 *   STDCL_FAULT="CALL NUMBER CODE [HOW]"    the call of that name and number, from 1 since the
 *                                           variable last changed
 *   STDCL_FAULT_LOG=FILE                    append to FILE the name of every call that could
 *                                           fail, a line each, and "fault CALL" when one does
 *
 * CALL may be a pattern, clEnqueueWrite*, which counts all calls that match. CODE is the number of
 * the error. HOW is a word:
 *   refused   the call returns the error (the default)
 *   failed    OpenCL commands: enqueued, but its event reports the error
 *   lost      OpenCL commands: this and all later ones do nothing, without an error
 *   short     write and read: only half of the bytes
 *   signal    the call succeeds, but before it the program gets the signal of number CODE
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_TEST_FAULT_H
#define STDCL_TEST_FAULT_H

#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum how { NO_FAULT, REFUSED, FAILED, LOST, SHORT, SIGNALLED };

struct fault {
    enum how how;
    int code;
};

static enum how how_of(const char *word)
{
    static const char *const words[] = {"", "refused", "failed", "lost", "short", "signal"};
    for (int i = 0; i < 6; i++)
        if (strcmp(word, words[i]) == 0)
            return (enum how)i;
    return REFUSED;
}

static void fault_log(const char *what, const char *call)
{
    const char *file = getenv("STDCL_FAULT_LOG");
    char line[96];
    const int fd = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    const int length = snprintf(line, sizeof line, "%s%s\n", what, call);
    if (write(fd, line, (size_t)length) != length)
        abort();
    close(fd);
}

/* Return the fault of this call, if any. */
static struct fault fault_of(const char *call)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char last[128];
    static unsigned long count;
    const char *wanted = getenv("STDCL_FAULT");
    char pattern[48] = "", how[16] = "refused";
    unsigned long number = 0;
    struct fault f = {NO_FAULT, 0};
    if (!wanted) {
        fault_log("", call);
        return f;
    }
    if (sscanf(wanted, "%47s %lu %d %15s", pattern, &number, &f.code, how) < 3 ||
        fnmatch(pattern, call, 0) != 0)
        return f;
    pthread_mutex_lock(&lock);
    if (strcmp(wanted, last) != 0) {
        snprintf(last, sizeof last, "%s", wanted);
        count = 0;
    }
    count++;
    if (count == number || (count > number && how_of(how) == LOST))
        f.how = how_of(how);
    pthread_mutex_unlock(&lock);
    if (f.how)
        fault_log("fault ", call);
    if (f.how == SIGNALLED) {
        kill(getpid(), f.code);
        f.how = NO_FAULT;
    }
    return f;
}

#endif
