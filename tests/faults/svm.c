/* svm.c - shared virtual memory, for faults.c: a kernel follows a list through two shared blocks,
 * in turn with the host. layer.c reports coarse grain only, so that blocks are mapped and unmapped.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

enum { N = 10, TURNS = 3 };

struct node {
    struct node *next;
    int value;
};

static const char kernels[] =
    "struct node { global struct node *next; int value; };\n"
    "kernel void walk(global struct node *first, global int *sum)\n"
    "{ int s = 0;\n"
    "  for (global struct node *p = first; p; p = p->next) { s += p->value; p->value = s; }\n"
    "  *sum = s; }\n";

static int svm_failed(void)
{
    const char *why = clerror();
    fprintf(stderr, "svm: %s\n", why ? why : "no reason is known");
    return 1;
}

int main(void)
{
    CLCONTEXT *cp = stddev;
    clndrange_t one = clndrange_init1d(0, 1, 1);
    cl_kernel walk = clsym(cp, clsopen(cp, kernels, CLLD_NOW), "walk", 0);
    struct node *a = walk ? clmalloc(cp, N * sizeof *a, CL_MEM_SVM) : NULL;
    struct node *b = a ? clmalloc(cp, N * sizeof *b, CL_MEM_SVM) : NULL;
    int *sum = b ? clmalloc(cp, sizeof *sum, 0) : NULL;
    if (!sum)
        return svm_failed();
    if (clmctl(a, CL_MCTL_GET_SVM) != 1 || clmctl(b, CL_MCTL_GET_SVM) != 1)
        return fprintf(stderr, "svm: the device has no shared virtual memory of coarse grain\n"), 1;
    for (int i = 0; i < N; i++) {
        a[i] = (struct node){&b[i], i};
        b[i] = (struct node){i < N - 1 ? &a[i + 1] : NULL, 100 * i};
    }
    for (int turn = 0; turn < TURNS; turn++) {
        clforka(cp, 0, walk, &one, CL_EVENT_NOWAIT, (void *)a, sum);
        clmsync(cp, 0, sum, CL_MEM_HOST | CL_EVENT_NOWAIT);
        clmsync(cp, 0, b, CL_MEM_HOST | CL_EVENT_NOWAIT);
        if (clwait(cp, 0, CL_ALL_EVENT) != 0)
            return svm_failed();
        printf("turn %d: sum %d, last %d\n", turn, *sum, b[N - 1].value);
        b[turn].value = 7;
    }
    return clfree(a) != 0 || clfree(b) != 0 ? svm_failed() : 0;
}
