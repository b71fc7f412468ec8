/* serve.c - the server, by libwebsockets: serves the page's files, and moves messages between
 * viewers and viewer.c.
 *
 * listen.c accepts connections and passes the allowed ones to the library. Everything here runs in
 * the server's thread; other threads call only server_wake (lws_cancel_service, the one thread-safe
 * function). A message is sent in pieces, each when the socket is writable, so that the library
 * buffers at most one.
 * SPDX-License-Identifier: MIT
 */
#include "view/websockets_library.h"
#include "view/window.h"

#include "core/clock.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum {
    PIECE = 32 << 10,
    HEADERS = 8192,
    REQUEST_SECONDS = 5,
    PING_SECONDS = 20,
    HANGUP_SECONDS = 40,
    PART_SECONDS = 2,
    FILE_PIECE = 16 << 10
};
enum { CLOSE_REOPENS = 1012, CLOSE_TOKEN = 4401, CLOSE_FULL = 4429 };
_Static_assert((int)HEADROOM >= LWS_PRE, "no room for the library's head of a message");

/* State of a connection, stored by the library. */
struct connection {
    struct viewer *viewer; /* of a WebSocket */
    struct lws *wsi;
    int closing; /* closing code */
    size_t sent; /* bytes of viewer->out sent */
    size_t heard;
    char *message;    /* MOST_MESSAGE bytes, the part received so far */
    struct span file; /* remainder being sent; at NULL: none */
};

struct server {
    struct view *v;
    struct latest *latest;
    struct lws_context *context;
    struct lws_vhost *vhost;
    struct web_file *file;
    size_t files;
    int connections, own; /* all connections; listening sockets */
    int strangers;
    struct lws *stranger[MOST_STRANGERS];
    int n;
    struct connection *viewing[MOST_VIEWERS];
    lws_sorted_usec_list_t enough; /* timer that ends the wait for closing connections */
};

/* ---- Headers. -------------------------------------------------------------------------------- */

static bool header(struct lws *wsi, enum lws_token_indexes which, char *text, int size)
{
    const int length = lws_hdr_total_length(wsi, which);
    return length > 0 && length < size && lws_hdr_copy(wsi, text, size, which) == length;
}

/* HTTP status that refuses a request; 0: allowed. A page opened by the user has no Origin. */
static unsigned refusal(struct lws *wsi, bool socket)
{
    char host[256], origin[256];
    if (!header(wsi, WSI_TOKEN_HOST, host, sizeof host) || !http_host_ok(host))
        return 421;
    const bool has_origin = lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) > 0;
    if ((has_origin || socket) &&
        !(header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin) && http_origin_ok(origin, host)))
        return 403;
    return 0;
}

/* ---- The page's files. ----------------------------------------------------------------------- */

static const struct web_file *server_find(const struct server *s, const char *path)
{
    const char *name = strcmp(path, "/") == 0 ? "index.html" : path + (*path == '/');
    const struct web_file *file = web_find(s->file, s->files, name, strlen(name));
    return file && file->type ? file : NULL;
}

#define POLICY(ancestors)                                                                          \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' " \
    "blob:; media-src blob:; frame-ancestors " ancestors "; base-uri 'none'; form-action 'none'"

static const char FRAMED[] = POLICY("http://localhost:* http://127.0.0.1:*");
static const char *const guards[][2] = {{"content-security-policy:", POLICY("'none'")},
                                        {"x-content-type-options:", "nosniff"},
                                        {"referrer-policy:", "no-referrer"},
                                        {"cache-control:", "no-store"},
                                        {"cross-origin-resource-policy:", "same-origin"},
                                        {"cross-origin-opener-policy:", "same-origin"}};

/* The bytes of a file, compressed if the browser accepts gzip. */
static struct span server_text_of(struct lws *wsi, const struct web_file *file)
{
    char accepted[256];
    if (file->packed.used &&
        header(wsi, WSI_TOKEN_HTTP_ACCEPT_ENCODING, accepted, sizeof accepted) &&
        strstr(accepted, "gzip"))
        return (struct span){file->packed.at, file->packed.used};
    return (struct span){file->text, file->size};
}

/* Send the header of a response; of a refusal (status other than 200, no file) all of it. */
static int server_answer(struct lws *wsi, unsigned status, const struct web_file *file,
                         struct span text)
{
    unsigned char buffer[LWS_PRE + 2048], *const start = buffer + LWS_PRE, *p = start,
                                                 *const end = buffer + sizeof buffer - 1;
    if (lws_add_http_common_headers(wsi, status, file ? file->type : "text/plain", text.size, &p,
                                    end))
        return -1;
    if (file && text.at != file->text &&
        lws_add_http_header_by_token(wsi, WSI_TOKEN_HTTP_CONTENT_ENCODING,
                                     (const unsigned char *)"gzip", 4, &p, end))
        return -1;
    const struct server *s = lws_context_user(lws_get_context(wsi));
    for (size_t i = 0; i < sizeof guards / sizeof *guards; i++) {
        const char *value = i == 0 && s->v->about.options.framed ? FRAMED : guards[i][1];
        if (lws_add_http_header_by_name(wsi, (const unsigned char *)guards[i][0],
                                        (const unsigned char *)value, (int)strlen(value), &p, end))
            return -1;
    }
    if (lws_finalize_write_http_header(wsi, start, &p, end))
        return -1;
    return 0;
}

static int server_refuse(struct lws *wsi, unsigned status)
{
    return server_answer(wsi, status, NULL, (struct span){NULL, 0}) ||
                   lws_http_transaction_completed(wsi)
               ? -1
               : 0;
}

static int on_request(struct server *s, struct connection *c, struct lws *wsi, const char *path)
{
    const unsigned status = refusal(wsi, false);
    if (status)
        return server_refuse(wsi, status);
    if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) == 0)
        return server_refuse(wsi, 405);
    const struct web_file *file =
        lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_URI_ARGS) > 0 ? NULL : server_find(s, path);
    if (!file)
        return server_refuse(wsi, 404);
    c->file = server_text_of(wsi, file);
    if (server_answer(wsi, 200, file, c->file) < 0)
        return -1;
    lws_callback_on_writable(wsi);
    return 0;
}

static int send_file(struct connection *c, struct lws *wsi)
{
    unsigned char buffer[LWS_PRE + FILE_PIECE];
    const size_t left = c->file.size, n = left < FILE_PIECE ? left : FILE_PIECE;
    if (!c->file.at)
        return 0;
    memcpy(buffer + LWS_PRE, c->file.at, n);
    c->file = (struct span){c->file.at + n, left - n};
    if (lws_write(wsi, buffer + LWS_PRE, n, n == left ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) <
        (int)n)
        return -1;
    if (n < left) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    c->file.at = NULL;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

/* ---- Viewers. -------------------------------------------------------------------------------- */

static void server_want(struct server *s)
{
    struct viewer *viewers[MOST_VIEWERS];
    for (int i = 0; i < s->n; i++)
        viewers[i] = s->viewing[i]->viewer;
    viewers_want(s->v, s->latest, viewers, s->n);
}

static void server_wake_all(const struct server *s)
{
    for (int i = 0; i < s->n; i++)
        lws_callback_on_writable(s->viewing[i]->wsi);
}

/* Count viewers without the newest state. A frame being sent is not received yet. */
static void server_count_behind(struct server *s)
{
    int behind = 0;
    for (int i = 0; i < s->n; i++)
        behind += s->viewing[i]->sent > 0 || viewer_behind(s->viewing[i]->viewer);
    atomic_store(&s->v->behind, behind);
}

static void server_count(struct server *s)
{
    struct view *v = s->v;
    atomic_store(&v->behind, s->n); /* first: a run that sees a viewer sees that it waits */
    atomic_store(&v->viewers, s->n);
    atomic_store(&v->wanted, s->n + (v->recording != NULL));
    pthread_mutex_lock(&v->lock);
    v->states++;
    pthread_mutex_unlock(&v->lock);
    server_want(s);
    latest_update(s->latest, v);
    server_wake_all(s);
}

/* WebSocket handshake: -1 refuses it. The token is checked afterwards, where a closing code can
 * give the reason. */
static int on_handshake(struct lws *wsi)
{
    char path[16];
    unsigned status = refusal(wsi, true);
    if (!status &&
        !(header(wsi, WSI_TOKEN_GET_URI, path, sizeof path) && strcmp(path, "/live") == 0))
        status = 404;
    if (!status)
        return 0;
    server_answer(wsi, status, NULL, (struct span){NULL, 0});
    return -1;
}

static int which_token(const struct server *s, struct lws *wsi)
{
    char offered[256];
    const bool has = header(wsi, WSI_TOKEN_PROTOCOL, offered, sizeof offered);
    const bool all = has && http_token_ok(offered, s->v->token[0]),
               guest = has && http_token_ok(offered, s->v->token[1]);
    return all ? 0 : guest ? 1 : -1;
}

static int on_opened(struct server *s, struct connection *c, struct lws *wsi)
{
    const int token = which_token(s, wsi);
    c->wsi = wsi;
    c->closing = token < 0 ? CLOSE_TOKEN : s->n == MOST_VIEWERS ? CLOSE_FULL : 0;
    lws_callback_on_writable(wsi);
    if (c->closing)
        return 0;
    c->viewer = malloc(sizeof *c->viewer);
    c->message = malloc(MOST_MESSAGE);
    if (!c->viewer || !c->message)
        return -1;
    viewer_init(c->viewer, s->v, s->latest, token == 1);
    s->viewing[s->n++] = c;
    server_count(s);
    return 0;
}

static void on_closed(struct server *s, struct connection *c)
{
    for (int i = 0; i < s->n; i++)
        if (s->viewing[i] == c) {
            s->viewing[i] = s->viewing[--s->n];
            server_count(s);
        }
    if (c->viewer)
        viewer_free(c->viewer);
    free(c->viewer);
    free(c->message);
    *c = (struct connection){.wsi = NULL};
}

static int close_with(struct lws *wsi, int code)
{
    lws_close_reason(wsi, (enum lws_close_status)code, NULL, 0);
    return -1;
}

static int on_message(struct server *s, struct connection *c, struct lws *wsi, const char *part,
                      size_t size)
{
    if (!c->viewer)
        return 0; /* about to be closed */
    if (lws_frame_is_binary(wsi))
        return close_with(wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE);
    if (size > MOST_MESSAGE - c->heard)
        return close_with(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE);
    memcpy(c->message + c->heard, part, size);
    c->heard += size;
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi))
        return 0;
    const int code = viewer_receive(c->viewer, c->message, c->heard);
    c->heard = 0;
    if (code)
        return close_with(wsi, code);
    server_want(s);
    lws_callback_on_writable(wsi);
    return 0;
}

/* Send a piece of the current message, or start the next. */
static int send_piece(struct connection *c, struct lws *wsi)
{
    struct viewer *w = c->viewer;
    if (c->closing && c->closing != LWS_CLOSE_STATUS_NORMAL && c->closing != CLOSE_REOPENS)
        return close_with(wsi, c->closing);
    if (c->sent == 0 && !viewer_next(w))
        return c->closing ? close_with(wsi, c->closing) : 0; /* after the last message */
    const size_t left = w->out.used - HEADROOM - c->sent, n = left < PIECE ? left : PIECE;
    const int how = (c->sent     ? LWS_WRITE_CONTINUATION
                     : w->binary ? LWS_WRITE_BINARY
                                 : LWS_WRITE_TEXT) |
                    (n < left ? LWS_WRITE_NO_FIN : 0);
    if (lws_write(wsi, w->out.at + HEADROOM + c->sent, n, (enum lws_write_protocol)how) < (int)n)
        return -1;
    c->sent = n < left ? c->sent + n : 0;
    lws_callback_on_writable(wsi);
    return 0;
}

/* ---- Connections. ---------------------------------------------------------------------------- */

static int on_listening(struct server *s, int fd)
{
    const int got = listen_accept(&s->v->listening, fd);
    if (got < 0)
        return 0;
    const bool stranger = listen_is_of_stranger(&s->v->listening, got);
    if (s->connections - s->own >= MOST_CONNECTIONS ||
        (stranger && s->strangers == MOST_STRANGERS)) {
        close(got);
        return 0;
    }
    struct lws *wsi = lws_adopt_socket_vhost(s->vhost, got); /* closes the socket on failure */
    if (wsi && stranger)
        s->stranger[s->strangers++] = wsi;
    return 0;
}

static void on_destroyed(struct server *s, const struct lws *wsi)
{
    s->connections--;
    for (int i = 0; i < s->strangers; i++)
        if (s->stranger[i] == wsi) {
            s->stranger[i] = s->stranger[--s->strangers];
            return;
        }
}

static void on_wake(struct server *s)
{
    if (!s->latest)
        return;
    atomic_store(&s->v->behind, s->n); /* before a slot is emptied */
    latest_update(s->latest, s->v);
    server_wake_all(s);
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t size)
{
    struct connection *c = user;
    struct server *s = lws_context_user(lws_get_context(wsi));
    switch ((int)reason) {
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        return on_wake(s), 0;
    case LWS_CALLBACK_RAW_RX_FILE:
        return on_listening(s, (int)lws_get_socket_fd(wsi));
    case LWS_CALLBACK_WSI_CREATE:
        s->connections++;
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        return on_destroyed(s, wsi), 0;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return in && strcmp(in, "websocket") == 0 ? 0 : -1; /* no HTTP/2 */
    case LWS_CALLBACK_HTTP:
        return on_request(s, c, wsi, in ? in : "");
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return send_file(c, wsi);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return on_handshake(wsi);
    case LWS_CALLBACK_ESTABLISHED:
        return on_opened(s, c, wsi);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return send_piece(c, wsi);
    case LWS_CALLBACK_RECEIVE:
        return on_message(s, c, wsi, in, size);
    case LWS_CALLBACK_CLOSED:
        return on_closed(s, c), 0;
    default:
        return 0;
    }
}

/* ---- The server. ----------------------------------------------------------------------------- */

static const struct lws_protocols protocols[] = {
    {"http", callback, sizeof(struct connection), MOST_MESSAGE, 0, NULL, 0},
    {"stdcl-view.1", callback, sizeof(struct connection), MOST_MESSAGE, 0, NULL, 0},
    {0}};
static const lws_retry_bo_t keep_alive = {.secs_since_valid_ping = PING_SECONDS,
                                          .secs_since_valid_hangup = HANGUP_SECONDS};

/* Creating a context makes the library ignore SIGPIPE for the whole program: restore the program's
 * choice. */
static struct lws_context *make_context(const struct lws_context_creation_info *info)
{
    struct sigaction before;
    sigaction(SIGPIPE, NULL, &before);
    struct lws_context *context = lws_create_context(info);
    sigaction(SIGPIPE, &before, NULL);
    return context;
}

static bool server_adopt(struct server *s, int fd)
{
    const int own = fd < 0 ? -1 : dup(fd);
    return fd < 0 ||
           lws_adopt_descriptor_vhost(s->vhost, LWS_ADOPT_RAW_FILE_DESC,
                                      (lws_sock_file_fd_type){.filefd = own}, "http", NULL);
}

struct server *server_make(struct view *v)
{
    if (websockets_library_open() < 0)
        return NULL;
    struct server *s = calloc(1, sizeof *s);
    const struct lws_context_creation_info info = {.port = CONTEXT_PORT_NO_LISTEN_SERVER,
                                                   .protocols = protocols,
                                                   .user = s,
                                                   .options = LWS_SERVER_OPTION_DISABLE_IPV6,
                                                   .timeout_secs = REQUEST_SECONDS,
                                                   .keepalive_timeout = REQUEST_SECONDS,
                                                   .max_http_header_data = HEADERS,
                                                   .max_http_header_pool = MOST_CONNECTIONS,
                                                   .retry_and_idle_policy = &keep_alive,
                                                   .server_string = "stdcl"};
    lws_set_log_level(0, NULL);
    if (s) {
        s->v = v;
        s->file = web_open(&s->files);
        s->context = s->file ? make_context(&info) : NULL;
        s->vhost = s->context ? lws_get_vhost_by_name(s->context, "default") : NULL;
        if (s->vhost && server_adopt(s, v->listening.fd[0]) && server_adopt(s, v->listening.fd[1]))
            return s;
    }
    if (!s || s->file)
        clerror_set(ENOMEM, "view_open: the server cannot be made");
    server_free(s);
    return NULL;
}

/* lws_service ignores its timeout; this event makes it return. */
static void happen(lws_sorted_usec_list_t *enough)
{
    (void)enough;
}

/* Wait until all viewers have received the last messages, or do not take them. */
static void server_part(struct server *s)
{
    const double patient = seconds_now() + PART_SECONDS;
    for (int i = 0; i < s->n; i++) {
        s->viewing[i]->closing =
            atomic_load(&s->v->reopens) ? CLOSE_REOPENS : LWS_CLOSE_STATUS_NORMAL;
        lws_callback_on_writable(s->viewing[i]->wsi);
    }
    lws_sul_schedule(s->context, 0, &s->enough, happen, PART_SECONDS * LWS_USEC_PER_SEC);
    while (s->n && seconds_now() < patient)
        lws_service(s->context, 0);
}

void server_run(struct server *s, struct latest *latest)
{
    s->latest = latest;
    s->own = s->connections;
    server_count(s);
    while (!latest->closing) {
        lws_service(s->context, 0);
        server_count_behind(s);
        atomic_store_explicit(&s->v->worked, ns_of_clock(CLOCK_THREAD_CPUTIME_ID),
                              memory_order_relaxed);
    }
    latest_update(latest, s->v); /* the last picture, for viewers that requested one */
    server_part(s);
}

void server_wake(struct server *s)
{
    lws_cancel_service(s->context);
}

void server_free(struct server *s)
{
    if (!s)
        return;
    if (s->context)
        lws_context_destroy(s->context);
    web_close(s->file, s->files);
    free(s);
}
