/* command_line.h - the command line as text, for the metadata of files.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_COMMAND_LINE_H
#define STDCL_CLI_COMMAND_LINE_H

/* "stdcl WORD ...", quoted for a shell. The caller frees it; NULL: out of memory. */
char *cli_command_line(int argc, char **argv);

#endif
