/* include.c - finds <stdcl.h> for kernels that include it, and the files in folders with blanks in
 * their names.
 *
 * The header is installed as share/stdcl/include/stdcl.h, so it is there without the development
 * files. It is searched relative to this code, wherever that was moved: lib/libstdcl.so, bin/stdcl
 * and lib/x86_64-linux-gnu/libstdcl.so all have share/ in a folder above. The build folder has one
 * too.
 *
 * -I cannot name a folder with a blank: PoCL splits its options there, quoted or not. A file that a
 * kernel includes from such a folder is therefore included by its whole path. The files that this
 * one includes are found beside it.
 * SPDX-License-Identifier: MIT
 */
#include "core/program.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

enum { LEVELS = 3 }; /* parent folders that are searched */

static char folder[4096];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool try(const char *above, const char *rest)
{
    char path[sizeof folder + 16];
    snprintf(folder, sizeof folder, "%s%s", above, rest);
    snprintf(path, sizeof path, "%s/stdcl.h", folder);
    if (access(path, R_OK) != 0)
        folder[0] = '\0';
    return folder[0] != '\0';
}

/* Path of the library or program that contains this code; the caller frees it. NULL if unknown. */
static char *own_file(void)
{
    Dl_info self;
    char *path = NULL;
    if (dladdr((void *)&once, &self) && self.dli_fname && strchr(self.dli_fname, '/'))
        path = realpath(self.dli_fname, NULL);
    return path ? path : realpath("/proc/self/exe", NULL); /* a program found through $PATH */
}

/* $STDCL_INCLUDE, then relative to this code, then the installation prefix. */
static void find_include_folder(void)
{
    const char *wish = secure_getenv("STDCL_INCLUDE");
    char *path = own_file();
    bool found = wish && try(wish, "");
    for (int level = 0; path && !found && level <= LEVELS; level++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            break;
        *slash = '\0';
        found = level > 0 && try(path, "/share/stdcl/include");
    }
    if (!found)
        (void)try(STDCL_INSTALL_INCLUDE, "");
    free(path);
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

/* The whole path of the folder of a kernel file, ending in '/', if the file exists and that path
 * has a blank; else "". */
static void own_folder(const char *file, char path[PATH_MAX + 1])
{
    path[0] = '\0';
    if (!strchr(file, '/') || access(file, R_OK) != 0 || !realpath(file, path))
        return;
    strrchr(path, '/')[1] = '\0';
    if (!has_blank(path))
        path[0] = '\0';
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
    char own[PATH_MAX + 1], library[sizeof folder + 1] = "";
    own_folder(name, own);
    if (has_blank(include_folder()))
        snprintf(library, sizeof library, "%s/", include_folder());
    for (const char *line = source, *end = source + size; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const size_t length = newline ? (size_t)(newline - line) + 1 : (size_t)(end - line);
        struct include_name n;
        const bool found =
            (*own || *library) && included_name_of(line, length, &n) &&
            ((n.quoted && write_include(fp, own, &n)) || write_include(fp, library, &n));
        const char *rest = found ? n.end + 1 : line;
        fwrite(rest, 1, (size_t)(line + length - rest), fp);
        line += length;
    }
}
