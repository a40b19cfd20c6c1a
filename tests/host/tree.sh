#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check rules of the source tree that a compiler does not check. Checks the checkout that contains
# this file, or the one given as argument (tree_rules.sh).
cd "${1:-$(dirname "$0")/../..}" || exit 1
git ls-files --error-unmatch tests/host/tree.sh > /dev/null 2>&1 ||
	{ echo "1..0 # SKIP not a git checkout: no list of the sources"; exit 4; }
n=0 failed=0

# rule TEXT: check the rule TEXT, which passes if stdin is empty; each line of stdin is a violation.
rule()
{
	local found
	found=$(cat)
	n=$((n + 1))
	if [ -z "$found" ]; then
		echo "ok $n $1"
	else
		sed 's/^/# /' <<< "$found"
		echo "not ok $n $1"
		failed=1
	fi
}

# sources DIR...: print the tracked source files, and new ones that git does not track yet
sources() { git ls-files -co --exclude-standard -- "$@" | grep -E '\.([chS]|inc|py)$'; }
search() { xargs -r grep -nHE "$@"; }
include='#[[:space:]]*include[[:space:]]+'

# Directories that a directory of user/ may include, besides itself and include/. Each directory may
# include only directories above it in this list, so there are no cycles. libjetwatt has another
# licence, so lib includes none of the others.
data="out store plan energy minibatch board model util lib"
while read -r directory may; do
	[ -z "$directory" ] || allowed+="$directory $may"$'\n'
done << END
lib
util
model
minibatch
energy		minibatch
board		util lib
plan		model
store		model util lib
out		energy minibatch board model util lib
policy		board util
job		$data
measure		job $data
tune		measure job $data
timeshare	tune measure job $data
cmd		timeshare tune measure job policy $data
daemon		timeshare tune measure job policy $data
sync		timeshare tune measure job $data
knobs		policy board util
exporter	policy out util lib
files		util lib
python		energy minibatch
END
sources_max=40 lines_max=450

# includes WHAT: print the includes in user/ that violate a rule. WHAT: "unrooted": not relative to
# user/; "cmd": of user/cmd from outside; "upward": of a directory that is not allowed
includes()
{
	sources user | xargs -r awk -v what="$1" -v allowed="$allowed" '
	BEGIN {
		n = split(allowed, line, "\n")
		for (i = 1; i <= n; i++) {
			m = split(line[i], word, " ")
			if (m) known[word[1]]
			for (j = 2; j <= m; j++) may[word[1], word[j]]
		}
		# Allowed from outside user/: public headers, generated headers, and tables shared
		# with the module and the probe.
		outside = "^(jetwatt\\.h|[a-z]+\\.skel\\.h|\\.\\./(bpf|kmod)/[a-z0-9_/]+\\.h)$"
	}
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split(FILENAME, part, "/"); from = part[2]
		path = $0; sub(/^[^"]*"/, "", path); sub(/".*/, "", path)
		split(path, part, "/"); to = part[1]
		at = FILENAME ":" FNR ": " path
		if (path ~ outside)
			next
		if (what == "unrooted" && (path ~ /(^|\/)\.\.?\// || !(to in known) || path !~ /\//)) print at
		if (what == "cmd" && to == "cmd" && from != "cmd") print at
		if (what == "upward" && to in known && to != "cmd" && to != from && !((from, to) in may)) print at
	}'
}

echo 1..25

rule "kernel versions are compared in compat/ only" < <(
	sources kmod user bpf include tests | grep -vE '^(kmod|tests/sim)/compat/' |
		search '\b(LINUX_VERSION_CODE|KERNEL_VERSION)\b')

rule "the simulated board shares no header with the module" < <(
	sources tests/sim | grep -v '/test_' | search "${include}[\"<].*(kmod/|linux/jetwatt\.h)")

system='(unistd|fcntl|poll|dirent|pthread|signal|time|sys/.*|netlink/.*|bpf/.*|linux/.*)\.h'
rule "model, plan, minibatch and energy include no header of the system" < <(
	sources user/model user/plan user/minibatch user/energy | search "$include<$system>")

rule "includes in user/ name the directory" < <(includes unrooted)

rule "nothing includes cmd/ from outside" < <(includes cmd)

rule "a directory of user/ includes only those below it" < <(includes upward)

rule "every directory of user/ has a line in the table of includes" < <(
	sources user | cut -d/ -f2 | sort -u | grep -vxF "$(cut -d' ' -f1 <<< "$allowed" | grep .)")

rule "no file of user/ is longer than $lines_max lines" < <(
	sources user | xargs -r wc -l | awk -v max=$lines_max '$2 != "total" && $1 > max')

rule "no directory of user/ has more than $sources_max sources" < <(
	sources user | grep '\.c$' | sed 's,/[^/]*$,,' | sort | uniq -c | awk -v max=$sources_max '$1 > max')

rule "only board writes to sysfs" < <(
	sources user | grep -v '^user/board/' |
		search '/sys/.*(O_WRONLY|O_RDWR|"[wa]e?")|(O_WRONLY|O_RDWR).*/sys/')

rule "the actuator and the cap know nothing of jetwattd or of what it learns" < <(
	sources user/daemon | grep -E '/(actuator|cap_limit|mean_variance|moving_mean)\.[ch]$' |
		search "$include\"" | grep -vE '"(board|util)/|"daemon/(actuator|cap_limit|mean_variance|moving_mean)\.h"|"jetwatt\.h"')

rule "the learner knows neither the cap, the actuator, the loop, nor the board" < <(
	sources user/daemon | grep -E '/(learner[a-z_]*|mode_span)\.[ch]$' | search "$include[\"<]" |
		grep -vE '"(model|plan)/|"daemon/(learner[a-z_]*|mode_span)\.h"|"measure/(measured|step_costs)\.h"|"tune/(learned|token_mix)\.h"|"jetwatt\.h"' |
		grep -vE '<(cblas|errno|math|stddef|stdio|stdlib|string)\.h>')

# tags DIR...: print the struct tags that are defined more than once, with file and line
tags()
{
	sources "$@" | grep '\.[ch]$' | xargs -r grep -nHoE '^(static |const )*struct [a-z0-9_]+ \{' | awk -F: '{
		tag = $3; sub(/.*struct /, "", tag); sub(/ .*/, "", tag)
		n[tag]++; at[tag] = at[tag] " " $1 ":" $2
	} END { for (tag in n) if (n[tag] > 1) print "struct " tag ":" at[tag] }'
}
rule "no two structs have the same tag" < <(tags user include bpf kmod)

# static_functions: print "FILE NAME" for each static function of the source files in stdin
static_functions()
{
	xargs -r sed -nE '/^static /{
		s/__attribute__\(\(([^()]|\([^()]*\))*\)\) ?//
		/^[^=;(]*[ *][a-z0-9_]+\(/{ s/^[^(]*[ *]([a-z0-9_]+)\(.*/\1/; F; p; }
	}' | paste -d ' ' - - | sort -u
}
rule "no more than three files have static functions of the same name" < <(
	sources user kmod bpf | grep '\.[ch]$' | static_functions | awk '$2 !~ /^(main|usage)$/ {
		n[$2]++; at[$2] = at[$2] " " $1
	} END { for (name in n) if (n[name] > 3) print name "():" at[name] }')

rule "jetwatt-knobs includes only the board and root's policy" < <(
	sources user/knobs | search "$include\"" | grep -vE '"(knobs|board|policy)/|"util/(error|seccomp|listen|notify)\.h"')

rule "jetwatt-files includes only what it needs to listen and to read one link" < <(
	sources user/files | search "$include\"" | grep -vE '"util/(seccomp|listen|notify)\.h"|"lib/fdname\.h"')

rule "the guest gives jetwattd the capabilities of its unit" < <(
	diff <(sed -n 's/^AmbientCapabilities=//p' user/dist/jetwattd.service | tr ' ' '\n' | sort) \
		<(sed -n 's/.*{ "\(CAP_[A-Z_]*\)", CAP_.*/\1/p' tests/cmd/as_jetwatt.c | sort))

rule "no unit that reaches a network runs as jetwattd's user" < <(
	grep -lE '^RestrictAddressFamilies=.*AF_INET' user/dist/*.service | xargs grep -lE '^User=jetwatt$')

rule "only jetwatt-files may inspect other processes" < <(
	grep -lE '^[^#]*CAP_SYS_(PTRACE|ADMIN|MODULE|RAWIO)' user/dist/*.service | grep -v '/jetwatt-files\.service$'
	grep -LE '^SystemCallFilter=~.*@debug.* process_vm_writev' user/dist/*.service)

if command -v systemd-analyze > /dev/null; then
	rule "no unit has an exposure above 2.2" < <(
		for u in user/dist/*.service; do
			systemd-analyze security --offline=true --threshold=22 --no-pager "$u" > /dev/null || echo "$u"
		done 2>&1)
else
	n=$((n + 1))
	echo "ok $n no unit has an exposure above 2.2 # SKIP no systemd-analyze here"
fi

rule "every file names its licence" < <(
	git ls-files -co --exclude-standard | grep -vE '^LICENSE|^debian/|^\.gitignore$|\.(md|csv|json|svg|in)$' |
		xargs -r grep -L 'SPDX-License-Identifier:')

rule "no TODO, FIXME, XXX or HACK is left" < <(
	sources kmod user bpf include tests | search '\b(TODO|FIXME|XXX|HACK)\b')

rule "no floating point in the module" < <(
	sources kmod | search '^[^*/"]*\b(float|double)\b[^"]*[;=(]')

# kmod_only DIR ALLOWED: print the includes in kmod/DIR whose path does not begin with ALLOWED
kmod_dirs='sensors|sampler|waits|interface'
kmod_top='(event|fault_inject)\.h"'
kmod_only() { sources "kmod/$1" | search "$include(\"|<($kmod_dirs)/)" | grep -vE "include[[:space:]]+\"($2)"; }
rule "kmod includes point one way, from kmod/ on, and its files have at most 450 lines" < <(
	kmod_only sensors "sensors/|$kmod_top"
	kmod_only sampler "(sensors|sampler)/|$kmod_top"
	kmod_only waits "waits/|$kmod_top"
	kmod_only interface "($kmod_dirs)/|$kmod_top"
	kmod_only compat none
	for f in event fault_inject; do kmod_only $f.c "$kmod_top"; kmod_only $f.h "$kmod_top"; done
	sources kmod | grep -vE "^kmod/(($kmod_dirs|compat)/|(main\.c|event\.[ch]|fault_inject\.[ch])\$)"
	sources kmod | xargs awk 'FNR == 451 { print FILENAME ": more than 450 lines" }')

# A circle is allowed if two sentences can defend it: doc/architecture.md, "Circles", has them.
rule "files of a directory that call each other in a circle are those in doc/architecture.md" < <(
	diff <(python3 tests/host/circles.py) \
		<(sed -n '/^## Circles/,/^## [^C]/s/^| `\([a-z/]*\)` | \([^|]*\) |.*/\1: \2/p' doc/architecture.md) |
		sed -n 's/^< /not in the list: /p; s/^> /no circle any more: /p')
exit $failed
