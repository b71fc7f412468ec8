/* 04_templates.c - a kernel generated for its coefficients from 04_templates.clt.
 *
 * Values are the inside of a Lua table with printf formatting, or a list of clvalue(). Error
 * messages of Lua and of the kernel's compiler name the template's file and line.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

enum { N = 8, TAPS = 4 };

static int run(CLCONTEXT *cp, void *h, const float *taps)
{
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    cl_kernel filter = h ? clsym(cp, h, "filter", 0) : NULL;
    float *x = clmalloc(cp, (N + TAPS) * sizeof *x, 0), *y = clmalloc(cp, N * sizeof *y, 0);
    if (!filter || !x || !y)
        return fprintf(stderr, "04_templates: %s\n", clerror()), 1;
    for (int i = 0; i < N + TAPS; i++)
        x[i] = (float)(i * i);
    clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clforka(cp, 0, filter, &ndr, CL_EVENT_NOWAIT, x, y);
    if (clmsync(cp, 0, y, CL_MEM_HOST)) /* blocks, and reports earlier failures */
        return fprintf(stderr, "04_templates: %s\n", clerror()), 1;
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int k = 0; k < TAPS; k++)
            sum += taps[k] * x[i + k];
        printf("%g%s", y[i], i < N - 1 ? " " : y[i] == sum ? " as in C\n" : " is wrong\n");
    }
    clfree(x);
    clfree(y);
    return clclose(cp, h);
}

int main(void)
{
    CLCONTEXT *cp = stddev;
    const float taps[TAPS] = {1, -2, 1, 0}, half[TAPS] = {0.5f, 0, 0, 0.5f};

    void *h = clopent(cp, "04_templates.clt", CLLD_NOW, "real = '%s', taps = {%g, %g, %g, %g}",
                      "float", taps[0], taps[1], taps[2], taps[3]);
    if (run(cp, h, taps) != 0)
        return 1;

    clvalue_t list[TAPS + 1];
    for (int k = 0; k < TAPS; k++)
        list[k] = clvalue(NULL, half[k]);
    list[TAPS] = CLVALUE_END;
    const clvalue_t values[] = {clvalue("real", "float"), clvalue("taps", list), CLVALUE_END};
    if (run(cp, clopentv(cp, "04_templates.clt", CLLD_NOW, values), half) != 0)
        return 1;

    if (clopent(cp, "04_templates.clt", CLLD_NOW, "taps = {1, 2}") || clerrno != ENOEXEC)
        return fprintf(stderr, "04_templates: %s\n", clerror()), 1;
    printf("%s\n", clerror()); /* names the missing value */
    return 0;
}
