# The window: its pieces, its server met by clients of others' making, what it costs.
# SPDX-License-Identifier: MIT
stdcl_test(test_view test_view.c LIBS stdcl_view)
