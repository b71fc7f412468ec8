/* 08_cg.c - conjugate gradients whose scalars never leave the device.
 *
 * A u = 1 with the matrix (-1, 2, -1), which is -u'' on a grid. The exact solution is
 * u[i] = (i + 1) (n - i) / 2. arrays_dot_start leaves dot products in device memory, where the next
 * kernels read them: the host enqueues all iterations and waits once. Lines: 11 of kernels, 28 of
 * the solver on the host, 10 of its check.
 * SPDX-License-Identifier: MIT
 */
#include <err.h>
#include <stdcl/arrays.h>

static const char kernels[] = /* s: r.r, alternating; p.q */
    "kernel void start(global double *u, global double *r, global double *p)\n"
    "{ int i = get_global_id(0); u[i] = 0; r[i] = p[i] = 1; }\n"
    "kernel void apply(global const double *p, global double *q)\n"
    "{ int i = get_global_id(0), n = get_global_size(0);\n"
    "  q[i] = 2 * p[i] - (i > 0 ? p[i - 1] : 0) - (i < n - 1 ? p[i + 1] : 0); }\n"
    "kernel void improve(global double *u, global double *r, global const double *p,\n"
    "                    global const double *q, global const double *s, int rr)\n"
    "{ int i = get_global_id(0); double alpha = s[2] > 0 ? s[rr] / s[2] : 0;\n"
    "  u[i] += alpha * p[i]; r[i] -= alpha * q[i]; }\n"
    "kernel void turn(global double *p, global const double *r, global const double *s, int rr)\n"
    "{ int i = get_global_id(0); p[i] = r[i] + (s[rr] > 0 ? s[1 - rr] / s[rr] : 0) * p[i]; }\n";

enum { N = 100 };

static int check(const double *u)
{
    double worst = 0;
    for (int i = 0; i < N; i++) {
        const double error = 2 * u[i] / ((i + 1) * (N - i)) - 1;
        worst = error > worst ? error : -error > worst ? -error : worst;
    }
    printf("%d unknowns: relative error %s 1e-12\n", N, worst < 1e-12 ? "below" : "above");
    return !(worst < 1e-12);
}

int main(void)
{
    const struct arrays_options options = {
        .ctx = stdgpu ? stdgpu : stddev, .type = ARRAYS_DOUBLE, .devices = 1};
    CLCONTEXT *cp = options.ctx;
    arrays *dots = arrays_create(&options);
    if (!dots || !clsopen(cp, kernels, CLLD_NOW))
        errx(1, "%s", clerror());
    const size_t bytes = N * sizeof(double);
    double *u = clmalloc(cp, bytes, 0), *r = clmalloc(cp, bytes, 0), *p = clmalloc(cp, bytes, 0),
           *q = clmalloc(cp, bytes, 0), *s = clmalloc(cp, 3 * sizeof *s, 0);
    clexec(cp, 0, clrange1(N), start, u, r, p);
    int failed = arrays_dot_start(dots, r, r, N, s);
    for (int step = 0; step < N; step++) {
        const int rr = step & 1;
        clexec(cp, 0, clrange1(N), apply, p, q);
        failed |= arrays_dot_start(dots, p, q, N, s + 2);
        clexec(cp, 0, clrange1(N), improve, u, r, p, q, s, rr);
        failed |= arrays_dot_start(dots, r, r, N, s + 1 - rr);
        clexec(cp, 0, clrange1(N), turn, p, r, s, rr);
    }
    if (clmsync(cp, 0, u, CL_MEM_HOST) || failed) /* in this order: clmsync knows the first cause */
        errx(1, "%s", clerror());
    arrays_free(dots);
    return check(u);
}
