/* life_rule.c - the rule of a run: written out, by a name (RULEHistory, JvN29), or from a rule
 * file, NAME.rule, as in Golly.
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
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

/* Take a rule of transitions, which the job owns from then on. NULL: the call failed. */
static int take_transitions(struct life_job *job, life_transitions *transitions, const char *where)
{
    life_transitions_free(job->transitions);
    job->transitions = transitions;
    if (!transitions)
        return where ? cli_wrong("%s: %s", where, clerror()) : cli_refused_call();
    snprintf(job->rule, sizeof job->rule, "%s", life_transitions_name(transitions));
    job->states = (int)life_transitions_states(transitions);
    return CLI_DONE;
}

static int take_rule_file(struct life_job *job, const char *file)
{
    size_t size;
    char *data = read_rule_file(file, &size);
    if (!data)
        return CLI_WRONG;
    life_transitions *read = life_transitions_read(file, data, size);
    free(data);
    return take_transitions(job, read, NULL);
}

/* Replace the file's name in a path, from `at` on, by the first in its directory that differs only
 * in case. False if there is none. */
static bool find_any_case(char path[PATH], size_t at)
{
    char folder[PATH];
    bool found = false;
    snprintf(folder, sizeof folder, "%.*s", at ? (int)at : 1, at ? path : ".");
    DIR *in = opendir(folder);
    for (struct dirent *e; in && !found && (e = readdir(in));)
        if (strcasecmp(e->d_name, path + at) == 0) {
            strcpy(path + at, e->d_name); /* equally long */
            found = true;
        }
    if (in)
        closedir(in);
    return found;
}

/* True if the rule file `name` exists in a directory, `n` characters of `folder`; writes its
 * path. */
static bool find_in_folder(char path[PATH], const char *folder, size_t n, const char *name)
{
    struct stat info;
    const int length =
        snprintf(path, PATH, "%.*s%s%s%s", (int)n, folder, n ? "/" : "", name, SUFFIX);
    if (length >= PATH)
        return false;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        return true;
    return find_any_case(path, n ? n + 1 : 0) && stat(path, &info) == 0 && S_ISREG(info.st_mode);
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

/* The rule file of this name inside the pattern's file; NULL: none. */
static const char *embedded_rule(const struct life_job *job, const char *name)
{
    const char *file = job->plane.p.rule_file ? job->plane.p.rule_file : job->pattern.rule_file;
    const size_t head = strlen("@RULE "), length = strlen(name);
    return file && strlen(file) > head + length && strncasecmp(file + head, name, length) == 0 &&
                   isspace((unsigned char)file[head + length])
               ? file
               : NULL;
}

/* Refuse a rule without a file. `wrong`: the parser's message; its general advice on writing rules
 * is left out. */
static int refuse_rule(const char *text, const char *where, const char *wrong)
{
    char general[80];
    snprintf(general, sizeof general, "'%.60s' is not a rule", text);
    return cli_wrong(
        "%s: %s, and no file %s%s was found beside the pattern, in $STDCL_RULES or among Golly's rules",
        where, strstr(wrong, "write B") ? general : wrong, text, SUFFIX);
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
    char wrong[400];
    snprintf(wrong, sizeof wrong, "%s", clerror());
    life_transitions *named = life_transitions_named(text);
    if (named || (clerrno != ENOENT && !is_rule_name(text)))
        return take_transitions(job, named, where);
    if (!is_rule_name(text))
        return cli_wrong("%s: %s", where, wrong);
    const char *embedded = embedded_rule(job, text);
    if (embedded)
        return take_transitions(job, life_transitions_read(job->input, embedded, strlen(embedded)),
                                NULL);
    if ((job->input &&
         find_in_folder(path, job->input, beside ? (size_t)(beside - job->input) : 0, text)) ||
        find_in_folders(path, job->rules_folder, text) ||
        find_in_folders(path, getenv("STDCL_RULES"), text) || find_in_folders(path, GOLLY, text))
        return take_rule_file(job, path);
    return refuse_rule(text, where, wrong);
}

int life_job_check_states(const struct life_job *job, unsigned states)
{
    if (states <= (unsigned)job->states)
        return CLI_DONE;
    return cli_wrong(
        "%s: a cell has state %u, but the rule %s has states 0 to %d; give a different --rule",
        job->input, states - 1, job->rule, job->states - 1);
}
