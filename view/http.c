/* http.c - access checks: names of this machine, the page's own origin, the link's token.
 *
 * A page of another site can make a browser send requests here, and a name of that site may resolve
 * to 127.0.0.1 (DNS rebinding). Its Host and Origin headers then name that site. Only names that
 * always mean this machine are accepted, with any port, because a tunnel changes the port.
 * SPDX-License-Identifier: MIT
 */
#include "view/server.h"

#include <ctype.h>
#include <strings.h>
#include <sys/random.h>

/* True for "" and for ":" with a port. */
static bool is_port(const char *text)
{
    size_t n = 0;
    if (!*text)
        return true;
    if (*text++ != ':')
        return false;
    while (isdigit((unsigned char)text[n]))
        n++;
    return n >= 1 && n <= 5 && !text[n];
}

bool http_host_ok(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++)
        if (strncasecmp(host, names[i], strlen(names[i])) == 0 && is_port(host + strlen(names[i])))
            return true;
    return false;
}

bool http_origin_ok(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return origin && http_host_ok(host) && strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcasecmp(origin + sizeof scheme - 1, host) == 0;
}

/* ---- Tokens. --------------------------------------------------------------------------------- */

static bool http_same(const char *a, const char *token)
{
    unsigned differ = 0;
    for (size_t i = 0; i < TOKEN - 1; i++)
        differ |= (unsigned char)a[i] ^ (unsigned char)token[i];
    return differ == 0;
}

bool http_token_ok(const char *offered, const char *token)
{
    static const char prefix[] = "token.";
    bool found = false;
    for (const char *word = offered; word && *word;) {
        word += strspn(word, ", \t");
        const size_t length = strcspn(word, ", \t");
        if (length == sizeof prefix - 1 + TOKEN - 1 &&
            strncmp(word, prefix, sizeof prefix - 1) == 0)
            found |= http_same(word + sizeof prefix - 1, token);
        word += length;
    }
    return found;
}

bool http_token_make(char token[TOKEN])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bits[(TOKEN - 1) / 2];
    if (getrandom(bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        return false;
    for (size_t i = 0; i < TOKEN - 1; i++)
        token[i] = digits[bits[i / 2] >> 4 * (i % 2) & 15];
    token[TOKEN - 1] = 0;
    return true;
}
