/* browser.h - the user's browser.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_BROWSER_H
#define STDCL_CLI_BROWSER_H

/* Open a link in the user's browser by xdg-open. Does not block. Does nothing in an ssh session,
 * without a display, or without xdg-open. */
void cli_browser_open(const char *link);

/* Remove the file that passed the link to the browser. */
void cli_browser_close(void);

#endif
