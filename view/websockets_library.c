/* websockets_library.c - see websockets_library.h.
 * SPDX-License-Identifier: MIT
 */
#include "view/websockets_library.h"

#ifdef STDCL_WEBSOCKETS_LIBRARY

#include <pthread.h>
#include <stdbool.h>

struct websockets_symbols websockets_symbols;

static const char *const websockets_symbols_names[] = {WEBSOCKETS_NAMES(DEFERRED_NAME)};
enum {
    WEBSOCKETS_NAMES_COUNT = sizeof websockets_symbols_names / sizeof *websockets_symbols_names
};
_Static_assert(sizeof websockets_symbols == WEBSOCKETS_NAMES_COUNT * sizeof(void *),
               "a pointer for each name");

static pthread_mutex_t websockets_symbols_lock = PTHREAD_MUTEX_INITIALIZER;
static bool websockets_symbols_is_open;

int websockets_library_open(void)
{
    pthread_mutex_lock(&websockets_symbols_lock);
    const int status = websockets_symbols_is_open
                           ? 0
                           : deferred_open(STDCL_WEBSOCKETS_LIBRARY, websockets_symbols_names,
                                           WEBSOCKETS_NAMES_COUNT, &websockets_symbols);
    websockets_symbols_is_open = status == 0;
    pthread_mutex_unlock(&websockets_symbols_lock);
    return status;
}

#endif
