/* layer_child.c - a small program that test_layer_context.c runs in other environments. It
 * prints one line of words per question and exits with 0 unless the question is invalid.
 *
 *   counts                    devices of each standard context, and clerrno after creating them
 *   calls                     every call without a platform or context; number of wrong results
 *   create PATTERN TYPE MAX   devices of clcontext_create, numbered among all of the machine
 *   claim PATTERN KEY MAX     as create, with a lock key; holds the devices until input ends
 *   standard-claim            devices of stddev (STDDEV_LOCK says which); holds them too
 *   reclaim PATTERN KEY MAX   claim, release by clcontext_destroy, claim again
 *   build FILE                open a kernel file
 *   repeat                    one failing call 200 times, another one once, the first three times
 *   fail                      one failing call, and a second whose text goes through clperror
 *   no-data                   two launches without a copy of the input, then "launched"
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

#include <stdint.h>
#include <unistd.h>

/* Return a device's index among all devices of all platforms; equal in every process. */
static int number_of_word(cl_device_id device)
{
    cl_platform_id platform[16];
    cl_device_id all[64];
    cl_uint nplatforms = 0, first = 0;
    if (clGetPlatformIDs(16, platform, &nplatforms) != CL_SUCCESS)
        return -1;
    for (cl_uint p = 0; p < nplatforms; p++) {
        cl_uint n = 0;
        if (clGetDeviceIDs(platform[p], CL_DEVICE_TYPE_ALL, 64, all, &n) != CL_SUCCESS)
            continue;
        for (cl_uint i = 0; i < n; i++)
            if (all[i] == device)
                return (int)(first + i);
        first += n;
    }
    return -1;
}

static void print_devices(CLCONTEXT *cp)
{
    if (!cp) {
        const char *sentence = clerror();
        printf("none %d %s\n", clerrno, sentence ? sentence : "");
        return;
    }
    printf("%u", clgetndev(cp));
    for (cl_uint i = 0; i < clgetndev(cp); i++) {
        char name[256] = "";
        clGetDeviceInfo(clgetdevice(cp, i), CL_DEVICE_NAME, sizeof name, name, NULL);
        printf(" %d:%.10s", number_of_word(clgetdevice(cp, i)), name);
    }
    printf("\n");
}

static int print_counts(void)
{
    stdcl_init();
    int after_start = clerrno;
    printf("dev %u cpu %u gpu %u acc %u npu %u rpu %u", clgetndev(stddev), clgetndev(stdcpu),
           clgetndev(stdgpu), clgetndev(stdacc), clgetndev(stdnpu), clgetndev(stdrpu));
    printf(" null %d%d%d%d%d%d", !stddev, !stdcpu, !stdgpu, !stdacc, !stdnpu, !stdrpu);
    printf(" clerrno %d %d\n", after_start, clerrno);
    return 0;
}

/* Without a device there is no context: each call must report that, and none may crash. */
static int count_calls_of(void)
{
    struct cldev_info info;
    struct clstat_info status;
    clndrange_t ndr = clndrange_init1d(0, 1, 1);
    cl_event failed = (cl_event)(intptr_t)-1;
    int on_stack = 0, wrong = 0;
    char options[] = "-D X";
    stdcl_init();
    wrong += clerrno != 0 || clerror() != NULL;
    wrong += clgetndev(stddev) != 0 || clgetndev(NULL) != 0;
    wrong +=
        clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0) != NULL || clerrno != ENODEV;
    wrong += clcontext_create("a,b", CL_DEVICE_TYPE_GPU, 2, NULL, 77) != NULL;
    wrong += clcontext_create_from(NULL, 0) != NULL;
    wrong += clcontext_destroy(stddev) != -1;
    wrong += clgetdevinfo(stddev, &info) != -1;
    wrong += clstat(stddev, &status) != -1;
    clfreport_devinfo(stderr, 0, &info);
    wrong += clgetdevice(stddev, 0) || clgetclcontext(stddev, 0) || clgetqueue(stddev, 0);
    wrong += clgetbuffer(stddev, 0, &on_stack) != NULL;
    wrong += clmalloc(stddev, 100, 0) != NULL;
    wrong += clmrealloc(stddev, NULL, 100, 0) != NULL;
    wrong += clfree(NULL) != 0 || clfree(&on_stack) != -1;
    wrong += clmsync(stddev, 0, &on_stack, CL_MEM_HOST) != failed;
    wrong += clmsyncn(stddev, 0, &on_stack, 1, CL_MEM_HOST) != failed;
    wrong += clmcopy(stddev, 0, &on_stack, &on_stack, 0) != failed;
    wrong += clsizeofmem(&on_stack) != 0 || clmemptr(stddev, &on_stack) != NULL;
    wrong += clmctl(&on_stack, CL_MCTL_GET_STATUS) != -1;
    wrong += clglmalloc(stddev, 0, 0, 0, 0) != NULL || clglmsync(stddev, 0, &on_stack, 0) != failed;
    void *detached = clmalloc(NULL, 100, CL_MEM_DETACHED); /* needs no device */
    wrong += !detached || clmattach(stddev, detached) != -1 || clmdetach(detached) != -1;
    wrong += clfree(detached) != 0;
    wrong += clopen(stddev, "kernels/basic.cl", CLLD_NOW) || clopen(stddev, NULL, CLLD_NOW);
    wrong += clsopen(stddev, "", 0) || clload(stddev, &on_stack, 4, 0);
    wrong += clloadb(stddev, 1, NULL, NULL, 0) || clopen_named(stddev, "x", "", 0, NULL, 0);
    wrong += clbuild(stddev, &on_stack, options, 0) != -1 || clclose(stddev, &on_stack) != -1;
    wrong += clsave(stddev, NULL, 0, "/proc/nonexistent/file") != -1 || clclose(stddev, NULL) != -1;
    wrong += clsym(stddev, NULL, "x", 0) != NULL;
    wrong += clarg_set((cl_kernel)NULL, 0, 1) != -1 || clarg_set_local((cl_kernel)NULL, 0, 1) != -1;
    wrong += clarg_set_global((cl_kernel)NULL, 0, &on_stack) != (size_t)-1;
    wrong += clfork(stddev, 0, NULL, &ndr, 0) != failed ||
             clforka(stddev, 0, NULL, &ndr, 0, 1) != failed;
    wrong += clexec(stddev, 0, &ndr, nowhere, 1) != failed ||
             clexecb(stddev, 0, &ndr, nowhere) != failed;
    wrong += clwait(stddev, 0, CL_ALL_EVENT) != failed; /* what clexec could not start */
    wrong += clwait(stddev, 0, CL_ALL_EVENT) != NULL;   /* nothing to wait for is no error */
    wrong += clflush(stddev, 0, 0) != -1;
    printf("wrong %d\n", wrong);
    return 0;
}

/* Print the devices of a context and keep them until the parent closes our standard input. */
static int hold_device(CLCONTEXT *cp)
{
    print_devices(cp);
    fflush(stdout);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}

static int reclaim(const char *pattern, int key, size_t max)
{
    for (int round = 0; round < 3; round++) {
        CLCONTEXT *cp = clcontext_create(pattern, (int)CL_DEVICE_TYPE_ALL, max, NULL, key);
        print_devices(cp);
        if (cp && clcontext_destroy(cp) != 0)
            printf("not destroyed\n");
    }
    return 0;
}

static int launch_without_data(void)
{
    static const char source[] = "__kernel void pass(__global const int *in, __global int *out)\n"
                                 "{ out[get_global_id(0)] = in[get_global_id(0)]; }\n";
    int *in = clmalloc(stddev, 64 * sizeof *in, CL_MEM_PER_DEVICE);
    int *out = clmalloc(stddev, 64 * sizeof *out, CL_MEM_PER_DEVICE);
    clsopen(stddev, source, CLLD_NOW);
    for (int i = 0; i < 2; i++)
        clexec(stddev, 0, clrange1(64), pass, in, out);
    fputs("launched\n", stderr);
    return clwait(stddev, 0, CL_ALL_EVENT) != 0;
}

static int fail_repeatedly(void)
{
    int on_stack = 0;
    for (int i = 0; i < 200; i++)
        clfree(&on_stack);
    clgetqueue(NULL, 0);
    for (int i = 0; i < 3; i++)
        clfree(&on_stack);
    return 0;
}

static int fail_once(void)
{
    int on_stack = 0;
    clfree(&on_stack);
    clerrno = EBUSY;
    clperror("first");
    oclerrno = CL_OUT_OF_RESOURCES;
    oclperror("second");
    clperror(NULL);
    return 0;
}

/* Never destroyed: the end of the process must release its locks. Volatile, so that the pointer
 * is stored and a leak checker finds it. */
static CLCONTEXT *volatile made;

static int build_file(const char *file)
{
    void *program = clopen(stddev, file, CLLD_NOW);
    printf("%s\n", program ? "built" : clerror());
    return 0;
}

int main(int argc, char **argv)
{
    const char *question = argc > 1 ? argv[1] : "";
    if (strcmp(question, "counts") == 0)
        return print_counts();
    if (strcmp(question, "calls") == 0)
        return count_calls_of();
    if (strcmp(question, "build") == 0 && argc == 3)
        return build_file(argv[2]);
    if (strcmp(question, "no-data") == 0)
        return launch_without_data();
    if (strcmp(question, "repeat") == 0)
        return fail_repeatedly();
    if (strcmp(question, "fail") == 0)
        return fail_once();
    if (strcmp(question, "standard-claim") == 0)
        return hold_device(stddev);
    if (strcmp(question, "create") == 0 && argc == 5) {
        made = clcontext_create(argv[2], atoi(argv[3]), (size_t)atoi(argv[4]), NULL, 0);
        print_devices(made);
        return 0;
    }
    if (strcmp(question, "claim") == 0 && argc == 5) {
        made = clcontext_create(argv[2], (int)CL_DEVICE_TYPE_ALL, (size_t)atoi(argv[4]), NULL,
                                atoi(argv[3]));
        return hold_device(made);
    }
    if (strcmp(question, "reclaim") == 0 && argc == 5)
        return reclaim(argv[2], atoi(argv[3]), (size_t)atoi(argv[4]));
    fprintf(stderr, "layer_child: no such question: %s\n", question);
    return 2;
}
