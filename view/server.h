/* server.h - the server: sockets, HTTP checks, files of the page, viewers.
 * SPDX-License-Identifier: MIT
 */
#ifndef VIEW_SERVER_H
#define VIEW_SERVER_H

#include "view/recording.h"

struct view;

/* ---- http.c ---- */

/* True if a Host header is one of this machine's own names, with any port; true if an Origin
 * header is "http://" and that Host. */
bool http_host_ok(const char *host);
bool http_origin_ok(const char *origin, const char *host);
/* True if one of the offered subprotocols is "token." and this token. Constant time, so that it
 * reveals nothing. */
bool http_token_ok(const char *offered, const char *token);
bool http_token_make(char token[TOKEN]);

/* ---- web.c ---- */

struct web_file {
    const char *name, *type; /* NULL: not served: private, or a module, which main.js contains */
    const unsigned char *text;
    unsigned long size;
    unsigned char *own;  /* allocated text; NULL: the embedded bytes */
    struct bytes packed; /* gzip; empty: not available */
};
struct web_file *web_open(
    size_t *n); /* NULL: out of memory, or a file cannot be read (the message names it) */
struct web_file *web_find(struct web_file *files, size_t n, const char *name,
                          size_t length); /* NULL: no such file */
void web_close(struct web_file *files, size_t n);

/* ---- listen.c ---- */

struct listener {
    int fd[2]; /* -1: closed */
    int port;
    char *path; /* of a Unix socket, removed by listen_close */
};
int listen_open(struct listener *l, const char *address);
void listen_close(struct listener *l);
/* Accept a connection from this machine, non-blocking; -1: none. */
int listen_accept(const struct listener *l, int fd);
/* True if another user of this machine made the connection; false if that is not known. */
bool listen_is_of_stranger(const struct listener *l, int fd);

/* ---- latest.c ---- */

/* Latest state in the server's thread; other threads do not touch it. */
struct latest {
    struct shown shown[KINDS];
    struct rows rows;
    struct frame_box box;
    uint32_t zoom; /* of the recorded rectangle of an unbounded plane: grows with its cells */
    struct view_state state;
    double box_of_cells[4];
    char rule[VIEW_RULE_BYTES];       /* after a change; "": the rule of hello */
    char objects[VIEW_OBJECTS_BYTES]; /* names of the objects at a step */
    uint64_t objects_step;
    char *profiles; /* the message of the distributions; NULL: none */
    unsigned profiles_shown;
    unsigned states; /* number of changes of the state */
    bool closing;
    char *ending;
    unsigned says, said; /* number of log messages so far; number of the run's */
    const char *level;   /* of the last one */
    char say[512];
    bool recording_told;
};
/* Take new data from the slots, and record it. */
void latest_update(struct latest *latest, struct view *v);
void latest_free(struct latest *latest);

/* ---- viewer.c ---- */

enum {
    HEADROOM = 64,     /* bytes free before every message, for libwebsockets */
    MOST_REFUSALS = 64 /* different ones */
};

struct viewer {
    struct view *v;
    struct latest *latest;
    bool guest, hello_due, pong_due, end_due, again, rows_last;
    uint64_t pong;
    struct {
        const char *what, *why; /* static texts */
    } refusal[MOST_REFUSALS];   /* not yet sent */
    int refusals;
    struct want want;
    struct view_region former[FORMER]; /* rectangles requested earlier, of which neither they nor
                                          later ones were sent */
    int formers;
    unsigned credits, states, says, profiles;
    uint32_t sent[KINDS];
    uint32_t bodies; /* sequence of the positions sent last as numbers */
    size_t rows_sent;
    uint64_t thinned;
    struct bytes out; /* HEADROOM bytes, then the message being sent */
    bool binary;
    struct quantised *was[2];
    struct previous_cells cells;
};
void viewer_init(struct viewer *w, struct view *v, struct latest *latest, bool guest);
void viewer_free(struct viewer *w);
/* Process a message. Return 0, or the code to close with. */
int viewer_receive(struct viewer *w, const char *text, size_t size);
/* Put the next message into w->out; false if there is none now. */
bool viewer_next(struct viewer *w);
/* True if a viewer has not received the newest state, or has requested nothing yet. */
bool viewer_behind(const struct viewer *w);
/* Tell the run what all viewers want. */
void viewers_want(struct view *v, const struct latest *latest, struct viewer *const *viewers,
                  int n);

/* ---- serve.c ---- */

/* Create it in the run's thread, so that errors are reported there; run it in the server's thread
 * until view_close. NULL on failure. */
struct server *server_make(struct view *v);
void server_run(struct server *s, struct latest *latest);
void server_wake(struct server *s);
void server_free(struct server *s);

#endif
