#!/bin/sh
# todays.sh - which tests `make test` leaves out today, as a regular expression of ctest's labels: the long ones, and of
# those that take turns (stdcl_turns in tests/CMakeLists.txt) five of six. STDCL_TEST_DAY brings a day back.
# SPDX-License-Identifier: MIT
set -eu
day=${STDCL_TEST_DAY:-$(($(date +%s) / 86400))}
echo "a sixth of the tests that take turns: STDCL_TEST_DAY=$day has the same, make test-deep all" >&2
echo "deep|^turn[^$((day % 6))]$"
