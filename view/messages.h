/* messages.h - copies of the options, and JSON messages in both directions.
 * SPDX-License-Identifier: MIT
 */
#ifndef VIEW_MESSAGES_H
#define VIEW_MESSAGES_H

#include "view/frame.h"

/* A message from a page. */
enum client_message_type { MESSAGE_CREDIT, MESSAGE_WANT, MESSAGE_PING, MESSAGE_DO };
struct client_message {
    enum client_message_type type;
    uint64_t number; /* number of credits; id of a ping */
    struct want want;
    struct view_command command;
    bool confirmed;
};

/* ---- about.c ---- */

int about_copy(struct about *about, const struct view_options *options);
void about_free(struct about *about);
/* The one colouring that recordings keep. */
enum colour about_recorded(const struct about *about);
/* order[n]: 0 to n - 1 in a random order, the same for every n bodies; NULL: out of memory. The
 * caller frees it. */
uint32_t *about_order(size_t n);
/* True if viewers see each body: masses, positions and velocities are sent as numbers. */
bool about_has_orbits(const struct about *about);

/* ---- client_messages.c ---- */

bool client_message_parse(const char *text, size_t size, struct client_message *ask);
extern const char *const command_names[]; /* by enum view_ask */
extern const char *const colour_names[];

/* ---- server_messages.c ---- */

char *hello_text(const struct about *about, bool guest, bool live);
char *state_text(const struct about *about, const struct view_state *state, const double box[4],
                 const char *rule, const char *objects, uint64_t objects_step, int viewers,
                 bool ended, bool recording);
char *bodies_text(const struct shown *shown); /* their positions and velocities */
char *profiles_text(double time, size_t n, const struct view_profile *profile);
char *say_text(const char *level, const char *text);
char *end_text(const char *text);
char *refused_text(const char *what, const char *why);
char *pong_text(uint64_t id);

#endif
