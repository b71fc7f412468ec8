/* include.c - finds <stdcl.h> for kernels that include it, files in folders with blanks in their
 * names, and files beside those that precede the main kernel file.
 *
 * The header is installed as share/stdcl/include/stdcl.h, so it is there without the development
 * files (share_folder.h).
 *
 * -I cannot name a folder with a blank: PoCL splits its options there, quoted or not. A file that a
 * kernel includes from such a folder is therefore included by its whole path. The files that this
 * one includes are found beside it. Files that precede the main kernel file include by whole paths,
 * too, because -I names only the main file's folder.
 *
 * The types of arguments may come from included files: include_expand puts their text in place.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel_text.h"
#include "core/share_folder.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[4096];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* $STDCL_INCLUDE if it has the header, else share/stdcl/include. */
static void find_include_folder(void)
{
    const char *wish = secure_getenv("STDCL_INCLUDE");
    char path[sizeof folder + 16];
    snprintf(path, sizeof path, "%s/stdcl.h", wish ? wish : "");
    if (wish && access(path, R_OK) == 0)
        snprintf(folder, sizeof folder, "%s", wish);
    else
        share_folder_find("include", "stdcl.h", folder, sizeof folder);
}

const char *include_folder(void)
{
    pthread_once(&once, find_include_folder);
    return folder;
}

/* ---- Folders with blanks. ---- */

static bool has_blank(const char *path)
{
    return strpbrk(path, " \t") != NULL;
}

/* The whole path of the folder of a kernel file, ending in '/', if the file exists; else "". */
static void own_folder(const char *file, char path[PATH_MAX + 1])
{
    const bool found = strchr(file, '/') && access(file, R_OK) == 0 && realpath(file, path);
    path[found ? strrchr(path, '/') + 1 - path : 0] = '\0';
}

/* From the sign that opens the name to the one that closes it. */
struct include_name {
    const char *begin, *end;
    bool quoted;
};

/* The name in an #include line; false if the line is none. */
static bool included_name_of(const char *line, size_t length, struct include_name *name)
{
    const char *c = line, *end = line + length;
    while (c < end && (*c == ' ' || *c == '\t'))
        c++;
    if (c == end || *c++ != '#')
        return false;
    while (c < end && (*c == ' ' || *c == '\t'))
        c++;
    if (end - c < 8 || strncmp(c, "include", 7) != 0)
        return false;
    for (c += 7; c < end && (*c == ' ' || *c == '\t');)
        c++;
    if (c == end || (*c != '"' && *c != '<'))
        return false;
    *name = (struct include_name){.begin = c, .quoted = *c == '"'};
    name->end = memchr(c + 1, name->quoted ? '"' : '>', (size_t)(end - c - 1));
    return name->end != NULL;
}

/* Write an #include with the file's whole path, if the file is in this folder. */
static bool write_include(FILE *fp, const char *folder_path, const struct include_name *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%.*s", folder_path, (int)(name->end - name->begin - 1),
             name->begin + 1);
    if (!*folder_path || access(path, R_OK) != 0)
        return false;
    fprintf(fp, "#include \"%s\"", path);
    return true;
}

void include_write_source(FILE *fp, const char *name, const char *source, size_t size)
{
    char own[PATH_MAX + 1] = "", file[PATH_MAX + 1], library[sizeof folder + 1] = "";
    if (name)
        own_folder(name, own);
    if (!has_blank(own))
        own[0] = '\0'; /* -I names it */
    if (has_blank(include_folder()))
        snprintf(library, sizeof library, "%s/", include_folder());
    for (const char *line = source, *end = source + size; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const size_t length = newline ? (size_t)(newline - line) + 1 : (size_t)(end - line);
        struct include_name n;
        if (!name && line_directive_name(line, file, sizeof file))
            own_folder(file, own);
        const bool found =
            (*own || *library) && included_name_of(line, length, &n) &&
            ((n.quoted && write_include(fp, own, &n)) || write_include(fp, library, &n));
        const char *rest = found ? n.end + 1 : line;
        fwrite(rest, 1, (size_t)(line + length - rest), fp);
        line += length;
    }
}

/* ---- Included text. ---- */

/* Limits of an expansion. Beyond them an #include stays. */
enum { MOST_FILES_DEEP = 16, MOST_EXPANDED_BYTES = 1 << 20 };

struct expansion {
    FILE *out;
    size_t written;
    const char *options;               /* the program's, or NULL */
    const char *file[MOST_FILES_DEEP]; /* the kernel file, and the files that include each other */
    size_t depth;                      /* number of these */
};

/* True if `folder_path`, of `length` bytes, has the file; its path is then in `path`. An empty
 * folder stands for the working directory. */
static bool folder_has(const char *folder_path, size_t length, const struct include_name *name,
                       char path[2 * PATH_MAX])
{
    struct stat status;
    const int letters = (int)(name->end - name->begin - 1);
    snprintf(path, 2 * PATH_MAX, "%.*s%s%.*s", (int)length, folder_path,
             length && folder_path[length - 1] != '/' ? "/" : "", letters, name->begin + 1);
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Length of the folder in a path, with its '/'. */
static size_t folder_length(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? (size_t)(slash - file) + 1 : 0;
}

/* True if a folder that the options name by -I has the file. */
static bool option_has(const char *options, const struct include_name *name,
                       char path[2 * PATH_MAX])
{
    for (const char *c = options; c && (c = strstr(c, "-I")) != NULL;) {
        c += 2;
        c += strspn(c, " \t");
        const size_t length = strcspn(c, " \t\n");
        if (length && folder_has(c, length, name, path))
            return true;
    }
    return false;
}

/* Find a file where the compiler does (build.c): beside the file that includes it, beside the
 * kernel file, in the library's folder, in the working directory, and in the folders of -I. */
static bool find_included(const struct expansion *e, const struct include_name *name,
                          char path[2 * PATH_MAX])
{
    const char *from = e->file[e->depth - 1], *kernel = e->file[0], *library = include_folder();
    if (name->begin[1] == '/')
        return folder_has("", 0, name, path);
    if (name->quoted && folder_has(from, folder_length(from), name, path))
        return true;
    return folder_has(kernel, folder_length(kernel), name, path) ||
           (*library && folder_has(library, strlen(library), name, path)) ||
           folder_has("", 0, name, path) || option_has(e->options, name, path);
}

static void expand_text(struct expansion *e, const char *source);

/* Write the text of the file that a directive includes; false if there is none, or too much. */
static bool expand_include(struct expansion *e, struct token directive)
{
    char path[2 * PATH_MAX];
    struct include_name name;
    struct failure before;
    size_t size;
    if (e->depth == MOST_FILES_DEEP || !included_name_of(directive.text, directive.length, &name) ||
        !find_included(e, &name, path))
        return false;
    failure_save(&before);
    char *text = read_file(path, &size, "#include");
    failure_restore(&before);
    const bool fits = text && size < MOST_EXPANDED_BYTES - e->written && !memchr(text, 0, size);
    if (fits) {
        const char *begin = text;
        skip_byte_order_mark(&begin, &size);
        e->file[e->depth++] = path;
        expand_text(e, begin);
        e->depth--;
    }
    free(text);
    return fits;
}

static void write_piece(struct expansion *e, const char *begin, const char *end)
{
    fwrite(begin, 1, (size_t)(end - begin), e->out);
    e->written += (size_t)(end - begin);
}

static void expand_text(struct expansion *e, const char *source)
{
    struct reader r = {.at = source, .tells_directives = true};
    const char *written = source;
    for (struct token t = text_next(&r); t.length; t = text_next(&r)) {
        if (*t.text != '#' || t.length == 1)
            continue;
        write_piece(e, written, t.text);
        written = expand_include(e, t) ? t.text + t.length : t.text;
    }
    write_piece(e, written, source + strlen(source));
    fputc('\n', e->out);
}

char *include_expand(const char *name, const char *source, const char *options)
{
    char *text = NULL;
    size_t size = 0;
    struct expansion e = {.options = options, .file = {name}, .depth = 1};
    if (!strstr(source, "include") || !(e.out = open_memstream(&text, &size)))
        return NULL;
    expand_text(&e, source);
    fclose(e.out);
    return text;
}
