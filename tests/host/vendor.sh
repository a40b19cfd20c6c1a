#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that numbers, names and sizes of the vendor's interfaces in the simulated board, the module
# and the probe equal the cited facts in tests/kernels/vendor_facts.
cd "$(dirname "$0")/../.." || exit 1
facts=tests/kernels/vendor_facts
d=build/host/vendor.d
rm -rf $d
. tests/host/check.inc

# value FILE EXPRESSION: print the value of EXPRESSION. If FILE defines a macro of that name as a
# number, FILE may be in any language; otherwise FILE is a header and the compiler evaluates EXPRESSION
value()
{
	local literal
	literal=$(sed -nE "s/^#[[:space:]]*define[[:space:]]+$2[[:space:]]+(0[xX][0-9a-fA-F]+|[0-9]+).*/\1/p" "$1")
	if [ -n "$literal" ]; then
		echo $((literal))
	else
		printf '#include <stdio.h>\n#include "%s"\nint main(void) { printf("%%lu\\n", (unsigned long)(%s)); }\n' \
			"$PWD/$1" "$2" > $d/value.c
		gcc -o $d/value $d/value.c && $d/value
	fi
}

# number NAME FILE EXPRESSION VALUE
number()
{
	run value "$2" "$3"
	check "$1 of $2 is $4" "[ $status = 0 ] && [ \"\$(cat $d/out)\" = $(($4)) ]"
}

facts() { grep -vE '^(#|$)' $facts; }

echo "1..$(($(facts | wc -l) + 1))"
while read -r kind file name expected; do
	case $kind in
	number) number "$name" "$file" "$name" "$expected";;
	size) number "the size of $name" "$file" "sizeof(struct $name)" "$expected";;
	text) check "$name is in $file" "grep -qE '\"([^\"]*[^a-z_\"])?$name([^a-z_\"][^\"]*)?\"|ATTR(_[A-Z]+)?\\($name[,)]' $file";;
	*) check "a fact of kind $kind" false;;
	esac
done < <(facts)

# Each block of facts ends with a line that cites its source.
check "every fact has a source" "awk '
	/^(number|size|text) / { open = 1; next }
	/^# .*: .*\\.[ch]/ { open = 0 }
	/^\$/ { if (open) exit bad = 1 }
	END { exit bad || open }' $facts"
exit $failed
