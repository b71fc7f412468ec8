/* unsupported.c - recognises files of unsupported formats by their first bytes.
 * SPDX-License-Identifier: MIT
 */
#include "formats/unsupported.h"

#include "stdcl.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *magic;
    size_t length;
    const char *what;
    const char *remedy; /* NULL: only conversion helps */
} kinds[] = {
    {"\037\213", 2, "is compressed by gzip", "unpack it with gunzip first"},
    {"BZh", 3, "is compressed by bzip2", "unpack it with bunzip2 first"},
    {"\3757zXZ", 5, "is compressed by xz", "unpack it with unxz first"},
    {"\050\265\057\375", 4, "is compressed by zstd", "unpack it with unzstd first"},
    {"PK\003\004", 4, "is a zip archive", "unpack it with unzip first"},
    {"\377\376", 2, "is UTF-16 text", "save it as UTF-8 or ASCII"},
    {"\376\377", 2, "is UTF-16 text", "save it as UTF-8 or ASCII"},
    {"\211HDF", 4, "is an HDF5 file", NULL},
    {"\211PNG", 4, "is a PNG picture", NULL},
    {"\377\330\377", 3, "is a JPEG picture", NULL},
    {"GIF8", 4, "is a GIF picture", NULL},
    {"%PDF", 4, "is a PDF document", NULL},
    {"\223NUMPY", 6, "is a numpy array", NULL},
};

int unsupported_refuse(const char *name, const char *start, size_t size, const char *known)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size >= kinds[i].length && memcmp(start, kinds[i].magic, kinds[i].length) == 0)
            return clerror_set(EINVAL, "%s: %s; %s", name, kinds[i].what,
                               kinds[i].remedy ? kinds[i].remedy : known);
    return 0;
}
