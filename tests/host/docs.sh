#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that --help, man pages, shell completion, README.md and doc/ name the same verbs and
# options. Also check the width of man pages and --help, the length of README.md, the form of the
# files in doc/changes.d/, the order of commands for jetwatt-telemetry, and that every link within the
# tree from README.md and doc/ leads to an existing page and heading.
cd "$(dirname "$0")/../.." || exit 1
n=0 failed=0
page=$(mktemp)
bad=$(mktemp -d)
trap 'rm -rf "$page" "$bad"' EXIT
verbs=$(build/jetwatt --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
common='quiet verbose no-color progress help usage version'

# options VERB: print the verb's own long options from its --help; for eval alone, also those of its
# subcommands
options()
{
	{
		build/jetwatt "$@" --help
		[ "$*" != eval ] || for e in predict optimize search schedule; do build/jetwatt eval $e --help; done
	} | grep -oE -- '^ +(-[a-z], )?(    )?--[a-z-]+' |
		sed 's/.*--//' | grep -vxF "${common// /$'\n'}"
}

# same TEXT: check with the name TEXT, which passes if stdin (the differences) is empty
same()
{
	local found
	found=$(cat)
	n=$((n + 1))
	if [ -z "$found" ]; then echo "ok $n $1"; return; fi
	sed 's/^/# /' <<< "$found"
	echo "not ok $n $1"
	failed=1
}

# complete_ WORD...: print the completions of the last word
complete_()
{
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_jetwatt
	printf '%s\n' "${COMPREPLY[@]}"
}

# headings PAGE: print the headings of a page in the form in which links refer to them
headings() { sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g;s/ /-/g'; }

# fragments DIR: print what is wrong with each file of a directory like doc/changes.d
fragments()
{
	local f
	for f in "$1"/*; do
		[ -e "$f" ] || continue
		[[ $f == *.md ]] || echo "$f: no name like NAME.md"
		[ -z "$(tail -c 1 "$f")" ] || echo "$f: no newline at the end"
		[ "$(wc -l < "$f")" -le 3 ] || echo "$f: more than three lines"
		grep -q '`[^`]*`' "$f" || echo "$f: no code span"
		head -n 1 "$f" | grep -q '^- ' || echo "$f: the first line does not begin with \"- \""
		awk -v f="$f" 'length() > 100 || !/^(- |  )[^ ]/ { print f ": line " NR ": " $0 }' "$f"
	done
}

echo 1..18
# shellcheck disable=SC1091
. user/cmd/jetwatt.bash-completion
PATH=$PWD/build:$PATH

same "every verb has a man page, which jetwatt.1 names" < <(
	[ -n "$verbs" ] || echo "no verbs"
	for v in $verbs; do
		[ -e "man/jetwatt-$v.1" ] || echo "man/jetwatt-$v.1 is missing"
		grep -q "^\.BR jetwatt-$v (1)" build/man/jetwatt.1 || echo "jetwatt.1 does not name $v"
	done
	for f in man/jetwatt-*.1; do
		f=${f#man/jetwatt-}
		grep -qx "${f%.1}" <<< "$verbs" || echo "a page of no verb: $f"
	done)
same "every option is in its verb's man page, and no other" < <(
	for v in $verbs; do
		[ -e "man/jetwatt-$v.1" ] || continue
		sed 's,\\f.,,g;s,\\,,g' "man/jetwatt-$v.1" > "$page"
		for o in $(options "$v"); do
			grep -qE -- "--$o([^a-z-]|$)" "$page" || echo "$v: --$o is not in the page"
		done
		for o in $(sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "$page" |
			   sed -n '/^\.BR\? /s/.*--\([a-z][a-z-]*\).*/\1/p'); do
			options "$v" | grep -qx -- "$o" || echo "$v: has no --$o, but its page does"
		done
	done)
same "every verb has --json, or names an alternative" < <(
	for v in $verbs; do
		{ build/jetwatt "$v" --help; [ "$v" != eval ] || build/jetwatt eval predict --help; } |
			grep -q -- --json && continue
		build/jetwatt "$v" --json 2>&1 | grep -q '^  fix: .*json' || echo "$v: no --json, and no word why"
	done)
same "man(1) formats every page without a warning" < <(
	command -v man > /dev/null || exit 0
	for f in build/man/*.[1-8]; do
		LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$f" 2>&1 > /dev/null
	done)
same "no line of a man page is wider than 80 columns" < <(
	command -v man > /dev/null || exit 0
	for f in build/man/*.[1-8]; do
		MANWIDTH=80 man -E ascii -l "$f" 2> /dev/null | awk -v f="$f" 'length() > 80 { print f ": " $0 }'
	done)
same "no line of --help is wider than 80 columns" < <(
	{
		echo jetwatt
		printf 'jetwatt %s\n' $verbs "eval predict" "eval optimize" "eval search" "eval schedule"
		find build -maxdepth 1 -type f -perm -u=x -name 'jetwatt[d-]*' -printf '%f\n'
	} | while read -r program; do
		help=$(build/$program --help) && [ -n "$help" ] || echo "$program --help: failed"
		awk -v p="$program" 'length() > 80 { print p ": " $0 }' <<< "$help"
	done)
same "the completion knows every verb" < <(
	complete_ jetwatt "" | grep -v '^-' | sort | diff - <(sort <<< "$verbs"))
same "the completion knows every option" < <(
	for v in ${verbs/eval/} "eval predict" "eval optimize" "eval search" "eval schedule"; do
		# shellcheck disable=SC2086
		for o in $(options $v); do
			complete_ jetwatt $v "--$o" | grep -qx -- "--$o" || echo "$v: --$o is not completed"
		done
	done)
# completes WORDS EXPECTED: check the completions of the command line WORDS, up to the first option
completes()
{
	local found
	# shellcheck disable=SC2086
	found=$(complete_ $1 "" | sed '/^-/,$d' | paste -sd ' ')
	# shellcheck disable=SC2053
	[[ $found == $2 ]] || echo "$1: completed with: $found"
}
same "the completion knows values and words of usage lines" < <(
	completes "jetwatt list" "rails chips clocks knobs modes presets profiles"
	completes "jetwatt eval" "predict optimize search schedule"
	completes "jetwatt eval predict" ""
	completes "jetwatt daemon" "status metrics openmetrics budget policy pause resume"
	completes "jetwatt apply" "MAXN"
	completes "jetwatt export" "*README.md*"
	completes "jetwatt optimize" ""
	completes "jetwatt optimize --output" "*README.md*"
	completes "jetwatt record -o" "*README.md*"
	completes "jetwatt doctor --into" "*tests*"
	completes "jetwatt eval predict --method" "*trees*"
	completes "jetwatt optimize --least" "time power energy"
	completes "jetwatt stat -p" "*[0-9]*"
	completes "jetwatt stat --for" ""
	completes "jetwatt stat --" "*README.md*")
: > "$bad/two words"
# bash splits --option=value into three words. compopt is a builtin of bash that works only while it
# completes.
same "the completion of names of files: quoted, a directory is continued; --option=VALUE" < <(
	compopt() { echo "compopt $*"; }
	for words in "report" "report --html" "report --html =" "doctor --into ="; do
		# shellcheck disable=SC2086
		complete_ jetwatt $words "$bad/two" | grep -qx "compopt -o filenames" || echo "$words: not completed as names of files"
		# shellcheck disable=SC2086
		[[ $words == *into* ]] || complete_ jetwatt $words "$bad/two" | grep -qx "$bad/two words" || echo "$words: two words"
	done
	completes "jetwatt optimize --least =" "time power energy"
	complete_ jetwatt optimize --least "=" | paste -sd ' ' | grep -qx "time power energy" || echo "--least=: nothing")
rm "$bad/two words"
same "README.md has at most 200 lines" < <(
	lines=$(wc -l < README.md)
	[ "$lines" -le 200 ] || echo "$lines lines")
# rows PAGE FROM TO: print the verbs of the tables between two headings of a page
rows() { sed -n "/^## $2/,/^## $3/s/^| \`\([a-z]*\)\` .*/\1/p" "$1" | sort; }
same "the tables of doc/verbs.md have every verb, and no other" < <(
	rows doc/verbs.md Inspect Exit | diff - <(sort <<< "$verbs"))
same "each row of doc/verbs.md says what works without root" < <(
	awk -F'|' '/^## Exit/ { exit } /^\| `[a-z]+` / && (NF != 5 || $4 !~ /[a-z]/)' doc/verbs.md)
same "the verbs of README.md exist" < <(
	rows README.md Verbs Documentation | comm -23 - <(sort <<< "$verbs")
	rows README.md Verbs Documentation | grep -q . || echo "no verbs")
same "links of README.md and doc/ lead to a page and a heading" < <(
	for f in README.md doc/*.md; do
		grep -oE '\]\([^)]+\)' "$f" | sed 's/^](//;s/)$//' | grep -v '^https\?:' | while IFS='#' read -r to heading; do
			page=$(dirname "$f")/$to
			[ -n "$to" ] || page=$f
			[ -e "$page" ] || echo "$f: no page $to"
			[ -z "$heading" ] || headings "$page" | grep -qx -- "$heading" || echo "$f: no heading $to#$heading"
		done
	done)
# The units exclude each other, and an upgrade starts an enabled jetwatt-exporter.
same "jetwatt-telemetry is enabled only after jetwatt-exporter is disabled" < <(
	sed 's,\\,,g' README.md doc/*.md man/*.[1-8] | grep -q 'systemctl enable.* jetwatt-telemetry' || echo "no advice"
	for f in README.md doc/*.md man/*.[1-8]; do
		sed 's,\\,,g' "$f" | awk -v f="$f" '
			/systemctl enable.* jetwatt-telemetry/ && before !~ /systemctl disable --now jetwatt-exporter/ {
				print f ": " $0
			}
			{ before = $0 }'
	done)
same "the files in doc/changes.d have the form of list items" < <(fragments doc/changes.d)
good='- `-x` is new:
  it is quick.'
printf '%s\n' "$good" > "$bad/good.md"
printf '%s' "$good" > "$bad/newline.md"
printf '%s\n' "$good" > "$bad/suffix.txt"
printf -- '- `a`\n- `b`\n- `c`\n- `d`\n' > "$bad/long.md"
printf -- '- nothing\n' > "$bad/span.md"
printf '  `a`\n' > "$bad/item.md"
printf -- '- `a`\nb\n' > "$bad/indent.md"
: > "$bad/empty.md"
same "a file of another form is refused" < <(
	fragments "$bad" | sed 's,.*/\(.*\): .*,\1,;s/:.*//' | sort -u | diff - <(
		printf '%s\n' empty.md indent.md item.md long.md newline.md span.md suffix.txt))
exit $failed
