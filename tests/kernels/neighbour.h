/* neighbour.h - found by includes.cl because it lies in the same folder. */
/* SPDX-License-Identifier: MIT */
#define NEIGHBOUR 77
