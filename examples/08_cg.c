/* 08_cg.c - conjugate gradients whose scalars never leave the device.
 *
 * A u = 1 with the matrix (-1, 2, -1), which is -u'' on a grid. The exact solution is
 * u[i] = (i + 1) (n - i) / 2. arrays_dot_start leaves dot products in device memory, where the next
 * kernels read them: the host enqueues all iterations and waits once.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl/arrays.h>

static const char source[] = /* s: r.r, alternating; p.q */
    "kernel void apply(global const double *p, global double *q)\n"
    "{ int i = get_global_id(0), n = get_global_size(0);\n"
    "  q[i] = 2 * p[i] - (i > 0 ? p[i - 1] : 0) - (i < n - 1 ? p[i + 1] : 0); }\n"
    "kernel void improve(global double *u, global double *r, global const double *p,\n"
    "                    global const double *q, global const double *s, int rr)\n"
    "{ int i = get_global_id(0); double alpha = s[2] > 0 ? s[rr] / s[2] : 0;\n"
    "  u[i] += alpha * p[i]; r[i] -= alpha * q[i]; }\n"
    "kernel void turn(global double *p, global const double *r, global const double *s, int rr)\n"
    "{ int i = get_global_id(0); double beta = s[rr] > 0 ? s[1 - rr] / s[rr] : 0;\n"
    "  p[i] = r[i] + beta * p[i]; }\n";

int main(void)
{
    enum { N = 100 };
    CLCONTEXT *cp = stdgpu ? stdgpu : stddev;
    void *h = clsopen(cp, source, CLLD_NOW);
    cl_kernel apply = clsym(cp, h, "apply", 0), improve = clsym(cp, h, "improve", 0),
              turn = clsym(cp, h, "turn", 0);
    arrays *dots =
        arrays_create(&(struct arrays_options){.ctx = cp, .type = ARRAYS_DOUBLE, .devices = 1});
    double *u = clmalloc(cp, N * sizeof *u, 0), *r = clmalloc(cp, N * sizeof *r, 0),
           *p = clmalloc(cp, N * sizeof *p, 0), *q = clmalloc(cp, N * sizeof *q, 0),
           *s = clmalloc(cp, 3 * sizeof *s, 0), worst = 0;
    for (int i = 0; u && r && p && i < N; i++)
        u[i] = 0, r[i] = p[i] = 1;
    clndrange_t all = clndrange_init1d(0, N, 0);
    if (clmsync(cp, 0, u, CL_MEM_DEVICE) || clmsync(cp, 0, r, CL_MEM_DEVICE) ||
        clmsync(cp, 0, p, CL_MEM_DEVICE) || arrays_dot_start(dots, r, r, N, s))
        return fprintf(stderr, "08_cg: %s\n", clerror()), 1;
    int failed = 0;
    for (int step = 0; step < N; step++) {
        const int rr = step & 1;
        clforka(cp, 0, apply, &all, CL_EVENT_NOWAIT, p, q);
        failed |= arrays_dot_start(dots, p, q, N, s + 2);
        clforka(cp, 0, improve, &all, CL_EVENT_NOWAIT, u, r, p, q, s, rr);
        failed |= arrays_dot_start(dots, r, r, N, s + 1 - rr);
        clforka(cp, 0, turn, &all, CL_EVENT_NOWAIT, p, r, s, rr);
    }
    clmsync(cp, 0, u, CL_MEM_HOST | CL_EVENT_NOWAIT);
    if (failed || clwait(cp, 0, CL_ALL_EVENT))
        return fprintf(stderr, "08_cg: %s\n", clerror()), 1;
    for (int i = 0; i < N; i++) {
        const double error = 2 * u[i] / ((i + 1) * (N - i)) - 1;
        worst = error > worst ? error : -error > worst ? -error : worst;
    }
    printf("%d unknowns: relative error %s 1e-12\n", N, worst < 1e-12 ? "below" : "above");
    return !(worst < 1e-12);
}
