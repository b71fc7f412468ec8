/* view.c - opening and closing a window, and the run's side of it: due pictures, data shown,
 * commands of viewers.
 *
 * Pictures are due at most `rate` times a second, and so rarely that showing them takes at most
 * `budget` of the run's time (budget.c).
 * SPDX-License-Identifier: MIT
 */
#include "view/messages.h"
#include "view/window.h"

#include "core/clock.h"
#include "core/parallel_for.h"
#include "core/handle.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* ---- Opening. -------------------------------------------------------------------------------- */

static void name_links(struct view *v)
{
    const int port = v->listening.port;
    char host[128];
    if (gethostname(host, sizeof host) != 0)
        strcpy(host, "HOST");
    host[sizeof host - 1] = 0;
    for (int i = 0; i < 2; i++)
        snprintf(v->url[i], sizeof v->url[i], "http://127.0.0.1:%d/#t=%s", port ? port : 8080,
                 v->token[i]);
    if (port)
        snprintf(v->tunnel, sizeof v->tunnel, "ssh -N -L %d:127.0.0.1:%d %s", port, port, host);
    else
        snprintf(v->tunnel, sizeof v->tunnel, "ssh -N -L 8080:%s %s", v->listening.path, host);
}

/* The tokens of the options, or new ones. */
static int choose_tokens(struct view *v)
{
    const char *given = v->about.options.tokens;
    enum { DIGITS = TOKEN - 1 };
    if (given && (strlen(given) != 2 * DIGITS || strspn(given, "0123456789abcdef") != 2 * DIGITS))
        return clerror_set(EINVAL,
                           "view_open: `tokens` must be %d hexadecimal digits, as "
                           "view_tokens returns",
                           2 * DIGITS);
    for (int i = 0; i < 2 && given; i++)
        memcpy(v->token[i], given + i * DIGITS, DIGITS);
    if (!given && (!http_token_make(v->token[0]) || !http_token_make(v->token[1])))
        return clerror_set(errno, "view_open: no random numbers: %s", strerror(errno));
    snprintf(v->tokens, sizeof v->tokens, "%s%s", v->token[0], v->token[1]);
    return 0;
}

static int open_server(struct view *v)
{
    if (choose_tokens(v) < 0)
        return -1;
    if (listen_open(&v->listening, v->about.options.address) < 0)
        return -1;
    name_links(v);
    v->server = server_make(v);
    return v->server ? 0 : -1;
}

static int view_prepare(struct view *v, const struct view_options *options)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&v->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&v->asked, &attributes);
    pthread_condattr_destroy(&attributes);
    sem_init(&v->wake, 0, 0);
    v->listening = (struct listener){.fd = {-1, -1}};
    v->state.fraction = v->state.steps = NAN;
    v->cores = (double)parallel_for_threads(PARALLEL_FOR_MOST);
    v->settled = seconds_now();
    v->used_before = ns_of_clock(CLOCK_PROCESS_CPUTIME_ID);
    if (about_copy(&v->about, options) < 0)
        return -1;
    v->row = calloc(ROWS_IN_FLIGHT, (v->about.columns + 1) * sizeof *v->row);
    return v->row ? 0 : clerror_set(ENOMEM, "view_open: out of memory");
}

/* In reverse order; also for a partially opened view. */
static int view_finish(struct view *v)
{
    thread_join(v);
    const int status = v->recording ? recording_close(v->recording) : 0;
    server_free(v->server);
    listen_close(&v->listening);
    for (int kind = 0; kind < KINDS; kind++)
        shown_free(&v->box[kind].shown);
    about_free(&v->about);
    pthread_cond_destroy(&v->asked);
    pthread_mutex_destroy(&v->lock);
    sem_destroy(&v->wake);
    free(v->order);
    free(v->row);
    free(v->ending);
    free(v->profiles);
    free(v);
    return status;
}

view *view_open(const struct view_options *options)
{
    struct view *v = calloc(1, sizeof *v);
    if (!v) {
        clerror_set(ENOMEM, "view_open: out of memory");
        return NULL;
    }
    const struct view_options *o = &v->about.options;
    options = options ? options : &(const struct view_options){.program = NULL};
    if (view_prepare(v, options) == 0 &&
        ((o->address && strcmp(o->address, "-") == 0) || open_server(v) == 0) &&
        (!o->record || (v->recording = recording_open(&v->about)))) {
        viewers_want(v, &(struct latest){.closing = false}, NULL, 0);
        atomic_store(&v->wanted, v->recording != NULL);
        if (thread_start(v) == 0)
            return v;
    }
    view_finish(v);
    return NULL;
}

int view_close(view *v)
{
    return v ? view_finish(v) : 0;
}

const char *view_url(const view *v, int guest)
{
    return v ? v->url[guest != 0] : "";
}

const char *view_tokens(const view *v)
{
    return v ? v->tokens : "";
}

void view_reopens(view *v)
{
    if (v)
        atomic_store(&v->reopens, true);
}

const char *view_tunnel(const view *v)
{
    return v ? v->tunnel : "";
}

/* ---- When a picture is due. ------------------------------------------------------------------ */

int view_viewers(const view *v)
{
    return v ? atomic_load_explicit(&v->viewers, memory_order_relaxed) : 0;
}

static bool waits_for_server(view *v)
{
    for (int kind = POINTS; kind < ROWS; kind++)
        if (!slot_begin(&v->box[kind]))
            return true;
    return false;
}

int view_behind(view *v)
{
    const int viewers = view_viewers(v);
    if (viewers == 0)
        return 0;
    if (waits_for_server(v) || atomic_load(&v->rows_in) != atomic_load(&v->rows_out))
        return viewers;
    return atomic_load(&v->behind);
}

int view_due(view *v)
{
    if (!v || !atomic_load_explicit(&v->wanted, memory_order_relaxed))
        return 0;
    if (waits_for_server(v))
        return 0;
    const double now = seconds_now();
    const bool changed = atomic_load_explicit(&v->changed, memory_order_relaxed);
    if (v->reported.paused ? v->shown && !changed : now < (changed ? v->due_soon : v->due))
        return 0;
    v->began = now;
    return 1;
}

/* True if a viewer moved over a grid recently and is likely to continue. */
static bool moves(const view *v, double now)
{
    return now < 1e-9 * (double)atomic_load_explicit(&v->moved, memory_order_relaxed) + 0.5;
}

double view_due_in(const view *v)
{
    if (!v || !atomic_load_explicit(&v->wanted, memory_order_relaxed))
        return INFINITY;
    const double now = seconds_now();
    const bool soon = atomic_load_explicit(&v->changed, memory_order_relaxed) || moves(v, now);
    return fmax(0, (soon ? v->due_soon : v->due) - now);
}

/* A viewer that moves to an area not shown before waits at most this many times the cost of the
 * last picture. */
static const double MOVING = 10;

/* Work of the server's thread since the last picture, as far as it slowed the run down. */
static double served(struct view *v, double now)
{
    const unsigned long long worked = atomic_load_explicit(&v->worked, memory_order_relaxed),
                             used = ns_of_clock(CLOCK_PROCESS_CPUTIME_ID);
    const double busy =
        1e-9 * (double)(used - v->used_before) / fmax(1e-9, (now - v->settled) * v->cores);
    const double seconds =
        1e-9 * (double)(worked - v->worked_before) * budget_server_share(busy, v->cores);
    v->worked_before = worked;
    v->used_before = used;
    v->settled = now;
    return seconds;
}

/* Account for the cost of the last picture, and so for when the next may come. */
static void view_settle(struct view *v)
{
    const double now = seconds_now(), share = v->about.options.budget / 100,
                 copied = v->began > 0 ? now - v->began : 0;
    const double cost = copied + served(v, now), wait = budget_wait(&v->budget, cost, share);
    const double least = 1 / v->about.options.rate, begun = now - copied;
    v->beat = begun < v->beat + least ? v->beat + least
                                      : begun + least; /* a late picture does not delay the next */
    v->due = fmax(v->beat, begun + wait);
    v->due_soon = fmax(v->beat, begun + fmin(wait, MOVING * cost));
    v->shown = true;
    v->began = 0;
    atomic_store_explicit(&v->changed, false, memory_order_relaxed);
}

/* ---- Showing. -------------------------------------------------------------------------------- */

/* The slot of a kind, emptied, with the moment set; NULL: still full, so this picture is skipped.
 */
static struct shown *view_show(view *v, enum kind kind, const struct view_moment *at)
{
    const double patient = seconds_now() + 10;
    struct shown *s;
    while (!(s = slot_begin(&v->box[kind])) && at->last && seconds_now() < patient)
        usleep(1000);
    if (!s)
        return NULL;
    s->at = *at;
    s->first.used = s->second.used = s->path.used = 0;
    s->first.failed = s->second.failed = s->path.failed = false;
    return s;
}

static int hand_over(view *v, enum kind kind, struct shown *s)
{
    if (s->first.failed || s->second.failed || s->path.failed)
        return clerror_set(ENOMEM, "view: out of memory for a picture");
    slot_publish(&v->box[kind]);
    thread_wake(v);
    view_settle(v);
    return 0;
}

size_t view_bodies_wanted(const view *v)
{
    return v ? atomic_load_explicit(&v->bodies, memory_order_relaxed) : 0;
}

const uint32_t *view_sample_order(view *v)
{
    if (!v)
        return NULL;
    if (!v->order && !(v->order = about_order(v->about.options.points.total)))
        clerror_set(ENOMEM, "view_sample_order: out of memory for %zu bodies",
                    v->about.options.points.total);
    return v->order;
}

int view_show_points(view *v, const struct view_points *p)
{
    struct shown *s = v ? view_show(v, POINTS, &p->at) : NULL;
    if (!s)
        return 0;
    if (p->count > v->about.options.points.total)
        return clerror_set(EINVAL, "view_show_points: %zu bodies of %zu", p->count,
                           v->about.options.points.total);
    if (p->instants > VIEW_INSTANTS)
        return clerror_set(EINVAL, "view_show_points: a path of %zu instants; at most %d",
                           p->instants, VIEW_INSTANTS);
    s->n = p->count;
    for (size_t i = 0; i < p->instants && about_has_orbits(&v->about); i++) {
        bytes_put(&s->path, &p->path_time[i], sizeof *p->path_time);
        bytes_put(&s->path, p->path + i * p->count, p->count * sizeof *p->path);
    }
    bytes_put(&s->first, p->pos, p->count * sizeof *p->pos);
    if (p->vel)
        bytes_put(&s->second, p->vel, p->count * sizeof *p->vel);
    return hand_over(v, POINTS, s);
}

int view_regions_wanted(view *v, struct view_region *region)
{
    if (!v || pthread_mutex_trylock(&v->lock) != 0)
        return 0;
    const int n = v->regions;
    memcpy(region, v->region, sizeof *region * (size_t)n);
    pthread_mutex_unlock(&v->lock);
    return n;
}

int view_show_cells(view *v, struct view_moment at, uint64_t population, int n,
                    const struct view_cells *cells)
{
    struct shown *s = v && n <= VIEW_REGIONS ? view_show(v, CELLS, &at) : NULL;
    if (!s)
        return 0;
    s->n = (size_t)n;
    s->population = population;
    s->states = v->about.options.cells.states;
    for (int i = 0; i < n; i++) {
        s->region[i] = cells[i].region;
        bytes_put(&s->first, cells[i].body, view_cells_bytes(&cells[i].region, s->states));
    }
    return hand_over(v, CELLS, s);
}

int view_show_bars(view *v, struct view_moment at, uint32_t bins, double top,
                   const uint64_t *number, const double *expected)
{
    struct shown *s = v ? view_show(v, BARS, &at) : NULL;
    if (!s)
        return 0;
    s->n = bins;
    s->top = top;
    for (size_t i = 0; i <= bins; i++) {
        bytes_u(&s->first, number[i], 8);
        bytes_f64(&s->second, expected[i]);
    }
    return hand_over(v, BARS, s);
}

int view_show_grid(view *v, struct view_moment at, const float *value)
{
    struct shown *s = v ? view_show(v, GRID, &at) : NULL;
    if (!s)
        return 0;
    s->n = v->about.grid_rows * v->about.grid_columns;
    for (size_t i = 0; i < s->n; i++)
        bytes_f32(&s->first, value[i]);
    return hand_over(v, GRID, s);
}

int view_add_row(view *v, const double *value)
{
    if (!v || !v->about.columns)
        return 0;
    const size_t in = atomic_load_explicit(&v->rows_in, memory_order_relaxed),
                 columns = v->about.columns;
    if (in - atomic_load_explicit(&v->rows_out, memory_order_acquire) >= ROWS_IN_FLIGHT)
        return 0;
    memcpy(v->row + in % ROWS_IN_FLIGHT * columns, value, columns * sizeof *value);
    atomic_store_explicit(&v->rows_in, in + 1, memory_order_release);
    thread_wake(v);
    return 0;
}

/* ---- Replays. -------------------------------------------------------------------------------- */

/* Rows wait for space in the ring, at most a second. */
static void give_row(void *arg, const double *row)
{
    view *v = arg;
    for (int tries = 0;
         tries < 1000 && atomic_load(&v->rows_in) - atomic_load(&v->rows_out) >= ROWS_IN_FLIGHT;
         tries++)
        usleep(1000);
    view_add_row(v, row);
}

/* Takes over the message. */
static void give_profiles(view *v, char *text)
{
    pthread_mutex_lock(&v->lock);
    free(v->profiles);
    v->profiles = text;
    v->profiles_shown++;
    pthread_mutex_unlock(&v->lock);
    thread_wake(v);
}

int view_show_recorded(view *v, view_recording *r, size_t frame)
{
    if (no_handle(r, __func__))
        return -1;
    if (!v || frame >= view_recording_frames(r))
        return 0;
    const struct bytes *picture = recording_picture(r, frame);
    if (!picture)
        return -1;
    if (!v->rows_given)
        recording_each_row(r, give_row, v);
    v->rows_given = true;
    char *profiles = recording_profiles(r, frame, &v->profiles_replayed);
    if (profiles)
        give_profiles(v, profiles);
    struct shown *s = view_show(v, (enum kind)picture->at[0], &(struct view_moment){0});
    if (!s)
        return 0;
    s->raw = true;
    bytes_put(&s->first, picture->at, picture->used);
    return hand_over(v, (enum kind)picture->at[0], s);
}

/* ---- Questions and answers. ------------------------------------------------------------------ */

int view_next_command(view *v, struct view_command *command)
{
    if (!v || pthread_mutex_trylock(&v->lock) != 0)
        return 0;
    const bool any = v->commands > 0;
    if (any) {
        *command = v->command[0];
        if (command->ask == VIEW_PUT || command->ask == VIEW_RULE || command->ask == VIEW_STEP)
            v->shown = false; /* a paused run is about to change */
        memmove(v->command, v->command + 1, --v->commands * sizeof *v->command);
    }
    pthread_mutex_unlock(&v->lock);
    return any;
}

void view_wait(view *v, double seconds)
{
    struct timespec until;
    if (!v)
        return;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double end = (double)until.tv_sec + 1e-9 * (double)until.tv_nsec + seconds;
    until.tv_sec = (time_t)end;
    until.tv_nsec = (long)(1e9 * (end - floor(end)));
    pthread_mutex_lock(&v->lock);
    int waited = 0;
    while (v->commands == 0 && !atomic_load_explicit(&v->changed, memory_order_relaxed) &&
           waited == 0)
        waited = pthread_cond_timedwait(&v->asked, &v->lock, &until);
    pthread_mutex_unlock(&v->lock);
}

/* Rates and fractions change constantly: once a second is enough. */
void view_set_state(view *v, const struct view_state *state)
{
    if (!v)
        return;
    const bool news = state->paused != v->reported.paused || state->speed < v->reported.speed ||
                      state->speed > v->reported.speed || state->frame != v->reported.frame;
    const double now = seconds_now();
    if (state->paused && (!v->stood || state->frame != v->reported.frame))
        v->shown = false; /* the state where it stopped or a replay seeked to; also if it ran too
                             briefly to report */
    v->stood = state->paused;
    if ((!news && now < v->told + 1) || pthread_mutex_trylock(&v->lock) != 0)
        return;
    v->state = *state;
    v->states++;
    pthread_mutex_unlock(&v->lock);
    v->reported = *state;
    v->told = now;
    thread_wake(v);
}

void view_set_box(view *v, const double box[4])
{
    static const double none[4] = {0, 0, 0, 0};
    box = box ? box : none;
    if (!v || memcmp(v->boxed, box, sizeof v->boxed) == 0 || pthread_mutex_trylock(&v->lock) != 0)
        return;
    memcpy(v->box_of_cells, box, sizeof v->box_of_cells);
    v->states++;
    pthread_mutex_unlock(&v->lock);
    memcpy(v->boxed, box, sizeof v->boxed);
    thread_wake(v);
}

void view_set_rule(view *v, const char *rule)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    snprintf(v->rule, sizeof v->rule, "%s", rule);
    v->states++;
    pthread_mutex_unlock(&v->lock);
    thread_wake(v);
}

int view_show_profiles(view *v, double time, size_t n, const struct view_profile *profile)
{
    for (size_t i = 0; i < n; i++)
        if (n > VIEW_PROFILES || profile[i].bins > VIEW_PROFILE_BINS)
            return clerror_set(EINVAL, "view_show_profiles: at most %d of %d bins can be shown",
                               VIEW_PROFILES, VIEW_PROFILE_BINS);
    if (!v)
        return 0;
    char *text = profiles_text(time, n, profile);
    if (!text)
        return clerror_set(ENOMEM, "view: out of memory for %zu distributions", n);
    give_profiles(v, text);
    return 0;
}

void view_set_objects(view *v, uint64_t step, const char *names)
{
    if (!v || (strcmp(v->objects, names) == 0 && v->objects_step == step))
        return;
    pthread_mutex_lock(&v->lock);
    snprintf(v->objects, sizeof v->objects, "%s", names);
    v->objects_step = step;
    v->states++;
    pthread_mutex_unlock(&v->lock);
    thread_wake(v);
}

void view_say(view *v, const char *sentence)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    snprintf(v->say, sizeof v->say, "%s", sentence);
    v->said++;
    pthread_mutex_unlock(&v->lock);
    thread_wake(v);
}

void view_end(view *v, const char *sentence)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    if (!v->ending)
        v->ending = strdup(sentence);
    v->states++;
    pthread_mutex_unlock(&v->lock);
    thread_wake(v);
}
