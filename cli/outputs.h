/* outputs.h - the files that a simulation makes, as `stdcl nbody` and `stdcl life` know them: its
 * state, pictures, films and tables.
 *
 * The suffix of a name says what is to be written. All names are checked before anything is
 * computed. Pictures and films of one name are made of the same frames.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_OUTPUTS_H
#define STDCL_CLI_OUTPUTS_H

#include "cli.h"

enum cli_output_kind {
    CLI_OUTPUT_STATE, /* bodies, or a pattern */
    CLI_OUTPUT_PICTURE,
    CLI_OUTPUT_FILM,
    CLI_OUTPUT_TABLE,
    CLI_OUTPUT_SERIES, /* numbered files, whose name is tried, written and listed by those who know
                          of it */
    CLI_OUTPUT_OTHER   /* what an option of its own names */
};

struct cli_output {
    enum cli_output_kind kind;
    const char *file;
    bool left_out;             /* an interruption came first, or did not wait for it */
    bool replaces;             /* a file of that name was there */
    bool piped;                /* a film whose frames go to ffmpeg as they come, and are not kept */
    struct picture_film *film; /* such a one, once it has begun */
};

struct cli_outputs {
    /* From the command line. */
    struct cli_strings names; /* of -o */
    size_t frames;            /* of --frames; 0: not given */
    size_t fps;               /* frames a second of films; 0: not given */
    bool keep_frames;         /* of films, as numbered pictures: what a checkpoint needs */
    bool together;            /* states are written by all ranks */

    /* Results, and what is needed meanwhile. */
    struct cli_output *item;
    size_t n;
    unsigned frames_done;
};

/* What a name of -o asks for. */
enum cli_output_kind cli_output_kind(const char *file);

/* Whether it is a picture or a film. */
bool cli_output_is_drawn(const struct cli_output *output);

/* Whether -o asks for a picture or a film; before any is added. */
bool cli_outputs_will_draw(const struct cli_outputs *outputs);

bool cli_outputs_have(const struct cli_outputs *outputs, enum cli_output_kind kind);

/* Whether one goes to the standard output, which then is for nothing else. */
bool cli_outputs_take_stdout(const struct cli_outputs *outputs);

void cli_outputs_add(struct cli_outputs *outputs, const char *file, enum cli_output_kind kind);

/* The int functions return an exit status, after printing what is wrong. */

/* When all are added: settles how many frames there will be, looks for what pictures and films
 * need, and tries the names. */
int cli_outputs_settle(struct cli_outputs *outputs);

/* The step at which frame `i` is due in a run of `total` steps: the first at the start, the last at
 * the end. */
uint64_t cli_outputs_due(const struct cli_outputs *outputs, size_t i, uint64_t total);

/* Draws the next frame of all pictures and films: draw(job, file), for each file once. */
int cli_outputs_frame(struct cli_outputs *outputs, int (*draw)(void *job, const char *file),
                      void *job);

/* After a file is written, or `failed`: one that was given up after Ctrl-C is left out, and the run
 * is an interrupted one. */
int cli_output_end(struct cli_output *o, int failed, bool *interrupted);

/* After the last frame of a run that was interrupted: removes the pictures that an older run left
 * under the numbers which this one would have drawn, so that a series is of one run. */
void cli_outputs_cut(const struct cli_outputs *outputs);

/* Joins the frames to a film, or ends it. */
int cli_outputs_join(const struct cli_outputs *outputs, struct cli_output *film);

/* Lists what was written, a line each. */
void cli_outputs_report(const struct cli_outputs *outputs, FILE *fp);

void cli_outputs_free(struct cli_outputs *outputs);

#endif
