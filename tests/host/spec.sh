#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compare the netlink specification with the UAPI header and the module's tables.
cd "$(dirname "$0")/../.." || exit 1
if ! /usr/bin/python3 -c 'import yaml' 2> /dev/null; then
	echo '1..0 # SKIP no python3-yaml'
	exit 4
fi
exec /usr/bin/python3 tests/host/spec.py
