#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# jetwatt-knobs on a simulated board: which clients may send which requests, and whether the board
# is restored when a client or a server dies.
cd "${0%/*}/../.." && exec /usr/bin/python3 tests/host/knobs.py
