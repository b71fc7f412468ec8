/* neighbour.h - found by includes.cl because it lies in the same folder. */
#define NEIGHBOUR 77
