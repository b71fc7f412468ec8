/* data_files.c - the patterns, systems and examples that ship with the command, by name.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "data_files.h"
#include "files.h"
#include "message.h"

#include "core/share_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static char data_path[PATH_MAX];

const char *cli_data_file(const char *name, const char *suffix)
{
    char file[NAME_MAX + 1], folder[PATH_MAX - NAME_MAX - 1];
    const int length = snprintf(file, sizeof file, "%s%s", name, suffix);
    if (strchr(name, '/') || !*name || length >= (int)sizeof file ||
        !share_folder_find("data", file, folder, sizeof folder))
        return NULL;
    snprintf(data_path, sizeof data_path, "%s/%s", folder, file);
    return data_path;
}

/* Copy the rest of the first line that begins with `mark`, without its end; "" if there is none. */
static void read_title(const char *path, const char *mark, char *title, size_t size)
{
    FILE *fp = fopen(path, "re");
    title[0] = '\0';
    while (fp && fgets(title, (int)size, fp) && strncmp(title, mark, strlen(mark)) != 0)
        title[0] = '\0';
    if (fp)
        fclose(fp);
    title[strcspn(title, "\r\n")] = '\0';
    if (title[0])
        memmove(title, title + strlen(mark), strlen(title + strlen(mark)) + 1);
}

static void print_title(FILE *fp, const char *folder, const char *file, const char *suffix,
                        const char *mark)
{
    char path[PATH_MAX + NAME_MAX + 2], title[256];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    read_title(path, mark, title, sizeof title);
    fprintf(fp, "%-17.*s %s\n", (int)(strlen(file) - strlen(suffix)), file, title);
}

/* Read the folder of shipped data, sorted. The number of entries, to be freed one by one and then
 * the array; or -1. */
static int read_data_folder(char folder[PATH_MAX], struct dirent ***entry)
{
    *entry = NULL;
    return share_folder_find("data", "README.md", folder, PATH_MAX)
               ? scandir(folder, entry, NULL, alphasort)
               : -1;
}

void cli_data_guess(struct cli_guess *guess, const char *suffix, char name[NAME_MAX + 1])
{
    char folder[PATH_MAX];
    struct dirent **entry;
    const int n = read_data_folder(folder, &entry);
    for (int i = 0; i < n; i++) {
        char offered[NAME_MAX + 1];
        const char *const file = entry[i]->d_name, *const before = guess->best;
        snprintf(offered, sizeof offered, "%.*s", (int)(strlen(file) - strlen(suffix)), file);
        if (cli_has_suffix(file, suffix))
            cli_guess_offer(guess, offered);
        if (guess->best != before)
            guess->best = strcpy(name, offered);
        free(entry[i]);
    }
    free(entry);
}

int cli_data_list(FILE *fp, const char *suffix, const char *mark)
{
    char folder[PATH_MAX];
    struct dirent **entry;
    const int n = read_data_folder(folder, &entry);
    if (n < 0)
        return cli_failed("cannot read the folder share/stdcl/data of the installation; install "
                          "stdcl again");
    for (int i = 0; i < n; i++) {
        if (cli_has_suffix(entry[i]->d_name, suffix))
            print_title(fp, folder, entry[i]->d_name, suffix, mark);
        free(entry[i]);
    }
    free(entry);
    return CLI_DONE;
}
