/* life_lines.c - populations line by line, as printed by bgolly: "1,000: 2,684".
 *
 * A line is due at the start and after each step. Steps have a given length, or double each
 * time, or are powers of two that end at the last generation.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "message.h"
#include "life_output.h"
#include "life_plane.h"

#include "core/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* 1234567 as 1,234,567. */
static const char *group_digits(const char *digits, char text[2 * LIFE_POPULATION_TEXT])
{
    const size_t length = strlen(digits);
    char *to = text;
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

static uint64_t next_line_step(const struct life_lines *l, uint64_t started, uint64_t at)
{
    const uint64_t left = l->last - at, first = l->step ? l->step : 1;
    if (l->doubling)
        return at == started ? first : at;
    return l->step || l->last == UINT64_MAX ? first : left & (~left + 1);
}

static bool lines_are_over(const struct life_lines *l, uint64_t at)
{
    return at >= l->last || (l->seconds > 0 && seconds_now() - l->began >= l->seconds);
}

int life_lines_visit(struct life_job *job, const char *population)
{
    struct life_lines *l = &job->lines;
    const uint64_t at = life_job_generation(job);
    char number[LIFE_GENERATION_TEXT], generation[2 * LIFE_POPULATION_TEXT],
        alive[2 * LIFE_POPULATION_TEXT];
    group_digits(life_job_generation_text(job, at, number), generation);
    if (l->began == 0)
        l->began = seconds_now();
    if (l->stamps && l->quiet < 2)
        printf("%g %s\n", seconds_now() - l->began, generation);
    if (l->stamps && l->quiet < 1)
        printf("%g pop %s\n", seconds_now() - l->began, group_digits(population, alive));
    if (!l->stamps && l->quiet < 2)
        printf(l->quiet ? "%s\n" : "%s: %s\n", generation, group_digits(population, alive));
    if (fflush(stdout) != 0)
        return cli_failed("cannot write standard output: %s", strerror(errno));
    const uint64_t step = lines_are_over(l, at) ? 0 : next_line_step(l, job->started, at);
    if (step > UINT64_MAX - at)
        return cli_failed(
            "a run counts up to 2^64 - 1 generations; cannot step from %s by %" PRIu64, generation,
            step);
    l->due = at + step;
    return CLI_DONE;
}
