/* websockets_library.h - libwebsockets, opened with the first view (core/deferred.h). Include it
 * instead of <libwebsockets.h>.
 * SPDX-License-Identifier: MIT
 */
#ifndef VIEW_WEBSOCKETS_LIBRARY_H
#define VIEW_WEBSOCKETS_LIBRARY_H

#include <libwebsockets.h>

#ifdef STDCL_WEBSOCKETS_LIBRARY

#include "core/deferred.h"

/* The symbols in use. A name that is absent here is undefined at the link. */
/* clang-format off */
#define WEBSOCKETS_NAMES(X)                                                                        \
    X(lws_add_http_common_headers) X(lws_add_http_header_by_name)                                  \
    X(lws_add_http_header_by_token) X(lws_adopt_descriptor_vhost) X(lws_adopt_socket_vhost)        \
    X(lws_callback_on_writable) X(lws_cancel_service) X(lws_close_reason) X(lws_context_destroy)   \
    X(lws_context_user) X(lws_create_context) X(lws_finalize_write_http_header)                    \
    X(lws_frame_is_binary) X(lws_get_context) X(lws_get_socket_fd) X(lws_get_vhost_by_name)        \
    X(lws_hdr_copy) X(lws_hdr_total_length) X(lws_http_transaction_completed)                      \
    X(lws_is_final_fragment) X(lws_remaining_packet_payload) X(lws_service) X(lws_set_log_level)   \
    X(lws_sul_schedule) X(lws_write)
/* clang-format on */

struct websockets_symbols {
    WEBSOCKETS_NAMES(DEFERRED_FIELD)
};
extern struct websockets_symbols websockets_symbols;

/* Open the library, once; called before any function of it. Fails with ENOENT, and the reason in
 * clerror(). */
int websockets_library_open(void);

#define lws_add_http_common_headers websockets_symbols.lws_add_http_common_headers
#define lws_add_http_header_by_name websockets_symbols.lws_add_http_header_by_name
#define lws_add_http_header_by_token websockets_symbols.lws_add_http_header_by_token
#define lws_adopt_descriptor_vhost websockets_symbols.lws_adopt_descriptor_vhost
#define lws_adopt_socket_vhost websockets_symbols.lws_adopt_socket_vhost
#define lws_callback_on_writable websockets_symbols.lws_callback_on_writable
#define lws_cancel_service websockets_symbols.lws_cancel_service
#define lws_close_reason websockets_symbols.lws_close_reason
#define lws_context_destroy websockets_symbols.lws_context_destroy
#define lws_context_user websockets_symbols.lws_context_user
#define lws_create_context websockets_symbols.lws_create_context
#define lws_finalize_write_http_header websockets_symbols.lws_finalize_write_http_header
#define lws_frame_is_binary websockets_symbols.lws_frame_is_binary
#define lws_get_context websockets_symbols.lws_get_context
#define lws_get_socket_fd websockets_symbols.lws_get_socket_fd
#define lws_get_vhost_by_name websockets_symbols.lws_get_vhost_by_name
#define lws_hdr_copy websockets_symbols.lws_hdr_copy
#define lws_hdr_total_length websockets_symbols.lws_hdr_total_length
#define lws_http_transaction_completed websockets_symbols.lws_http_transaction_completed
#define lws_is_final_fragment websockets_symbols.lws_is_final_fragment
#define lws_remaining_packet_payload websockets_symbols.lws_remaining_packet_payload
#define lws_service websockets_symbols.lws_service
#define lws_set_log_level websockets_symbols.lws_set_log_level
#define lws_sul_schedule websockets_symbols.lws_sul_schedule
#define lws_write websockets_symbols.lws_write

#else
static inline int websockets_library_open(void)
{
    return 0;
}
#endif

#endif
