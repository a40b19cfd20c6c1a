#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The examples in doc/library.md are short, and compile as printed. tests/cmd/library.sh runs
# the C example; tests/kernels/ynl.sh, whose guest has a Python, runs the Python example. The example of
# libjetwatt(3) compiles, and its join holds samples for longer than the probe holds waits back.
cd "$(dirname "$0")/../.." || exit 1
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
echo 1..5
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
{
	printf '#include <%s>\n' err.h jetwatt.h poll.h stdio.h
	sed -n '/^\.EX$/,/^\.EE$/{/^\.E[XE]$/d;s/\\e/\\/g;s/\\-/-/g;p}' man/libjetwatt.3
} > "$T/man.c"
gcc -Wall -Wextra -Werror -Wno-unused-parameter -Iinclude -Iinclude/uapi \
	-o "$T/man" "$T/man.c" -Lbuild -ljetwatt -Wl,-rpath-link,build > "$T/log" 2>&1
result $? "4 the example of libjetwatt(3) compiles"
hold=$(sed -n 's/.*jetwatt_join_new(&join, jw, \([0-9]*\)).*/\1/p' "$T/man.c")
echo "hold time: $hold ms; jetwatt_join_new() in jetwatt.h says: more than 500 ms with a probe" > "$T/log"
[ "${hold:-0}" -gt 520 ] && grep -q jetwatt_join_pause "$T/man.c"
result $? "5 its join waits for the waits that the probe holds back"
exit $failed
