/* test_template_open.c - kernels from templates, on every device: from files and from memory,
 * with values in both forms; and the line numbers in messages of the OpenCL compiler and of Lua.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

static CLCONTEXT *cp;
static int *out;
static char folder[] = "/tmp/stdcl-template-XXXXXX";

enum { OUT = 64 };

static int template_setup(void **state)
{
    (void)state;
    cp = stddev;
    out = clmalloc(cp, OUT * sizeof *out, 0);
    return setup_done(out && mkdtemp(folder));
}

static int template_teardown(void **state)
{
    (void)state;
    char command[64];
    clfree(out);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Write a file in the test's folder; its path is valid until the next call. */
static const char *write_template(const char *name, const char *text)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *fp = fopen(path, "wb");
    assert_non_null(fp);
    assert_true(fputs(text, fp) >= 0);
    assert_int_equal(fclose(fp), 0);
    return path;
}

/* An unrolled loop: out[i] = 1 * i + 2 * i + ... + N * i. */
#define POLYNOMIAL                                                                                 \
    "__kernel void polynomial(__global int *out)\n"                                                \
    "{\n"                                                                                          \
    "    int i = (int)get_global_id(0), sum = 0;\n"                                                \
    "|for k = 1, N or 4 do\n"                                                                      \
    "    sum += ${k} * i;\n"                                                                       \
    "|end\n"                                                                                       \
    "    out[i] = sum;\n"                                                                          \
    "}\n"

/* Run the program on every device, compare with n * (n + 1) / 2 * i, and close it. */
static void check_polynomial(void *program, int n)
{
    clndrange_t ndr = clndrange_init1d(0, OUT, 0);
    ready(program);
    cl_kernel krn = clsym(cp, program, "polynomial", 0);
    ready(krn);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        memset(out, 0xff, OUT * sizeof *out);
        done(clforka(cp, dev, krn, &ndr, CL_EVENT_WAIT, out));
        done(clmsync(cp, dev, out, CL_MEM_HOST));
        for (int i = 0; i < OUT; i++)
            assert_int_equal(out[i], n * (n + 1) / 2 * i);
    }
    works(clclose(cp, program));
}

static void template_file_is_opened(void **state)
{
    (void)state;
    const clvalue_t nine[] = {clvalue("N", 9), CLVALUE_END};
    const char *path = write_template("polynomial.clt", POLYNOMIAL);
    check_polynomial(clopen(cp, path, CLLD_NOW), 4);
    check_polynomial(clopen(cp, path, CLLD_LAZY), 4);
    check_polynomial(clopent(cp, path, CLLD_NOW, "N = %d", 7), 7);
    check_polynomial(clopent(cp, path, CLLD_LAZY, NULL), 4);
    check_polynomial(clopentv(cp, path, CLLD_NOW, nine), 9);
    check_polynomial(clopentv(cp, path, CLLD_NOW, NULL), 4);
    path = write_template("other.name", POLYNOMIAL);
    check_polynomial(clopent(cp, path, CLLD_NOW, "N = 2"), 2);
    fails_null(ENOEXEC, clopen(cp, path, CLLD_NOW)); /* taken for OpenCL C */
}

/* The template's folder is searched for includes; clbuild adds options. */
static void template_includes_are_searched(void **state)
{
    (void)state;
    write_template("weight.h", "#define WEIGHT 1\n");
    const char *path = write_template("include.clt", "#include \"weight.h\"\n" POLYNOMIAL
                                                     "#if WEIGHT + FACTOR != 3\n#error\n#endif\n");
    void *program = clopent(cp, path, CLLD_NOBUILD, "N = 3");
    ready(program);
    works(clbuild(cp, program, "-D FACTOR=2", 0));
    check_polynomial(program, 3);
    fails_null(ENOEXEC, clopent(cp, path, CLLD_NOW, "N = 3"));
}

static void *open_memory(const char *name, const char *text, int n)
{
    return clopen_template(cp, name, text, strlen(text), "-D OPTION", CLLD_NOW, "N = %d", n);
}

static void template_is_opened_from_memory(void **state)
{
    (void)state;
    const char *text = "#ifndef OPTION\n#error\n#endif\n" POLYNOMIAL;
    const clvalue_t five[] = {clvalue("N", 5), CLVALUE_END};
    check_polynomial(open_memory("engine/polynomial.clt", text, 6), 6);
    check_polynomial(clopen_templatev(cp, "p", text, strlen(text), "-DOPTION", CLLD_NOW, five), 5);
    check_polynomial(clopen_named(cp, "p.clt", text, strlen(text), "-DOPTION", CLLD_NOW), 4);
    /* Without the suffix, clopen_named takes the text for OpenCL C, where a line cannot begin
     * with a bar. */
    fails_null(ENOEXEC, clopen_named(cp, "p.cl", text, strlen(text), "-DOPTION", CLLD_NOW));
}

/* $STDCL_KERNEL_PATH replaces the template, not its values. */
static void template_kernel_path_replaces_text(void **state)
{
    (void)state;
    write_template("replaced.clt", "|assert(N == 6)\n|N = 8\n" POLYNOMIAL);
    write_template("broken.clt", "\n\n${M}\n");
    setenv("STDCL_KERNEL_PATH", folder, 1);
    void *replaced = open_memory("replaced.clt", "nonsense", 6);
    void *kept = open_memory("kept.clt", POLYNOMIAL, 6);
    void *broken = open_memory("broken.clt", POLYNOMIAL, 6);
    const char *sentence = clerror();
    unsetenv("STDCL_KERNEL_PATH");
    assert_null(broken);
    assert_non_null(strstr(sentence, "/broken.clt:3: the name 'M'"));
    check_polynomial(replaced, 8);
    check_polynomial(kept, 6);
}

/* A file linked in by `stdcl embed` may be a template too. */
static void template_embedded_is_opened(void **state)
{
    (void)state;
    static struct stdcl_embedded source = {.name = "embedded.clt",
                                           .data = (const unsigned char *)POLYNOMIAL,
                                           .size = sizeof POLYNOMIAL - 1};
    stdcl_embed_register(&source);
    check_polynomial(clopen(cp, NULL, CLLD_NOW), 4);
}

/* ---- Where messages point. ---- */

/* An error in the middle of a loop, on line 7 of the template and on line 15 of the text or
 * later. */
#define LOOP                                                                                       \
    "// one\n"                                                                                     \
    "__kernel void loop(__global int *out)\n"                                                      \
    "{\n"                                                                                          \
    "|for k = 1, 5 do\n"                                                                           \
    "|  local v = names[k]\n"                                                                      \
    "    // for ${v}\n"                                                                            \
    "    out[${k}] = ${v};\n"                                                                      \
    "|end\n"                                                                                       \
    "    out[0] = last;\n"                                                                         \
    "}\n"

static void check_log(void *program, const char *const *parts, size_t n)
{
    assert_null(program);
    assert_int_equal(clerrno, ENOEXEC);
    const char *log = clerror();
    ready(log);
    for (size_t i = 0; i < n; i++)
        if (!strstr(log, parts[i])) {
            print_error("there is no \"%s\" in:\n%s\n", parts[i], log);
            fail();
        }
    assert_null(strstr(log, "loop.clt:1:"));
    assert_null(strstr(log, "loop.clt:15:"));
}

static void template_compiler_messages_name_lines(void **state)
{
    (void)state;
    const char *parts[] = {"loop.clt:7:", "wrong", "loop.clt:9:", "last"};
    const char *path = write_template("loop.clt", LOOP);
    char in_folder[300];
    snprintf(in_folder, sizeof in_folder, "%s:7:", path);
    check_log(clopent(cp, path, CLLD_NOW, "names = {0, 1, 2, 'wrong', 4}"), parts, 4);
    parts[0] = in_folder; /* the whole path */
    check_log(clopent(cp, path, CLLD_NOW, "names = {0, 1, 2, 'wrong', 4}"), parts, 4);
    parts[0] = "loop.clt:7:";
    check_log(clopen_template(cp, "loop.clt", LOOP, strlen(LOOP), NULL, CLLD_NOW,
                              "names = {0, 1, 2, 3, 'wrong'}"),
              parts, 4);
}

static void template_lua_messages_name_lines(void **state)
{
    (void)state;
    char begin[512];
    const char *path = write_template("loop.clt", LOOP);
    snprintf(begin, sizeof begin, "%s:6: ${v} is nil", path);
    fails_null(ENOEXEC, clopent(cp, path, CLLD_NOW, "names = {0, 1}"));
    (void)clopent(cp, path, CLLD_NOW, "names = {0, 1}");
    assert_string_equal(clerror(), begin);
    snprintf(begin, sizeof begin,
             "%s:5: attempt to index global 'names' (a nil value) (the name 'names' has no value)",
             path);
    (void)clopen(cp, path, CLLD_LAZY);
    assert_string_equal(clerror(), begin);
}

static void template_open_rejects_bad_arguments(void **state)
{
    (void)state;
    char missing[300];
    snprintf(missing, sizeof missing, "%s/missing.clt", folder);
    fails_null(ENOENT, clopen(cp, missing, CLLD_NOW));
    fails_null(ENOENT, clopent(cp, missing, CLLD_NOW, "N = 1"));
    fails_null(EINVAL, clopent(cp, folder, CLLD_NOW, "N = 1"));
    fails_null(EINVAL, clopent(cp, NULL, CLLD_NOW, "N = 1"));
    fails_null(EINVAL, clopentv(cp, NULL, CLLD_NOW, NULL));
    fails_null(EINVAL, clopen_template(cp, NULL, "x", 1, NULL, CLLD_NOW, NULL));
    fails_null(EINVAL, clopen_template(cp, "x.clt", NULL, 1, NULL, CLLD_NOW, NULL));
    fails_null(EINVAL, clopen_template(NULL, "x.clt", POLYNOMIAL, sizeof POLYNOMIAL - 1, NULL,
                                       CLLD_NOW, NULL));
    fails_null(EINVAL, clopent(cp, write_template("v.clt", POLYNOMIAL), CLLD_NOW, "N = = 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(template_file_is_opened),
        cmocka_unit_test(template_includes_are_searched),
        cmocka_unit_test(template_is_opened_from_memory),
        cmocka_unit_test(template_kernel_path_replaces_text),
        cmocka_unit_test(template_embedded_is_opened),
        cmocka_unit_test(template_compiler_messages_name_lines),
        cmocka_unit_test(template_lua_messages_name_lines),
        cmocka_unit_test(template_open_rejects_bad_arguments),
    };
    return cmocka_run_group_tests(tests, template_setup, template_teardown);
}
