# The first product of a process, for bench/first_product.sh.
# SPDX-License-Identifier: MIT
stdcl_bench(first_product first_product.c LIBS stdcl_matmul)
