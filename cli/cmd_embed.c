/* cmd_embed.c - `stdcl embed a.cl b.cl -o kernels.o`: kernels as part of an executable.
 *
 * The sources become bytes in a C file, with a constructor that registers them with the library before
 * main; clopen(cp, NULL, flags) then opens them. The system's C compiler makes an object of it. The
 * generated C needs no header: it declares the two names of stdcl.h that it uses.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include "core/outfile.h"

#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- Reading. -------------------------------------------------------------------------------- */

struct source {
    const char *name;
    unsigned char *data;
    size_t size;
};

/* Reads a whole file of any kind, a pipe as well. */
static int read_source(const char *name, struct source *source)
{
    struct stat status;
    *source = (struct source){.name = name};
    FILE *fp = fopen(name, "rb");
    if (!fp || (fstat(fileno(fp), &status) == 0 && S_ISDIR(status.st_mode))) {
        const char *why = fp ? "it is a folder" : strerror(errno);
        if (fp)
            fclose(fp);
        return cli_failed("cannot read '%s': %s", name, why);
    }
    size_t got, room = 1 << 16;
    source->data = cli_alloc(room, 1);
    while ((got = fread(source->data + source->size, 1, room - source->size, fp)) > 0)
        if ((source->size += got) == room)
            source->data = cli_realloc(source->data, room *= 2, 1);
    const bool broken = ferror(fp);
    fclose(fp);
    if (broken)
        return cli_failed("cannot read '%s': the device reports an error", name);
    if (source->size == 0)
        return cli_failed("'%s' is empty: there is no kernel to embed", name);
    return CLI_DONE;
}

/* ---- Writing C. ------------------------------------------------------------------------------ */

/* A string literal that is good for any name: what is not plain ASCII, and '?', which might begin a
 * trigraph, is written in octal, of three digits so that a digit may follow. */
static void write_literal(const char *text, FILE *fp)
{
    fputc('"', fp);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\' || *p == '?')
            fprintf(fp, "\\%03o", *p);
        else
            fputc(*p, fp);
    fputc('"', fp);
}

static void write_bytes(size_t number, const struct source *source, FILE *fp)
{
    fprintf(fp, "static const unsigned char source_%zu[] = {", number);
    for (size_t i = 0; i < source->size; i++)
        fprintf(fp, "%s%u,", i % 20 ? "" : "\n", source->data[i]);
    fputs("\n0};\n\n", fp); /* a zero after the end, not counted */
}

static void write_c(const struct source *source, size_t n, FILE *fp)
{
    fputs("/* Kernel sources, made by `stdcl embed`; do not edit. Link this object itself, not an\n"
          " * archive of it: nothing refers to it, and a linker takes from archives only what is. */\n"
          "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
          "struct stdcl_embedded {\n    const char *name;\n    const unsigned char *data;\n"
          "    __SIZE_TYPE__ size;\n    struct stdcl_embedded *next;\n};\n"
          "void stdcl_embed_register(struct stdcl_embedded *);\n"
          "#ifdef __cplusplus\n}\n#endif\n\n", fp);
    for (size_t i = 0; i < n; i++)
        write_bytes(i, &source[i], fp);
    fputs("static struct stdcl_embedded sources[] = {\n", fp);
    for (size_t i = 0; i < n; i++) {
        fputs("    {", fp);
        write_literal(source[i].name, fp);
        fprintf(fp, ", source_%zu, %zu, 0},\n", i, source[i].size);
    }
    fprintf(fp, "};\n\n__attribute__((constructor)) static void register_sources(void)\n{\n"
                "    for (unsigned i = 0; i < %zu; i++)\n"
                "        stdcl_embed_register(&sources[i]);\n}\n", n);
}

static int write_c_file(const char *file, const struct source *source, size_t n)
{
    struct outfile out;
    if (outfile_open(&out, file) < 0)
        return cli_failed_call(NULL);
    write_c(source, n, out.fp);
    return outfile_commit(&out) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

/* ---- Compiling. ------------------------------------------------------------------------------ */

/* Runs a program and waits; its exit status, or -1 with errno when it could not be run. */
static int run_program(char *const *argv)
{
    pid_t child;
    int status;
    const int error = posix_spawnp(&child, argv[0], NULL, NULL, argv, environ);
    if (error) {
        errno = error;
        return -1;
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Compiles with $CC, which may hold flags as in CC="ccache gcc -m32". */
static int compile(const char *c_file, const char *object)
{
    const char *cc = getenv("CC");
    char *words = strdup(cc && cc[strspn(cc, " \t")] ? cc : "cc"), *rest = words;
    struct cli_strings argv = {0};
    for (char *word; (word = strtok_r(rest, " \t", &rest));)
        cli_strings_add(&argv, word);
    const char *const flags[] = {"-c", "-O0", "-fPIC", "-o", object, c_file, NULL};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        cli_strings_add(&argv, flags[i]);
    const int status = run_program((char *const *)(uintptr_t)argv.item);
    int result = CLI_DONE;
    if (status == -1 || status == 127)
        result = cli_failed("cannot run the C compiler '%s': %s; install one, or name it in CC",
                            argv.item[0], status == -1 ? strerror(errno) : "not found");
    else if (status != 0)
        result = cli_failed("the C compiler '%s' ended with status %d", argv.item[0], status);
    cli_strings_free(&argv);
    free(words);
    return result;
}

/* Compiles in a folder of its own, then writes the bytes to where they belong, whole or not at all. */
static int write_object_file(const char *file, const struct source *source, size_t n)
{
    const char *tmp = getenv("TMPDIR");
    char folder[3000], c_file[3072], object[3072];
    struct source bytes = {0};
    struct outfile out;
    const int length = snprintf(folder, sizeof folder, "%s/stdcl-embed-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (length >= (int)sizeof folder || !mkdtemp(folder))
        return cli_failed("cannot make a temporary folder '%s': %s", folder, strerror(errno));
    snprintf(c_file, sizeof c_file, "%s/kernels.c", folder);
    snprintf(object, sizeof object, "%s/kernels.o", folder);

    int status = outfile_open(&out, file) < 0 ? cli_failed_call(NULL) : CLI_DONE;
    if (status == CLI_DONE) {
        if ((status = write_c_file(c_file, source, n)) == CLI_DONE &&
            (status = compile(c_file, object)) == CLI_DONE &&
            (status = read_source(object, &bytes)) == CLI_DONE) {
            fwrite(bytes.data, 1, bytes.size, out.fp);
            status = outfile_commit(&out) < 0 ? cli_failed_call(NULL) : CLI_DONE;
        } else {
            outfile_discard(&out);
        }
    }
    unlink(c_file);
    unlink(object);
    rmdir(folder);
    free(bytes.data);
    return status;
}

/* ---- The command. ---------------------------------------------------------------------------- */

static int check_names(const struct cli_strings *files, const char *output)
{
    if (!output)
        return cli_wrong("-o is missing: give the object (kernels.o) or C file (kernels.c) to make");
    if (!cli_has_suffix(output, ".o") && !cli_has_suffix(output, ".c"))
        return cli_wrong("-o: '%s' ends neither in .o (an object) nor in .c (the C source)", output);
    for (size_t i = 0; i < files->n; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(files->item[i], files->item[j]))
                return cli_wrong("'%s' is given twice", files->item[i]);
    return CLI_DONE;
}

static int embed(const struct cli_strings *files, const char *output)
{
    struct source *source = cli_alloc(files->n, sizeof *source);
    int status = check_names(files, output);
    for (size_t i = 0; i < files->n && status == CLI_DONE; i++)
        status = read_source(files->item[i], &source[i]);
    if (status == CLI_DONE)
        status = cli_has_suffix(output, ".c") ? write_c_file(output, source, files->n)
                                              : write_object_file(output, source, files->n);
    for (size_t i = 0; i < files->n; i++)
        free(source[i].data);
    free(source);
    return status;
}

static int run(int argc, char **argv)
{
    const char *output = NULL;
    struct cli_strings files = {0};
    int status;
    struct cli_option options[] = {
        CLI_STRING('o', "output", "FILE", &output,
                   "what to make: an object (.o), compiled by $CC or cc, or its C source (.c)"),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "FILE.cl... -o FILE.o",
        .about = "Puts kernel sources into an object file. Linked into a program, that carries its "
                 "kernels then, clopen(context, NULL, flags) opens them.",
        .examples = "  stdcl embed scale.cl sum.cl -o kernels.o\n"
                    "  cc main.c kernels.o -lstdcl -lOpenCL\n",
        .options = options,
        .operands = &files,
        .operands_min = 1,
        .operand = "the kernel file",
    };
    if (cli_parse(&usage, argc, argv, &status))
        status = embed(&files, output);
    cli_strings_free(&files);
    return status;
}

const struct cli_command cmd_embed = {"embed", "put kernel sources into an object file", run};
