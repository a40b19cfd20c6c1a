#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that tree.sh detects violations, on small checkouts with one violation each.
cd "$(dirname "$0")/../.." || exit 1
command -v git > /dev/null || { echo "1..0 # SKIP no git here"; exit 4; }
d=$PWD/build/host/tree_rules.d
rm -rf "$d"
. tests/host/check.inc
echo 1..33

# tree NAME: create a checkout without violations
tree()
{
	t=$d/$1
	mkdir -p "$t"/{doc,tests/{host,cmd},user/dist}
	printf '## %s\n' Circles Changes > "$t/doc/architecture.md"
	cp tests/host/{tree.sh,circles.py} "$t/tests/host/"
	cp tests/cmd/as_jetwatt.c "$t/tests/cmd/"
	cp user/dist/*.service "$t/user/dist/"
	put cmd/verbs.h ''
	put cmd/stat/stat.c '#include "cmd/verbs.h"' '#include "tune/tuner.h"' '#include "jetwatt.h"'
	put tune/tuner.h '#include "model/model.h"' '#include "plan/plan.h"'
	put daemon/loop.h '#include "tune/tuner.h"'
	put plan/plan.h '#include "model/model.h"'
	put model/model.h '#include <math.h>'
	put energy/sensor_error.c '#include "../kmod/sensors/adc.h"'
	put ../kmod/sensors/chip.c '#include "sensors/chip.h"' '#include "fault_inject.h"'
	put ../kmod/interface/netlink.c '#include "sampler/ring.h"' '#include "waits/wait.h"'
	git -C "$t" init -q && git -C "$t" add .
}

# put FILE LINE...: write a source file below user/, without adding it to git
put()
{
	local file=$t/user/$1
	mkdir -p "${file%/*}"
	printf '%s\n' '/* SPDX-License-Identifier: GPL-2.0-only */' "${@:2}" > "$file"
}

# check_tree: run tree.sh on $t; sets $status, and $found to the violated rules
check_tree()
{
	run tests/host/tree.sh "$t"
	found=$(sed -n 's/^not ok [0-9]* //p' $d/out)
}

# refused TEXT RULE WHERE: check that tree.sh reports a violation of this rule only, with the place
# WHERE
refused()
{
	check_tree
	check "$1 is refused" "[ $status = 1 ] && [[ \"\$found\" == *'$2'* ]] && [ $(grep -c . <<< "$found") = 1 ] &&
		grep -q '^# *$3' $d/out"
}

tree good
check_tree
check "a tree without violations passes" "[ $status = 0 ] && [ -z \"\$found\" ]"

tree upward; put model/fit.c '#include "plan/plan.h"'
refused "model that includes plan" "only those below it" "user/model/fit.c:2: plan/plan.h"
tree sideways; put exporter/http.c '' '#include "measure/session.h"'
refused "an exporter that includes measure" "only those below it" "user/exporter/http.c:3: measure/session.h"
tree spaced; put plan/next.c '  #  include "tune/tuner.h"	/* why */'
refused "an include with blanks and a comment" "only those below it" "user/plan/next.c:2: tune/tuner.h"
tree verb; put tune/seek.c '#include "model/model.h"' '#include "cmd/verbs.h"'
refused "a shared directory that includes a verb" "from outside" "user/tune/seek.c:3: cmd/verbs.h"
tree daemon; put daemon/main.c '#include "cmd/stat/stat.h"'
refused "jetwattd that includes a verb" "from outside" "user/daemon/main.c:2: cmd/stat/stat.h"
tree owner; put daemon/actuator.c '#include "board/board.h"' '#include "daemon/jetwattd.h"'
refused "an actuator that knows jetwattd" "know nothing of jetwattd" "user/daemon/actuator.c:3:"
learner="the learner knows neither"
tree learner-actuator; put daemon/learner.h '#include "model/model.h"' '#include "daemon/actuator.h"'
refused "a learner that knows the actuator" "$learner" "user/daemon/learner.h:3:"
tree learner-loop; put daemon/learner_drift.c '#include "daemon/learner.h"' '#include "daemon/loop.h"'
refused "a learner that knows the loop" "$learner" "user/daemon/learner_drift.c:3:"
tree learner-board; put daemon/learner_search.c '#include "board/board.h"'
refused "a learner that knows what writes the knobs" "$learner" "user/daemon/learner_search.c:2:"
tree learner-system; put daemon/learner.c '#include <pthread.h>'
refused "a learner with a thread" "$learner" "user/daemon/learner.c:2:"
tags="no two structs have the same tag"
tree tag; put plan/a.h 'struct step {' '};'; put model/b.c 'struct step {' '};'
refused "a struct with the tag of another directory's header" "$tags" "struct step:.* user/plan/a.h:2"
tree tag-files; put plan/a.c 'struct step {' '};'; put model/b.c 'static const struct step {' '} table[];'
refused "two files with one tag" "$tags" "struct step:.* user/plan/a.c:2"
tree tag-kmod; put ../kmod/sensors/a.h 'struct rail {' '};'; put ../kmod/sampler/b.h 'static struct rail {' '};'
refused "two headers of the module with one tag" "$tags" "struct rail:.* kmod/s"
tree tag-library; put ../include/jetwatt.h 'struct rail {' '};'; put ../kmod/sensors/a.h 'struct rail {' '};'
refused "a struct of the module with the tag of a public one" "$tags" "struct rail:.* include/jetwatt.h:2"
static="no more than three files have static functions"
read_two=('static int read_two(int n)' '{' '}')
tree static
for f in board/a.c plan/a.h ../kmod/sampler/a.c; do put $f "${read_two[@]}"; done
put store/a.c 'static __attribute__((noinline, format(printf, 1, 2))) const char *read_two(int n);'
refused "a fourth file with a static function of the same name" "$static" "read_two(): .*user/store/a.c"
tree static-three
for f in board/a.c plan/a.h ../kmod/sampler/a.c; do put $f "${read_two[@]}"; done
put store/a.c 'int read_two(int n)' '{' '}'
for f in a b c d; do put tune/$f.c 'static void usage(void)' '{' '}' 'static int table[] = { one(2) };'; done
check_tree
check "three files with a static function of the same name, and four with usage(), are allowed" \
	"[ $status = 0 ] && [ -z \"\$found\" ]"
tree beside; put tune/tuner.c '#include "tuner.h"'
refused "an include by the name alone" "name the directory" "user/tune/tuner.c:2: tuner.h"
tree parent; put tune/tuner.c '#include "../tune/tuner.h"'
refused "an include by way of .." "name the directory" "user/tune/tuner.c:2: ../tune/tuner.h"
tree system; put plan/next.c '#include <unistd.h>'
refused "plan that includes a header of the system" "no header of the system" "user/plan/next.c:2:"
tree unknown; put gadgets/main.c ''
refused "a directory that is not in the table" "table of includes" "gadgets"
tree long; put tune/tuner.c "$(seq -f '/* %g */' 450)"
refused "a file of 451 lines" "is longer" "451 user/tune/tuner.c"
tree long-python; put python/jetwatt/meter.py "$(seq -f '# %g' 450)"
refused "a Python file of 451 lines" "is longer" "451 user/python/jetwatt/meter.py"
tree many; for i in $(seq 41); do put "tune/t$i.c" ''; done
refused "41 sources in a directory" "sources" "41 user/tune"
module='kmod includes point one way'
tree kmod-upward; put ../kmod/sensors/rail.c '#include "sampler/ring.h"'
refused "sensors that include the sampler" "$module" "kmod/sensors/rail.c:2:"
tree kmod-sideways; put ../kmod/waits/wait.c '#include "sensors/chip.h"'
refused "waits that include sensors" "$module" "kmod/waits/wait.c:2:"
tree kmod-beside; put ../kmod/sampler/ring.c '#include "ring.h"'
refused "an include of the module by the name alone" "$module" "kmod/sampler/ring.c:2:"
tree kmod-stray; put ../kmod/chip.c ''
refused "a source of the module outside its directories" "$module" "kmod/chip.c"
tree kmod-long; put ../kmod/sampler/ring.c "$(seq -f '/* %g */' 450)"
refused "a source of the module of 451 lines" "$module" "kmod/sampler/ring.c: more than 450"
circle="call each other in a circle"
call() { printf '%s\n' "int jetwatt_$1(void)" '{' "	return jetwatt_$2();" '}'; }
tree circle; put plan/a.c "$(call a b)"; put plan/b.c "$(call b a)"
refused "two files that call each other" "$circle" "not in the list: user/plan: a.c b.c"
tree circle-gone; sed -i '1a | `user/plan` | a.c b.c | Why. |' "$t/doc/architecture.md"
refused "a circle in the list that is none any more" "$circle" "no circle any more: user/plan: a.c b.c"
tree circle-listed; put plan/a.c "$(call a b)"; put plan/b.c '/* jetwatt_a() */' "$(call b c)"; put plan/c/c.c "$(call c a)"
sed -i '1a | `user/plan` | a.c b.c c/c.c | Why. |' "$t/doc/architecture.md"
check_tree
check "a circle in the list is allowed" "[ $status = 0 ] && [ -z \"\$found\" ]"
tree fit; put tune/tuner.c "$(seq -f '/* %g */' 449)"; for i in $(seq 39); do put "tune/t$i.c" ''; done
check_tree
check "450 lines and 40 sources are allowed" "[ $status = 0 ] && [ -z \"\$found\" ]"
exit $failed
