/* embed_object.c - kernels as an object file.
 *
 * The kernels become bytes in a C file, with a constructor that registers them with the library
 * before main. The system's C compiler compiles it. The generated C needs no header: it declares
 * the few names of stdcl.h that it uses.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "files.h"
#include "interrupt.h"
#include "message.h"
#include "options.h"
#include "embed_job.h"

#include "core/outfile.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- Writing C. ------------------------------------------------------------------------------ */

static const char declarations[] =
    "/* Kernels, made by `stdcl embed`; do not edit. Of an archive a linker takes only what is referred to:\n"
    " * link the object itself, or tell the linker its symbol, at the end. */\n"
    "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
    "struct stdcl_embedded {\n    const char *name;\n    const unsigned char *data;\n"
    "    __SIZE_TYPE__ size;\n    struct stdcl_embedded *next;\n};\n"
    "void stdcl_embed_register(struct stdcl_embedded *);\n"
    "struct stdcl_embedded_binary {\n    const struct stdcl_embedded *source;\n    const char *device;\n"
    "    const unsigned char *data;\n    __SIZE_TYPE__ size;\n    struct stdcl_embedded_binary *next;\n};\n"
    "void stdcl_embed_register_binary(struct stdcl_embedded_binary *);\n"
    "#ifdef __cplusplus\n}\n#endif\n\n";
static const char binary_declarations[] = "static struct stdcl_embedded_binary binaries[] = {\n";

/* A string literal that is good for any name: characters outside plain ASCII, and '?', which might
 * begin a trigraph, are written in octal, with three digits so that a digit may follow. */
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

static void write_bytes(const unsigned char *data, size_t size, FILE *fp)
{
    fputs("[] = {", fp);
    for (size_t i = 0; i < size; i++)
        fprintf(fp, "%s%u,", i % 20 ? "" : "\n", data[i]);
    fputs("\n0};\n\n", fp); /* a zero after the end, not counted */
}

static void write_sources(const struct embed_source *source, size_t n, FILE *fp)
{
    for (size_t i = 0; i < n; i++) {
        fprintf(fp, "static const unsigned char source_%zu", i);
        write_bytes((const unsigned char *)source[i].text, source[i].size, fp);
    }
    fputs("static struct stdcl_embedded sources[] = {\n", fp);
    for (size_t i = 0; i < n; i++) {
        fputs("    {", fp);
        write_literal(source[i].name, fp);
        fprintf(fp, ", source_%zu, %zu, 0},\n", i, source[i].size);
    }
    fputs("};\n\n", fp);
}

/* Write the binaries; return their number. */
static size_t write_binaries(const struct embed_source *source, size_t n, FILE *fp)
{
    size_t count = 0, k = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < source[i].nbinary; j++) {
            fprintf(fp, "static const unsigned char binary_%zu", count++);
            write_bytes(source[i].binary[j].data, source[i].binary[j].size, fp);
        }
    if (count)
        fputs(binary_declarations, fp);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < source[i].nbinary; j++, k++) {
            fprintf(fp, "    {&sources[%zu], ", i);
            write_literal(source[i].binary[j].identity, fp);
            fprintf(fp, ", binary_%zu, %zu, 0},\n", k, source[i].binary[j].size);
        }
    if (count)
        fputs("};\n\n", fp);
    return count;
}

/* Write the C source. The symbol is weak so that objects of equal names can be linked together. */
static void write_c(const struct embed_source *source, size_t n, const char *symbol, FILE *fp)
{
    fputs(declarations, fp);
    write_sources(source, n, fp);
    const size_t binaries = write_binaries(source, n, fp);
    fprintf(fp,
            "__attribute__((constructor)) static void register_sources(void)\n{\n"
            "    for (unsigned i = 0; i < %zu; i++)\n"
            "        stdcl_embed_register(&sources[i]);\n",
            n);
    if (binaries)
        fprintf(fp,
                "    for (unsigned i = 0; i < %zu; i++)\n"
                "        stdcl_embed_register_binary(&binaries[i]);\n",
                binaries);
    fprintf(fp,
            "}\n\n/* This name makes a linker keep the object (-u). */\n"
            "__attribute__((weak, visibility(\"hidden\"))) char %s = 1;\n",
            symbol);
}

static int write_c_file(const char *file, const struct embed_source *source, size_t n,
                        const char *symbol)
{
    struct outfile out;
    if (outfile_open(&out, file) < 0)
        return cli_failed_call(NULL);
    write_c(source, n, symbol, out.fp);
    return outfile_commit(&out) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

/* ---- Compiling. ------------------------------------------------------------------------------ */

/* Run a program and wait. Return its exit status, or -1 with errno if it could not be started. */
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

/* Compile with $CC, which may contain flags: CC="ccache gcc -m32". */
static int compile_c_file(const char *c_file, const char *object)
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
    if (cli_interrupted())
        result = cli_interrupt_status(CLI_FAILED);
    else if (status == -1 || status == 127)
        result = cli_failed("cannot run the C compiler '%s': %s; install one, or name it in CC",
                            argv.item[0], status == -1 ? strerror(errno) : "not found");
    else if (status != 0)
        result = cli_failed("the C compiler '%s' exited with status %d", argv.item[0], status);
    cli_strings_free(&argv);
    free(words);
    return result;
}

/* Compile in a folder, and write the object to `out`. */
static int compile_object(const char *folder, const struct embed_source *source, size_t n,
                          const char *symbol, FILE *out)
{
    char c_file[3072], object[3072];
    size_t size;
    int status;
    snprintf(c_file, sizeof c_file, "%s/kernels.c", folder);
    snprintf(object, sizeof object, "%s/kernels.o", folder);
    if ((status = write_c_file(c_file, source, n, symbol)) != CLI_DONE)
        return status;
    if ((status = compile_c_file(c_file, object)) != CLI_DONE)
        return status;
    char *bytes = embed_read_file(object, &size);
    if (!bytes)
        return CLI_FAILED;
    fwrite(bytes, 1, size, out);
    free(bytes);
    return CLI_DONE;
}

/* Compile in a temporary directory, then write the object to its file, complete or not at all. */
static int write_object_file(const char *file, const struct embed_source *source, size_t n,
                             const char *symbol)
{
    char folder[3000];
    struct outfile out;
    if (embed_make_folder(folder, sizeof folder) != CLI_DONE)
        return CLI_FAILED;
    const bool opened = outfile_open(&out, file) >= 0;
    int status = opened ? compile_object(folder, source, n, symbol, out.fp) : cli_failed_call(NULL);
    if (opened && status != CLI_DONE)
        outfile_discard(&out);
    else if (opened && outfile_commit(&out) < 0)
        status = cli_failed_call(NULL);
    outfile_folder_remove(folder);
    return status;
}

/* ---- The file. ------------------------------------------------------------------------------- */

void embed_symbol(const char *file, char *symbol, size_t size)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file,
               *dot = strrchr(base, '.');
    snprintf(symbol, size, "stdcl_embed_%.*s", (int)(dot ? dot - base : (long)strlen(base)), base);
    for (char *p = symbol; *p; p++)
        if (!isalnum((unsigned char)*p) || (unsigned char)*p > '~')
            *p = '_';
}

int embed_write(const char *file, const struct embed_source *source, size_t n)
{
    char symbol[256];
    embed_symbol(file, symbol, sizeof symbol);
    return cli_has_suffix(file, ".c") ? write_c_file(file, source, n, symbol)
                                      : write_object_file(file, source, n, symbol);
}
