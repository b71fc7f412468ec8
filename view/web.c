/* web.c - the page's files: embedded, or read once from the folder $STDCL_VIEW_PATH.
 * SPDX-License-Identifier: MIT
 */
#include "view/server.h"

#include <errno.h>
#include <stdio.h>

#define FILE_(name, symbol)                                                                        \
    extern const unsigned char stdcl_kernel_##symbol[];                                            \
    extern const unsigned long stdcl_kernel_##symbol##_size;
#include "files.inc"
#undef FILE_

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".svg", "image/svg+xml"}};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i][0]) == 0)
            return types[i][1];
    return NULL; /* not served */
}

static int read_own(struct web_file *file, const char *folder)
{
    char path[4096];
    enum { MOST = 1 << 24 };
    if (snprintf(path, sizeof path, "%s/%s", folder, file->name) >= (int)sizeof path)
        return clerror_set(EINVAL, "view: the path in STDCL_VIEW_PATH is too long");
    FILE *fp = fopen(path, "rb");
    if (!fp)
        return errno == ENOENT
                   ? 0
                   : clerror_set(errno, "view: %s cannot be read: %s", path, strerror(errno));
    file->own = malloc(MOST);
    const size_t n = file->own ? fread(file->own, 1, MOST, fp) : 0;
    fclose(fp);
    if (!file->own)
        return clerror_set(ENOMEM, "view: out of memory for %s", path);
    file->text = file->own;
    file->size = n;
    return 0;
}

/* ---- What viewers get of them. --------------------------------------------------------------- */

static int web_replace(struct web_file *file, struct bytes *by)
{
    if (by->failed) {
        bytes_free(by);
        return clerror_set(ENOMEM, "view: out of memory for the page");
    }
    free(file->own);
    file->text = file->own = by->at;
    file->size = by->used;
    return 0;
}

struct web_file *web_find(struct web_file *files, size_t n, const char *name, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(files[i].name) == length && memcmp(files[i].name, name, length) == 0)
            return &files[i];
    return NULL;
}

/* True if a line starts with these characters. */
static bool line_starts(const char *at, const char *end, const char *with)
{
    const size_t length = strlen(with);
    return (size_t)(end - at) >= length && memcmp(at, with, length) == 0;
}

/* Append a module without its imports and the word `export`, since all modules are one script; and
 * without indentation, empty lines and lines of comment, a sixth of its bytes. view/web/README.md
 * says what modules keep to. */
static void put_module(struct bytes *to, const struct web_file *file)
{
    const char *at = (const char *)file->text, *const end = at + file->size;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const char *const next = line_end ? line_end + 1 : end;
        while (at < next && *at == ' ')
            at++;
        if (line_starts(at, next, "export "))
            at += strlen("export ");
        if (at < next && *at != '\n' && !line_starts(at, next, "import ") &&
            !line_starts(at, next, "//"))
            bytes_put(to, at, (size_t)(next - at));
        at = next;
    }
}

/* main.js becomes all modules, in the order of order.txt: one request instead of twenty. */
static int join_modules(struct web_file *files, size_t n)
{
    struct bytes all = {0};
    struct web_file *main = web_find(files, n, "main.js", 7),
                    *order = web_find(files, n, "order.txt", 9);
    const char *at = order ? (const char *)order->text : "", *const end =
                                                                 order ? at + order->size : at;
    while (at < end) {
        const size_t length = strcspn(at, "\r\n");
        const struct web_file *file = web_find(files, n, at, length);
        if (file)
            put_module(&all, file);
        at += length + strspn(at + length, "\r\n");
    }
    return main ? web_replace(main, &all) : 0;
}

static int web_prepare(struct web_file *files, size_t n)
{
    const char *folder = secure_getenv("STDCL_VIEW_PATH");
    for (size_t i = 0; folder && *folder && i < n; i++)
        if (read_own(&files[i], folder) < 0)
            return -1;
    if (join_modules(files, n) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const bool module = strstr(files[i].name, ".js") != NULL;
        files[i].type =
            module && strcmp(files[i].name, "main.js") != 0 ? NULL : type_of(files[i].name);
        if (files[i].type && !pack_gzip(&files[i].packed, files[i].text, files[i].size))
            bytes_free(&files[i].packed);
    }
    return 0;
}

struct web_file *web_open(size_t *n)
{
    const struct web_file all[] = {
#define FILE_(name, symbol)                                                                        \
    {name, NULL, stdcl_kernel_##symbol, stdcl_kernel_##symbol##_size, NULL, {0}},
#include "files.inc"
#undef FILE_
    };
    struct web_file *files = malloc(sizeof all);
    *n = sizeof all / sizeof *all;
    if (!files) {
        clerror_set(ENOMEM, "view: out of memory for the page");
        return NULL;
    }
    memcpy(files, all, sizeof all);
    if (web_prepare(files, *n) == 0)
        return files;
    web_close(files, *n);
    return NULL;
}

void web_close(struct web_file *files, size_t n)
{
    for (size_t i = 0; files && i < n; i++) {
        free(files[i].own);
        bytes_free(&files[i].packed);
    }
    free(files);
}
