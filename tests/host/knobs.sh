#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Check jetwatt-knobs on a simulated board: which requests each client may send, and that the board
# is restored when a client or the server dies.
cd "${0%/*}/../.." && exec /usr/bin/python3 tests/host/knobs.py
