#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# jetwatt-knobs on a board made of files: who may ask, for what, and what is left of the
# board whoever dies.
cd "${0%/*}/../.." && exec /usr/bin/python3 tests/host/knobs.py
