/* 08_cg.c - conjugate gradients whose scalars never leave the device.
 *
 * A u = 1 with the matrix (-1, 2, -1), which is -u'' on a grid. The exact solution is
 * u[i] = (i + 1) (n - i) / 2. Dot products are written to device memory, where the next kernels
 * read them: the host enqueues all iterations and waits once.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

static const char source[] =
    "kernel void apply(global const float *p, global float *q)\n"
    "{ int i = get_global_id(0), n = get_global_size(0);\n"
    "  q[i] = 2 * p[i] - (i > 0 ? p[i - 1] : 0) - (i < n - 1 ? p[i + 1] : 0); }\n"
    "kernel void dot_to(global const float *a, global const float *b, int n, global float *s,\n"
    "                   int at, local float *part)\n" /* one work-group */
    "{ int i = get_local_id(0); float sum = 0;\n"
    "  for (int j = i; j < n; j += get_local_size(0)) sum += a[j] * b[j];\n"
    "  part[i] = sum;\n"
    "  for (int m = get_local_size(0) / 2; m > 0; m /= 2) {\n"
    "      barrier(CLK_LOCAL_MEM_FENCE); if (i < m) part[i] += part[i + m]; }\n"
    "  if (i == 0) s[at] = part[0]; }\n"
    "kernel void improve(global float *u, global float *r, global const float *p,\n"
    "                    global const float *q, global const float *s, int rr)\n"
    "{ int i = get_global_id(0); float alpha = s[2] > 0 ? s[rr] / s[2] : 0;\n"
    "  u[i] += alpha * p[i]; r[i] -= alpha * q[i]; }\n"
    "kernel void turn(global float *p, global const float *r, global const float *s, int rr)\n"
    "{ int i = get_global_id(0); float beta = s[rr] > 0 ? s[1 - rr] / s[rr] : 0;\n"
    "  p[i] = r[i] + beta * p[i]; }\n";

int main(void)
{
    enum { N = 100, GROUP = 64 };
    const int n = N;
    CLCONTEXT *cp = stdgpu ? stdgpu : stddev;
    void *h = clsopen(cp, source, CLLD_NOW);
    cl_kernel apply = clsym(cp, h, "apply", 0), dot = clsym(cp, h, "dot_to", 0);
    cl_kernel improve = clsym(cp, h, "improve", 0), turn = clsym(cp, h, "turn", 0);
    float *v[4], *s = clmalloc(cp, 3 * sizeof *s, 0); /* s: r.r, alternating; p.q */
    for (int i = 0; i < 4; i++)
        v[i] = clmalloc(cp, N * sizeof **v, 0);
    float *u = v[0], *r = v[1], *p = v[2], *q = v[3];
    if (!apply || !dot || !improve || !turn || !s || !u || !r || !p || !q)
        return fprintf(stderr, "08_cg: %s\n", clerror()), 1;
    for (int i = 0; i < N; i++)
        r[i] = p[i] = 1; /* u = 0 */
    for (int i = 0; i < 3; i++)
        clmsync(cp, 0, v[i], CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clndrange_t all = clndrange_init1d(0, N, 0), group = clndrange_init1d(0, GROUP, GROUP);
    const stdcl_local_t part = clarg_local(GROUP * sizeof(float));
    clforka(cp, 0, dot, &group, CL_EVENT_NOWAIT, r, r, n, s, 0, part);
    for (int step = 0; step < N; step++) {
        const int rr = step & 1;
        clforka(cp, 0, apply, &all, CL_EVENT_NOWAIT, p, q);
        clforka(cp, 0, dot, &group, CL_EVENT_NOWAIT, p, q, n, s, 2, part);
        clforka(cp, 0, improve, &all, CL_EVENT_NOWAIT, u, r, p, q, s, rr);
        clforka(cp, 0, dot, &group, CL_EVENT_NOWAIT, r, r, n, s, 1 - rr, part);
        clforka(cp, 0, turn, &all, CL_EVENT_NOWAIT, p, r, s, rr);
    }
    clmsync(cp, 0, u, CL_MEM_HOST | CL_EVENT_NOWAIT);
    if (clwait(cp, 0, CL_ALL_EVENT))
        return fprintf(stderr, "08_cg: %s\n", clerror()), 1;
    float worst = 0;
    for (int i = 0; i < N; i++) {
        const float exact = 0.5f * (float)((i + 1) * (N - i)), error = u[i] / exact - 1;
        worst = error > worst ? error : -error > worst ? -error : worst;
    }
    printf("%d unknowns: relative error %s 1e-4\n", N, worst < 1e-4f ? "below" : "above");
    return !(worst < 1e-4f);
}
