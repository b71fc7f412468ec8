/* mapped.c - an input file mapped into memory, which ends the process if it becomes shorter.
 *
 * The kernel sends SIGBUS for a page of the mapping that the file no longer has. The sentence is
 * composed beforehand: the handler makes async-signal-safe calls only.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "mapped.h"
#include "message.h"

#include "core/outfile.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *mapped;
static size_t mapped_size;
static char sentence[4096];
static struct sigaction before;

static void page_is_lost(int signal_number, siginfo_t *info, void *context)
{
    char *const at = info->si_addr;
    (void)context;
    if (info->si_code <= 0 || at < mapped || at >= mapped + mapped_size) {
        sigaction(signal_number, &before, NULL);
        if (info->si_code <= 0) /* sent by a process; otherwise the access repeats */
            raise(signal_number);
        return;
    }
    outfile_unlink_all();
    if (write(STDERR_FILENO, sentence, strlen(sentence)) < 0)
        _exit(CLI_FAILED); /* nobody is left to report it to */
    _exit(CLI_FAILED);
}

char *cli_map(int fd, size_t size, const char *option, const char *file)
{
    struct sigaction lost = {.sa_sigaction = page_is_lost, .sa_flags = SA_SIGINFO};
    char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    snprintf(sentence, sizeof sentence,
             "%s: %s: %.3000s was truncated by another program while it was read, or its disk "
             "failed\n",
             cli_program, option, file);
    for (char *c = sentence; c[1]; c++)
        *c = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c; /* nothing else reaches a terminal */
    mapped = bytes;
    mapped_size = size;
    sigemptyset(&lost.sa_mask);
    sigaction(SIGBUS, &lost, &before);
    return bytes;
}

void cli_unmap(char *bytes, size_t size)
{
    sigaction(SIGBUS, &before, NULL);
    mapped_size = 0;
    munmap(bytes, size);
}
