/* life_picture.h - pictures and figures of the cells of `stdcl life`: -o FILE.png, --figure.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_LIFE_PICTURE_H
#define STDCL_CLI_LIFE_PICTURE_H

#include "life_job.h"

#include "formats/life.h"

#include <stdbool.h>

/* Functions that return int return an exit status, after printing a message. */

/* Check the names of --figure, and that --grid-lines has room between cells. */
int life_picture_plan(const struct life_job *job);

/* True if pictures have grid lines or a caption. The pattern then needs all rows in memory. */
bool life_picture_is_dressed(const struct life_job *job);

/* Write a picture. -1 with clerror(). */
int life_picture_save(const struct life_job *job, const struct life_pattern *p, const char *file);

/* Draw all figures of a pattern with all its rows in memory. */
int life_figures_draw(struct life_job *job, const struct life_pattern *p);

#endif
