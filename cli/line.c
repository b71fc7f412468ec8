/* line.c - the status line at the bottom of a terminal, redrawn in place below everything else
 * that is printed.
 * SPDX-License-Identifier: MIT
 */
#include "progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_drawn;

static size_t terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

void cli_line_draw(const char *line)
{
    pthread_mutex_lock(&line_lock);
    fprintf(stderr, "\r\033[K%.*s", (int)(terminal_width() - 1), line);
    fflush(stderr);
    is_drawn = true;
    pthread_mutex_unlock(&line_lock);
}

void cli_line_wipe(void)
{
    pthread_mutex_lock(&line_lock);
    if (is_drawn)
        fputs("\r\033[K", stderr);
    is_drawn = false;
    pthread_mutex_unlock(&line_lock);
}
