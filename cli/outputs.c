/* outputs.c - the output files of a simulation: kinds, checks, frames and the list of the report
 * (see outputs.h).
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "files.h"
#include "alloc.h"
#include "message.h"
#include "options.h"
#include "ranks.h"
#include "ranks_file.h"
#include "outputs.h"

#include "formats/picture.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t FILM_FRAMES = 100;

/* ---- Kinds. ------------------------------------------------------------------------------- */

enum cli_output_kind cli_output_kind(const char *file)
{
    return cli_has_suffix(file, ".png")   ? CLI_OUTPUT_PICTURE
           : cli_has_suffix(file, ".csv") ? CLI_OUTPUT_TABLE
           : picture_is_film(file)        ? CLI_OUTPUT_FILM
                                          : CLI_OUTPUT_STATE;
}

bool cli_output_is_drawn(const struct cli_output *o)
{
    return o->kind == CLI_OUTPUT_PICTURE || o->kind == CLI_OUTPUT_FILM;
}

/* True for a picture or a film whose frames are files. */
static bool is_numbered(const struct cli_output *o)
{
    return cli_output_is_drawn(o) && !o->piped && !o->single;
}

bool cli_outputs_have(const struct cli_outputs *outputs, enum cli_output_kind kind)
{
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->item[i].kind == kind)
            return true;
    return false;
}

bool cli_outputs_will_draw(const struct cli_outputs *outputs)
{
    for (size_t i = 0; i < outputs->names.n; i++) {
        const struct cli_output o = {.kind = cli_output_kind(outputs->names.item[i])};
        if (cli_output_is_drawn(&o))
            return true;
    }
    return false;
}

void cli_outputs_add(struct cli_outputs *outputs, const char *file, enum cli_output_kind kind)
{
    outputs->item = cli_realloc(outputs->item, outputs->n + 1, sizeof *outputs->item);
    outputs->item[outputs->n++] = (struct cli_output){.kind = kind, .file = file};
}

/* ---- Checks. -------------------------------------------------------------------------------- */

/* Check what an output needs: pictures need libpng at build time, which writing one pixel to
 * /dev/null shows; films need ffmpeg. */
static int try_kind(const struct cli_output *o)
{
    static const uint8_t pixel[3];
    if (o->kind == CLI_OUTPUT_FILM && !picture_can_join())
        return cli_failed(
            "'%s' needs the program ffmpeg, which is not in $PATH: install it, or write "
            "numbered pictures with -o FILE.png --frames N",
            o->file);
    if (cli_output_is_drawn(o) && picture_write_png("/dev/null", 1, 1, pixel) < 0)
        return cli_failed_call(NULL);
    return CLI_DONE;
}

/* Check the name, or the name of the first frame of a series. */
static int try_output(const struct cli_outputs *outputs, struct cli_output *o)
{
    struct stat old;
    int status = try_kind(o);
    if (status != CLI_DONE)
        return status;
    o->replaces = stat(o->file, &old) == 0 && S_ISREG(old.st_mode);
    if ((o->kind != CLI_OUTPUT_PICTURE || o->single) && o->kind != CLI_OUTPUT_SERIES)
        status = o->kind == CLI_OUTPUT_STATE && outputs->together ? cli_ranks_check_output(o->file)
                                                                  : cli_check_output(o->file);
    if (status != CLI_DONE || !is_numbered(o))
        return status;
    char *first = picture_frame_name(o->file, 1);
    status = first ? cli_check_output(first) : cli_failed_call(NULL);
    free(first);
    return status;
}

/* True if an output of this kind has the frames of this output, by its name. */
static bool shares_frames(const struct cli_outputs *outputs, const struct cli_output *output,
                          enum cli_output_kind kind)
{
    bool shared = false;
    char *own = picture_frame_name(output->file, 1);
    for (size_t i = 0; i < outputs->n && own && !shared; i++) {
        char *other =
            outputs->item[i].kind == kind ? picture_frame_name(outputs->item[i].file, 1) : NULL;
        shared = other && !strcmp(own, other);
        free(other);
    }
    free(own);
    return shared;
}

/* Frames of a film are kept for pictures of the same name, or for a later --resume. Without
 * --frames, pictures of other names are of the end. */
static void choose_files(const struct cli_outputs *outputs, struct cli_output *o)
{
    o->piped = o->kind == CLI_OUTPUT_FILM && !outputs->keep_frames &&
               !shares_frames(outputs, o, CLI_OUTPUT_PICTURE);
    o->single = o->kind == CLI_OUTPUT_PICTURE &&
                (!outputs->frames ||
                 (outputs->default_frames && !shares_frames(outputs, o, CLI_OUTPUT_FILM)));
}

int cli_outputs_prepare(struct cli_outputs *outputs)
{
    outputs->default_frames = cli_outputs_have(outputs, CLI_OUTPUT_FILM) && !outputs->frames;
    if (outputs->default_frames)
        outputs->frames = FILM_FRAMES;
    for (size_t i = 0; i < outputs->n; i++) {
        struct cli_output *o = &outputs->item[i];
        choose_files(outputs, o);
        const int status = try_output(outputs, o);
        if (status != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

int cli_outputs_check_frames(struct cli_outputs *outputs, uint64_t total, const char *unit)
{
    const size_t frames = outputs->frames;
    if (frames <= 1 || frames - 1 <= total)
        return CLI_DONE;
    outputs->frames = (size_t)total + 1;
    return outputs->default_frames
               ? CLI_DONE
               : cli_wrong("--frames: %zu pictures need at least %zu %s, but the run has %zu; give "
                           "--frames %zu or fewer",
                           frames, frames - 1, unit, (size_t)total, (size_t)total + 1);
}

/* ---- Frames. --------------------------------------------------------------------------------- */

uint64_t cli_outputs_due(const struct cli_outputs *outputs, size_t i, uint64_t total)
{
    if (outputs->frames <= 1)
        return total;
    return (uint64_t)((double)i * (double)total / (double)(outputs->frames - 1) + 0.5);
}

/* True if one of the first `n` outputs has this frame. */
static bool is_drawn_before(const struct cli_outputs *outputs, size_t n, const char *frame)
{
    bool drawn = false;
    for (size_t i = 0; i < n && !drawn; i++) {
        char *other = picture_frame_name(outputs->item[i].file, outputs->frames_done + 1);
        drawn = other && is_numbered(&outputs->item[i]) && !strcmp(other, frame);
        free(other);
    }
    return drawn;
}

/* Draw the next frame of a piped film on rank 0; the other ranks draw to /dev/null. Drawing must
 * not be collective: rank 0 does not draw if ffmpeg does not start. */
static int film_frame(const struct cli_outputs *outputs, struct cli_output *o,
                      int (*draw)(void *, const char *), void *job)
{
    if (!cli_ranks_first())
        return draw(job, "/dev/null");
    if (!o->film && !(o->film = picture_film_open(o->file, (unsigned)outputs->fps)))
        return cli_failed_call(NULL);
    const int status = draw(job, picture_film_frame(o->film));
    if (status != CLI_DONE) { /* most likely ffmpeg exited; its error follows */
        if (picture_film_close(o->film) < 0)
            cli_warn("%s", clerror());
        o->film = NULL;
    }
    return status;
}

/* Draw the next frame of output i as a numbered picture, unless an earlier output has drawn it. */
static int numbered_frame(const struct cli_outputs *outputs, size_t i,
                          int (*draw)(void *, const char *), void *job)
{
    char *frame = picture_frame_name(outputs->item[i].file, outputs->frames_done + 1);
    if (!frame)
        return cli_failed_call(NULL);
    const int status = is_drawn_before(outputs, i, frame) ? CLI_DONE : draw(job, frame);
    free(frame);
    return status;
}

void cli_outputs_keep_status(struct cli_outputs *outputs, struct cli_output *o, int status)
{
    status = cli_ranks_file_status(status);
    if (status == CLI_DONE)
        return;
    if (o)
        o->left_out = true;
    outputs->status = cli_first_failure(outputs->status, status);
}

void cli_outputs_frame(struct cli_outputs *outputs, int (*draw)(void *, const char *), void *job)
{
    for (size_t i = 0; i < outputs->n; i++) {
        struct cli_output *o = &outputs->item[i];
        if (!cli_output_is_drawn(o) || o->single || o->left_out)
            continue;
        cli_outputs_keep_status(outputs, o,
                                o->piped ? film_frame(outputs, o, draw, job)
                                         : numbered_frame(outputs, i, draw, job));
    }
    outputs->frames_done++;
}

void cli_outputs_remove_stale(const struct cli_outputs *outputs)
{
    for (size_t i = 0; i < outputs->n; i++)
        for (unsigned k = outputs->frames_done + 1;
             is_numbered(&outputs->item[i]) && k <= outputs->frames; k++) {
            char *frame = picture_frame_name(outputs->item[i].file, k);
            if (frame)
                unlink(frame);
            free(frame);
        }
}

int cli_outputs_join(const struct cli_outputs *outputs, struct cli_output *film)
{
    if (film->piped) {
        const int closed = film->film ? picture_film_close(film->film) : 0;
        film->film = NULL;
        return closed < 0 ? cli_failed_call(NULL) : CLI_DONE;
    }
    return cli_ranks_first() &&
                   picture_join(film->file, outputs->frames_done, (unsigned)outputs->fps) < 0
               ? cli_failed_call(NULL)
               : CLI_DONE;
}

void cli_outputs_cut_short(const struct cli_outputs *outputs, struct csv *table)
{
    if (csv_close(table) < 0)
        (void)cli_failed_call(NULL);
    if (outputs->frames_done == outputs->frames_before)
        return;
    cli_outputs_remove_stale(outputs);
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->item[i].kind == CLI_OUTPUT_FILM && !outputs->item[i].left_out)
            (void)cli_outputs_join(outputs, &outputs->item[i]);
}

int cli_output_end(struct cli_output *o, int failed, bool *interrupted)
{
    if (failed && !cli_write_abandoned())
        return cli_failed_call(NULL);
    o->left_out = failed;
    *interrupted |= failed != 0;
    return CLI_DONE;
}

/* True if rank 0 has an `older` file of this name: a warning says that it is kept. */
static bool older_is_kept(const char *file, bool older)
{
    if (world_broadcast(cli_world, 0, &older, sizeof older) != 0 || !older)
        return false;
    if (cli_ranks_first())
        cli_warn("%s: the older file is kept, because no step was made", file);
    return true;
}

bool cli_output_keeps_older(struct cli_output *o, bool at_start)
{
    if (!at_start || o->kind == CLI_OUTPUT_SERIES || !older_is_kept(o->file, o->replaces))
        return false;
    picture_film_discard(o->film);
    o->film = NULL;
    o->left_out = true;
    return true;
}

/* True if there is a regular file of this name. */
static bool file_exists(const char *file)
{
    struct stat old;
    return stat(file, &old) == 0 && S_ISREG(old.st_mode);
}

void cli_outputs_keep_older_frames(struct cli_outputs *outputs)
{
    for (size_t i = 0; i < outputs->n; i++) {
        struct cli_output *o = &outputs->item[i];
        char *first = picture_frame_name(o->file, 1);
        if (first && is_numbered(o) && !o->left_out)
            o->left_out = older_is_kept(first, file_exists(first));
        free(first);
    }
}

void cli_outputs_keep_older(struct cli_strings *names, bool at_start)
{
    size_t left = 0;
    for (size_t i = 0; i < names->n; i++) {
        const char *file = names->item[i];
        if (!at_start || !older_is_kept(file, file_exists(file)))
            names->item[left++] = file;
    }
    names->n = left;
}

/* ---- Report. --------------------------------------------------------------------------------- */

/* True if the output was written by this run. */
static bool is_written(const struct cli_outputs *outputs, const struct cli_output *o)
{
    const bool no_frame = outputs->frames_done == outputs->frames_before;
    return !o->left_out && o->kind != CLI_OUTPUT_SERIES &&
           !(o->kind == CLI_OUTPUT_PICTURE && !o->single && no_frame);
}

void cli_outputs_report(const struct cli_outputs *outputs, FILE *fp)
{
    const char *label = "written";
    for (size_t i = 0; i < outputs->n; i++) {
        const struct cli_output *o = &outputs->item[i];
        const bool film = o->kind == CLI_OUTPUT_FILM;
        if (!is_written(outputs, o))
            continue;
        fprintf(fp, "%-14s", label);
        label = "";
        if (outputs->frames_done && is_numbered(o)) {
            char *first = picture_frame_name(o->file, 1),
                 *last = picture_frame_name(o->file, outputs->frames_done);
            fprintf(fp, "%s ... %s%s%s\n", first ? first : "", last ? last : "", film ? ", " : "",
                    film ? o->file : "");
            free(first);
            free(last);
        } else {
            fprintf(fp, "%s%s\n", o->file, o->replaces ? ", replacing an older file" : "");
        }
    }
}

void cli_outputs_free(struct cli_outputs *outputs)
{
    for (size_t i = 0; i < outputs->n; i++)
        picture_film_discard(outputs->item[i].film);
    free(outputs->item);
    cli_strings_free(&outputs->names);
}
