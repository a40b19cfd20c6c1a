#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What may stand where: the rules that a compiler does not check.
cd "$(dirname "$0")/../.." || exit 1
git ls-files --error-unmatch tests/host/tree.sh > /dev/null 2>&1 ||
	{ echo "1..0 # SKIP not a git checkout: no list of the sources"; exit 4; }
n=0 failed=0

# rule TEXT: passes if nothing comes on stdin; what comes is where it is broken.
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

# sources DIR...: those that git knows, and those that nobody has added yet
sources() { git ls-files -co --exclude-standard -- "$@" | grep -E '\.([chS]|inc)$'; }
search() { xargs -r grep -nHE "$@"; }
include='#[[:space:]]*include[[:space:]]+'
echo 1..15

rule "kernel versions are asked for in compat/ only" < <(
	sources kmod user bpf include tests | grep -vE '^(kmod|tests/sim)/compat/' |
		search '\b(LINUX_VERSION_CODE|KERNEL_VERSION)\b')

rule "the simulated board shares no header with the module" < <(
	sources tests/sim | grep -v '/test_' | search "${include}[\"<].*(kmod/|linux/jetwatt\.h)")

system='(unistd|fcntl|poll|dirent|pthread|signal|time|sys/.*|netlink/.*|bpf/.*|linux/.*)\.h'
rule "model, plan, minibatch and energy reach for nothing of the system" < <(
	sources user/model user/plan user/minibatch user/energy | search "$include<$system>")

# below ROOM FORBIDDEN: cmd, daemon / plan / model board batch store out / lib
below() { sources "user/$1" | search "$include\"(\.\./)*($2)/"; }
rule "imports point down only" < <(
	below lib 'cmd|daemon|plan|model|board|minibatch|energy|store|out'
	for room in model board minibatch energy store out; do below $room 'cmd|daemon|plan'; done
	below plan 'cmd|daemon|board|minibatch|energy|store|out')

rule "only board writes to sysfs" < <(
	sources user | grep -v '^user/board/' |
		search '/sys/.*(O_WRONLY|O_RDWR|"[wa]e?")|(O_WRONLY|O_RDWR).*/sys/')

rule "jetwatt-knobs knows the board, root's policy and nothing else" < <(
	sources user/knobs | search "$include\"" | grep -vE '"(knobs|board|policy|util)/')

rule "jetwatt-files knows how to listen, to look at one file, and nothing else" < <(
	sources user/files | search "$include\"" | grep -vE '"util/(fence|listen|notify)\.h"|"lib/fdname\.h"')

rule "the guest gives jetwattd the capabilities of its unit" < <(
	diff <(sed -n 's/^AmbientCapabilities=//p' user/dist/jetwattd.service | tr ' ' '\n' | sort) \
		<(sed -n 's/.*{ "\(CAP_[A-Z_]*\)", CAP_.*/\1/p' tests/cmd/as_jetwatt.c | sort))

rule "no unit that reaches a network runs as jetwattd's user" < <(
	grep -lE '^RestrictAddressFamilies=.*AF_INET' user/dist/*.service | xargs grep -lE '^User=jetwatt$')

rule "a process that may look into others is jetwatt-files alone" < <(
	grep -lE '^[^#]*CAP_SYS_(PTRACE|ADMIN|MODULE|RAWIO)' user/dist/*.service | grep -v '/jetwatt-files\.service$'
	grep -LE '^SystemCallFilter=~.*@debug.* process_vm_writev' user/dist/*.service)

if command -v systemd-analyze > /dev/null; then
	rule "no unit is exposed by more than 2.2" < <(
		for u in user/dist/*.service; do
			systemd-analyze security --offline=true --threshold=22 --no-pager "$u" > /dev/null || echo "$u"
		done 2>&1)
else
	n=$((n + 1))
	echo "ok $n no unit is exposed by more than 2.2 # SKIP no systemd-analyze here"
fi

rule "every file names its licence" < <(
	git ls-files -co --exclude-standard | grep -vE '^LICENSE|^debian/|^\.gitignore$|\.(md|csv|json|svg|in)$' |
		xargs -r grep -L 'SPDX-License-Identifier:')

rule "nothing is left open" < <(
	sources kmod user bpf include tests | search '\b(TODO|FIXME|XXX|HACK)\b')

rule "no floating point in the module" < <(
	sources kmod | search '^[^*/"]*\b(float|double)\b[^"]*[;=(]')

# kmod_only DIR ALLOWED: includes of kmod/DIR that do not begin with ALLOWED
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
exit $failed
