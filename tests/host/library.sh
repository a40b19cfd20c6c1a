#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The examples in doc/library.md are short, and compile as printed. tests/cmd/library.sh runs
# the C example; tests/kernels/ynl.sh, whose guest has a Python, runs the Python example.
cd "$(dirname "$0")/../.." || exit 1
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
echo 1..3
block() { awk -v lang="$1" '$0 == "```" lang { on = 1; next } /^```$/ { on = 0 } on' doc/library.md; }
result() { if [ "$1" = 0 ]; then echo "ok $2"; else sed 's/^/# /' "$T/log"; echo "not ok $2"; failed=1; fi; }
failed=0
block c > "$T/watch.c"
[ "$(wc -l < "$T/watch.c")" -gt 20 ] && [ "$(wc -l < "$T/watch.c")" -le 45 ]
result $? "1 the C example is about forty lines"
gcc -Wall -Wextra -Werror -Wno-unused-parameter -Iinclude -Iinclude/uapi \
	-o "$T/watch" "$T/watch.c" -Lbuild -ljetwatt \
	-Wl,-rpath-link,build > "$T/log" 2>&1
result $? "2 the C example compiles"
block python > "$T/energy.py"
python3 -m py_compile "$T/energy.py" > "$T/log" 2>&1
result $? "3 the Python example compiles"
exit $failed
