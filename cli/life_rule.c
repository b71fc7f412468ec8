/* life_rule.c - the rule of a run: written out, or from a rule file, NAME.rule, as in Golly.
 *
 * --rule accepts such a file. A name that is not a rule is searched as NAME.rule beside the
 * pattern, in the directories of $STDCL_RULES and in Golly's.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "files.h"
#include "alloc.h"
#include "message.h"
#include "life_grid.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH = 4096 };
static const long MOST_BYTES = 1L << 28;
static const char SUFFIX[] = ".rule",
                  GOLLY[] = "/usr/share/golly/Rules:/usr/local/share/golly/Rules";

/* Read a file; the caller frees the content. NULL after a message. */
static char *read_rule_file(const char *file, size_t *size)
{
    struct stat info;
    FILE *fp = fopen(file, "rb");
    char *data = NULL;
    *size = 0;
    if (!fp || fstat(fileno(fp), &info) != 0)
        cli_wrong("cannot read %s: %s", file, strerror(errno));
    else if (!S_ISREG(info.st_mode) || info.st_size > MOST_BYTES)
        cli_wrong("%s: not a rule file", file);
    else if ((data = cli_alloc((size_t)info.st_size + 1, 1)))
        *size = fread(data, 1, (size_t)info.st_size, fp);
    if (fp)
        fclose(fp);
    return data;
}

static int take_rule_file(struct life_job *job, const char *file)
{
    size_t size;
    char *data = read_rule_file(file, &size);
    if (!data)
        return CLI_WRONG;
    life_transitions_free(job->transitions);
    job->transitions = life_transitions_read(file, data, size);
    free(data);
    if (!job->transitions)
        return cli_refused_call();
    snprintf(job->rule, sizeof job->rule, "%s", life_transitions_name(job->transitions));
    job->states = (int)life_transitions_states(job->transitions);
    return CLI_DONE;
}

/* True if the rule file `name` exists in a directory, `n` characters of `folder`; writes its
 * path. */
static bool find_in_folder(char path[PATH], const char *folder, size_t n, const char *name)
{
    struct stat info;
    const int length =
        snprintf(path, PATH, "%.*s%s%s%s", (int)n, folder, n ? "/" : "", name, SUFFIX);
    return length < PATH && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool find_in_folders(char path[PATH], const char *folders, const char *name)
{
    for (size_t n; folders && *folders; folders += n + (folders[n] == ':'))
        if ((n = strcspn(folders, ":")) > 0 && find_in_folder(path, folders, n, name))
            return true;
    return false;
}

static bool is_rule_name(const char *text)
{
    if (!isalpha((unsigned char)*text))
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '-' && *text != '_')
            return false;
    return true;
}

int life_job_rule(struct life_job *job, const char *text, const char *where)
{
    char path[PATH];
    const char *beside = job->input ? strrchr(job->input, '/') : NULL;
    life_transitions_free(job->transitions);
    job->transitions = NULL;
    if (cli_has_suffix(text, SUFFIX))
        return take_rule_file(job, text);
    if (life_rule_normal(text, job->rule) == 0) {
        job->states = life_rule_states(job->rule);
        return CLI_DONE;
    }
    if (!is_rule_name(text))
        return cli_wrong("%s: %s", where, clerror());
    if ((job->input &&
         find_in_folder(path, job->input, beside ? (size_t)(beside - job->input) : 0, text)) ||
        find_in_folders(path, job->rules_folder, text) ||
        find_in_folders(path, getenv("STDCL_RULES"), text) || find_in_folders(path, GOLLY, text))
        return take_rule_file(job, path);
    return cli_wrong(
        "%s: '%s' is not a rule, and no file %s%s was found beside the pattern, in $STDCL_RULES or among Golly's rules",
        where, text, text, SUFFIX);
}

int life_job_check_states(const struct life_job *job, unsigned states)
{
    if (states <= (unsigned)job->states)
        return CLI_DONE;
    return cli_wrong(
        "%s: a cell has state %u, but the rule %s has states 0 to %d; give a different --rule",
        job->input, states - 1, job->rule, job->states - 1);
}
