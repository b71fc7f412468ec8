/* prelude.h - the names that fragments of code in the documents take for granted, with the meanings
 * that the pages give them.
 * SPDX-License-Identifier: MIT
 */
#include "headers.h" /* all that are installed; samples.sh makes it */

#define FRAGMENT                                                                                   \
    int fragment(CLCONTEXT *cp, float *x, float *y, size_t n, float a, void *h, cl_kernel k,       \
                 clndrange_t ndr, cl_uint dev, cl_event ev);                                       \
    int fragment(CLCONTEXT *cp, float *x, float *y, size_t n, float a, void *h, cl_kernel k,       \
                 clndrange_t ndr, cl_uint dev, cl_event ev)
