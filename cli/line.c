/* line.c - the status line at the bottom of a terminal, redrawn in place below everything else
 * that is printed.
 * SPDX-License-Identifier: MIT
 */
#include "progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
    fprintf(stderr, "\r\033[K%.*s", (int)(terminal_width() - 1), line);
    fflush(stderr);
    is_drawn = true;
}

void cli_line_wipe(void)
{
    if (is_drawn)
        fputs("\r\033[K", stderr);
    is_drawn = false;
}
