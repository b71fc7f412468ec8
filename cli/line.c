/* line.c - the status line at the bottom of a terminal, redrawn in place below everything else
 * that is printed.
 * SPDX-License-Identifier: MIT
 */
#include "progress.h"

#include "core/terminal.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_drawn;

size_t cli_line_columns(void)
{
    const size_t columns = terminal_columns(stderr);
    return (columns ? columns : 80) - 1; /* the cursor stays on the line */
}

void cli_line_draw(const char *line)
{
    pthread_mutex_lock(&line_lock);
    fprintf(stderr, "\r\033[K%.*s", (int)text_fitting(line, cli_line_columns()), line);
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
