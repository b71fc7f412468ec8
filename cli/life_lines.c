/* life_lines.c - populations line by line, as bgolly prints them: "1,000: 2,684".
 *
 * A line is due at the start and after each step. Steps are of a given length, or twice as long
 * each time, or, of neither, such that the last generation is met by steps of powers of two.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

#include <inttypes.h>

/* 1234567 as 1,234,567. */
static const char *grouped(const char *digits, char text[64])
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

static uint64_t step_from(const struct life_lines *l, uint64_t started, uint64_t at)
{
    const uint64_t left = l->last - at, first = l->step ? l->step : 1;
    if (l->doubling)
        return at == started ? first : at;
    return l->step || l->last == UINT64_MAX ? first : left & (~left + 1);
}

static bool is_over(const struct life_lines *l, uint64_t at)
{
    return at >= l->last || (l->seconds > 0 && seconds_now() - l->began >= l->seconds);
}

int life_lines_visit(struct life_job *job, const char *population)
{
    struct life_lines *l = &job->lines;
    const uint64_t at = life_job_generation(job);
    char number[24], generation[64], alive[64];
    snprintf(number, sizeof number, "%" PRIu64, at);
    grouped(number, generation);
    if (l->began == 0)
        l->began = seconds_now();
    if (l->stamps && l->quiet < 2)
        printf("%g %s\n", seconds_now() - l->began, generation);
    if (l->stamps && l->quiet < 1)
        printf("%g pop %s\n", seconds_now() - l->began, grouped(population, alive));
    if (!l->stamps && l->quiet < 2)
        printf(l->quiet ? "%s\n" : "%s: %s\n", generation, grouped(population, alive));
    if (fflush(stdout) != 0)
        return cli_failed("cannot write the standard output: %s", strerror(errno));
    const uint64_t step = is_over(l, at) ? 0 : step_from(l, job->started, at);
    if (step > UINT64_MAX - at)
        return cli_failed(
            "generations are counted up to 2^64 - 1, and after %s there would be %" PRIu64 " more",
            generation, step);
    l->due = at + step;
    return CLI_DONE;
}
