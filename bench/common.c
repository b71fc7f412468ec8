/* common.c - choice of the benchmark's device, errors, medians, and sweeps over shapes.
 * SPDX-License-Identifier: MIT
 */
#include "bench/common.h"

#include <errno.h>

CLCONTEXT *bench_open(const char *device, size_t count)
{
    const int type = !device                      ? (int)CL_DEVICE_TYPE_ALL
                     : strcmp(device, "cpu") == 0 ? (int)CL_DEVICE_TYPE_CPU
                     : strcmp(device, "gpu") == 0 ? (int)CL_DEVICE_TYPE_GPU
                                                  : (int)CL_DEVICE_TYPE_ALL;
    count = count ? count : 1;
    CLCONTEXT *made =
        clcontext_create(type == (int)CL_DEVICE_TYPE_ALL ? device : NULL, type, count, NULL, 0);
    if (made && clgetndev(made) < count) {
        clerror_set(ENODEV, "there are %u devices that match, not %zu", clgetndev(made), count);
        clcontext_destroy(made);
        return NULL;
    }
    return made;
}

_Noreturn void die(const char *what)
{
    const char *why = clerror();
    fprintf(stderr, "%s: %s%s%s\n", program_invocation_short_name, what, why ? ": " : "",
            why ? why : "");
    exit(1);
}

static int ascending_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_up(double *values, size_t n)
{
    qsort(values, n, sizeof *values, ascending_times);
}

double bench_median(double *values, size_t n)
{
    sort_up(values, n);
    return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

/* Append a word for the first key of `text`, and recurse for the remaining keys. */
void sweep_shapes(const char *words, const char *text, void (*run)(void *arg, const char *shape),
                  void *arg)
{
    words = words ? words : "";
    text = text ? text + strspn(text, " ") : "";
    if (!*text) {
        run(arg, words);
        return;
    }
    const int key = (int)strcspn(text, "="), end = (int)strcspn(text, " ");
    if (key >= end)
        die("--sweep takes words KEY=V,V,...");
    for (int at = key; at < end;) {
        char longer[1024];
        const int value = at + 1, length = (int)strcspn(text + value, ", ");
        if (snprintf(longer, sizeof longer, "%s%s%.*s=%.*s", words, *words ? " " : "", key, text,
                     length, text + value) >= (int)sizeof longer)
            die("--sweep: too many words");
        sweep_shapes(longer, text + end, run, arg);
        at = value + length;
    }
}
