/* embed_include.c - a kernel file with its includes expanded.
 *
 * An executable has no directory of headers. Each #include of a file that is found is replaced
 * by the file's text, between #line directives that keep the user's files and lines in compilers'
 * messages. Conditionals stay: skipping an #include skips its text. Each end of a conditional is
 * followed by another #line, because skipped #line directives did not count. An include that is
 * not found, such as <stdcl.h>, is left to the compiler.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "files.h"
#include "alloc.h"
#include "message.h"
#include "options.h"
#include "embed_job.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *embed_read_file(const char *name, size_t *size)
{
    struct stat status;
    FILE *fp = fopen(name, "rb");
    const mode_t kind = fp && fstat(fileno(fp), &status) == 0 ? status.st_mode : 0;
    if (!fp || S_ISDIR(kind) || S_ISCHR(kind)) { /* /dev/zero has no end */
        const char *why = !fp             ? strerror(errno)
                          : S_ISDIR(kind) ? "it is a directory"
                                          : "it is a device";
        if (fp)
            fclose(fp);
        return (void)cli_failed("cannot read '%s': %s", name, why), NULL;
    }
    size_t got, room = 1 << 16;
    char *data = cli_alloc(room, 1);
    *size = 0;
    while ((got = fread(data + *size, 1, room - 1 - *size, fp)) > 0)
        if ((*size += got) == room - 1)
            data = cli_realloc(data, room *= 2, 1);
    const bool broken = ferror(fp);
    fclose(fp);
    data[*size] = 0;
    if (!broken)
        return data;
    free(data);
    return (void)cli_failed("cannot read '%s': input/output error", name), NULL;
}

void embed_source_free(struct embed_source *source)
{
    for (size_t i = 0; i < source->nbinary; i++)
        free(source->binary[i].data);
    free(source->binary);
    free(source->text);
}

/* Read OpenCL C without the byte order mark, which is an error in the middle of a file. */
static char *read_kernel_text(const char *name, size_t *size)
{
    char *data = embed_read_file(name, size);
    const char *text = data;
    if (!data)
        return NULL;
    skip_byte_order_mark(&text, size);
    return memmove(data, text, *size + 1);
}

/* ---- Finding files. -------------------------------------------------------------------------- */

enum { DEEPEST = 100 };

struct includer {
    FILE *out;
    const struct cli_strings *folders;
    size_t depth, nonce;
    struct level {
        const char *file;
        ino_t inode;
        dev_t device;
    } level[DEEPEST], *once; /* open files; files with `#pragma once` */
};

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Find an include file as compilers do: a quoted name beside the including file, any name in -I,
 * then the working directory. */
static bool find_include(const struct includer *in, const char *name, bool quoted, char *path,
                         size_t size)
{
    const char *from = in->level[in->depth - 1].file, *slash = strrchr(from, '/');
    if (name[0] == '/')
        return snprintf(path, size, "%s", name) < (int)size && is_file(path);
    if (quoted) {
        snprintf(path, size, "%.*s%s", slash ? (int)(slash - from + 1) : 0, from, name);
        if (is_file(path))
            return true;
    }
    for (size_t i = 0; i < in->folders->n; i++) {
        const char *folder = in->folders->item[i];
        snprintf(path, size, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
        if (is_file(path))
            return true;
    }
    return snprintf(path, size, "%s", name) < (int)size && is_file(path);
}

/* True if a file is already being included: its guard would make it empty. */
static bool is_open(const struct includer *in, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    for (size_t i = 0; i < in->depth; i++)
        if (in->level[i].inode == status.st_ino && in->level[i].device == status.st_dev)
            return true;
    return false;
}

/* ---- Lines. ---------------------------------------------------------------------------------- */

/* Text after "#" and blanks if the line is a directive; else NULL. */
static const char *directive(const char *line)
{
    line += strspn(line, " \t");
    return *line == '#' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

static bool begins_with_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    return text && strncmp(text, word, length) == 0 && !isalnum((unsigned char)text[length]) &&
           text[length] != '_';
}

/* Parse an #include; *rest: the rest of the line. */
static bool included_name(const char *line, char *name, size_t size, bool *quoted,
                          const char **rest)
{
    const char *p = directive(line);
    if (!begins_with_word(p, "include"))
        return false;
    p += strlen("include");
    p += strspn(p, " \t");
    *quoted = *p == '"';
    if (*p != '"' && *p != '<')
        return false;
    const size_t length = strcspn(p + 1, *quoted ? "\"\n" : ">\n");
    if (p[1 + length] != (*quoted ? '"' : '>') || length == 0 || length >= size)
        return false;
    snprintf(name, size, "%.*s", (int)length, p + 1);
    *rest = p + length + 2;
    return true;
}

/* True if this piece of a line ends inside a multi-line comment; `comment`: it began in one. */
static bool in_comment_after(const char *p, size_t length, bool comment)
{
    for (const char *end = p + length; p < end; p++) {
        if (comment) {
            if (p[0] == '*' && p[1] == '/')
                comment = false, p++;
        } else if (*p == '"' || *p == '\'') {
            for (const char quote = *p++; p < end && *p != quote; p++)
                p += *p == '\\';
        } else if (p[0] == '/' && p[1] == '/') {
            return false;
        } else if (p[0] == '/' && p[1] == '*') {
            comment = true, p++;
        }
    }
    return comment;
}

static void write_line_directive(FILE *out, size_t line, const char *file)
{
    fprintf(out, "#line %zu \"", line);
    for (; *file; file++)
        fprintf(out, *file == '"' || *file == '\\' ? "\\%c" : "%c", *file);
    fputs("\"\n", out);
}

/* ---- Files. ---------------------------------------------------------------------------------- */

static int write_expanded_file(struct includer *in, const char *file, const char *text);

/* Write an included file instead of its #include on `line`, then the rest of the line. */
static int write_included(struct includer *in, const char *path, size_t line, const char *rest)
{
    const char *from = in->level[in->depth - 1].file;
    int status = CLI_DONE;
    if (!is_open(in, path)) {
        size_t size;
        char *text = read_kernel_text(path, &size);
        if (!text)
            return CLI_FAILED;
        status = write_expanded_file(in, path, text);
        free(text);
    }
    write_line_directive(in->out, line, from);
    fprintf(in->out, "%.*s", (int)strcspn(rest, "\n"), rest);
    return status;
}

/* True for `#pragma once`, which is useless to a compiler that sees one file. */
static bool is_once(const char *line)
{
    const char *p = directive(line);
    if (!begins_with_word(p, "pragma"))
        return false;
    p += strlen("pragma");
    return begins_with_word(p + strspn(p, " \t"), "once");
}

/* Position in a file. */
struct reading {
    const char *file;
    size_t line; /* from 1 */
    /* the line starts in a comment or continues the previous one: no directive */
    bool comment, continued;
    bool moved; /* a file was included so far */
};

static int write_line(struct includer *in, struct reading *r, const char *line, size_t length)
{
    char name[1024], path[4096];
    const char *rest, *const p = r->comment || r->continued ? NULL : directive(line);
    bool quoted;
    if (p && included_name(line, name, sizeof name, &quoted, &rest) &&
        find_include(in, name, quoted, path, sizeof path)) {
        r->moved = true;
        if (write_included(in, path, r->line, rest) != CLI_DONE)
            return CLI_FAILED;
    } else if (!p || !is_once(line) || in->depth == 1) {
        fwrite(line, 1, length, in->out);
    }
    if (line[length])
        fputc('\n', in->out);
    if (line[length] && r->moved &&
        (begins_with_word(p, "endif") || begins_with_word(p, "else") ||
         begins_with_word(p, "elif")))
        write_line_directive(in->out, r->line + 1, r->file);
    return CLI_DONE;
}

static int write_lines(struct includer *in, const char *file, const char *text)
{
    struct reading r = {.file = file, .line = 1};
    for (const char *line = text; *line; r.line++) {
        const size_t length = strcspn(line, "\n");
        const size_t end = length && line[length - 1] == '\r' ? length - 1 : length;
        if (write_line(in, &r, line, length) != CLI_DONE)
            return CLI_FAILED;
        r.comment = in_comment_after(line, length, r.comment);
        r.continued = end && line[end - 1] == '\\';
        line += length + (line[length] == '\n');
    }
    return CLI_DONE;
}

/* Number of a file with `#pragma once`; otherwise 0. */
static size_t number_of_once(struct includer *in, const struct level *file, const char *text)
{
    bool once = false;
    for (const char *line = text; *line && !once;
         line += strcspn(line, "\n"), line += *line == '\n')
        once = is_once(line);
    if (!once)
        return 0;
    for (size_t i = 0; i < in->nonce; i++)
        if (in->once[i].inode == file->inode && in->once[i].device == file->device)
            return i + 1;
    in->once = cli_realloc(in->once, in->nonce + 1, sizeof *in->once);
    in->once[in->nonce] = *file;
    return ++in->nonce;
}

/* Write a file's lines, with a guard for `#pragma once`. */
static int write_expanded_file(struct includer *in, const char *file, const char *text)
{
    struct stat status;
    struct level *level = &in->level[in->depth];
    if (in->depth == DEEPEST || stat(file, &status) != 0)
        return cli_failed("'%s': includes are nested more than %d deep", file, DEEPEST);
    *level = (struct level){file, status.st_ino, status.st_dev};
    const size_t once = in->depth > 0 ? number_of_once(in, level, text) : 0;
    if (once)
        fprintf(in->out, "#ifndef STDCL_ONCE_%zu\n#define STDCL_ONCE_%zu\n", once, once);
    if (in->depth > 0)
        write_line_directive(in->out, 1, file);
    in->depth++;
    const int result = write_lines(in, file, text);
    in->depth--;
    if (in->depth > 0)
        fputs(once ? "\n#endif\n" : "\n", in->out);
    return result;
}

/* Refuse includes in a template: its expansion counts lines, so nothing can be inserted. */
static int check_template(const char *name, const char *text, const struct includer *in)
{
    char file[1024], path[4096];
    const char *rest;
    bool quoted;
    size_t number = 1;
    for (const char *line = text; *line;
         line += strcspn(line, "\n"), line += *line == '\n', number++)
        if (included_name(line, file, sizeof file, &quoted, &rest) &&
            find_include(in, file, quoted, path, sizeof path))
            return cli_failed(
                "%s:%zu: a template cannot include '%s'; put its text into the template", name,
                number, path);
    return CLI_DONE;
}

int embed_read(const char *name, const struct cli_strings *folders, struct embed_source *source)
{
    struct includer in = {.folders = folders};
    size_t size;
    *source = (struct embed_source){.name = name};
    char *text = read_kernel_text(name, &size);
    if (!text)
        return CLI_FAILED;
    int status = CLI_DONE;
    if (size == 0)
        status = cli_failed("'%s' is empty: no kernel to embed", name);
    else if (memchr(text, 0, size))
        status = cli_failed("'%s' is not OpenCL C: it contains zero bytes", name);
    if (status == CLI_DONE && cli_has_suffix(name, ".clt")) {
        in.level[0].file = name, in.depth = 1;
        status = check_template(name, text, &in);
        source->text = text;
        source->size = size;
        return status;
    }
    if (status == CLI_DONE && (in.out = open_memstream(&source->text, &source->size))) {
        status = write_expanded_file(&in, name, text);
        fclose(in.out);
    }
    free(in.once);
    free(text);
    return status;
}
