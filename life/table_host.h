/* table_host.h - rules by a table of 512 neighbourhoods in plain C (table_host.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_TABLE_HOST_H
#define LIFE_TABLE_HOST_H

#include "life/family.h"

/* Scratch memory for rows of `width` cells; NULL: out of memory. */
struct life_table_host *life_table_host_open(const struct life_family *rule, size_t width);
void life_table_host_close(struct life_table_host *h);

/* True if a row takes less time than n of its cells one by one: an eighth of them, or with vectors
 * 1/32. */
bool life_table_host_pays(const struct life_table_host *h, size_t n, size_t width);

/* One generation of rows y ... end - 1, as life_ref_family_rows, on a torus or plane. */
void life_table_host_rows(struct life_table_host *h, const struct life_family *rule,
                          enum life_bounds bounds, size_t width, size_t height, size_t y,
                          size_t end, const unsigned char *from, unsigned char *to);

#endif
