/* web.c - the page's files: embedded, or those of the folder $STDCL_VIEW_PATH instead, read once, before anybody looks.
 * SPDX-License-Identifier: MIT
 */
#include "view/internal.h"

#include <errno.h>
#include <stdio.h>

#define FILE_(name, symbol)                                  \
    extern const unsigned char stdcl_kernel_##symbol[];      \
    extern const unsigned long stdcl_kernel_##symbol##_size;
#include "files.inc"
#undef FILE_

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"}, {".svg", "image/svg+xml"}};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i][0]) == 0)
            return types[i][1];
    return NULL; /* not for viewers */
}

static int read_own(struct web_file *file, const char *folder)
{
    char path[4096];
    enum { MOST = 1 << 24 };
    if (snprintf(path, sizeof path, "%s/%s", folder, file->name) >= (int)sizeof path)
        return clerror_set(EINVAL, "view: the path in STDCL_VIEW_PATH is too long");
    FILE *fp = fopen(path, "rb");
    if (!fp)
        return errno == ENOENT ? 0 : clerror_set(errno, "view: %s cannot be read: %s", path, strerror(errno));
    file->own = malloc(MOST);
    const size_t n = file->own ? fread(file->own, 1, MOST, fp) : 0;
    fclose(fp);
    if (!file->own)
        return clerror_set(ENOMEM, "view: no memory for %s", path);
    file->text = file->own;
    file->size = n;
    return 0;
}

/* Modules go out without what only their readers want: indentation, and lines that are a comment. Lines keep their numbers. */
static int shorten(struct web_file *file)
{
    const unsigned char *from = file->text, *const end = from + file->size;
    unsigned char *to = file->own = malloc(file->size + 1);
    if (!to)
        return clerror_set(ENOMEM, "view: no memory for the page");
    while (from < end) {
        const unsigned char *line = memchr(from, '\n', (size_t)(end - from)), *next = line ? line + 1 : end;
        while (from < next && *from == ' ')
            from++;
        if (next - from > 2 && from[0] == '/' && from[1] == '/')
            from = line ? line : end;
        memcpy(to, from, (size_t)(next - from));
        to += next - from;
        from = next;
    }
    file->size = (unsigned long)(to - file->own);
    file->text = file->own;
    return 0;
}

struct web_file *web_open(size_t *n)
{
    const struct web_file all[] = {
#define FILE_(name, symbol) {name, NULL, stdcl_kernel_##symbol, stdcl_kernel_##symbol##_size, NULL},
#include "files.inc"
#undef FILE_
    };
    const char *folder = getenv("STDCL_VIEW_PATH");
    struct web_file *files = malloc(sizeof all);
    *n = sizeof all / sizeof *all;
    if (!files) {
        clerror_set(ENOMEM, "view: no memory for the page");
        return NULL;
    }
    memcpy(files, all, sizeof all);
    for (size_t i = 0; i < *n; i++) {
        files[i].type = type_of(files[i].name);
        const bool module = files[i].type && strstr(files[i].type, "javascript");
        if (folder && *folder ? read_own(&files[i], folder) < 0 : module && shorten(&files[i]) < 0) {
            web_close(files, *n);
            return NULL;
        }
    }
    return files;
}

void web_close(struct web_file *files, size_t n)
{
    for (size_t i = 0; files && i < n; i++)
        free(files[i].own);
    free(files);
}
