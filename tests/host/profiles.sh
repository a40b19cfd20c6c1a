#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The profile database from the command: in, out, looked at, and where it is.
cd "$(dirname "$0")/../.." || exit 1
T=$(mktemp -d) n=0 failed=0
trap 'chmod -R u+w "$T"; rm -rf "$T"' EXIT
export HOME=$T/home XDG_CONFIG_HOME=$T/config JETWATT_DB=
J=build/jetwatt

check()	# TEXT COMMAND
{
	n=$((n + 1))
	if eval "$2"; then
		echo "ok $n $1"
	else
		echo "not ok $n $1"
		sed 's/^/# out: /' "$T/out"
		sed 's/^/# err: /' "$T/err"
		failed=1
	fi
}

run() { "$@" > "$T/out" 2> "$T/err"; status=$?; }
key() { jq -r "[.[] | select($1)][0].key" "$T/out"; }

made()	# SIZES
{
	awk -v sizes="$1" 'BEGIN {
		k = split(sizes, size, " ")
		print "cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w"
		for (s = 1; s <= k; s++) for (c = 4; c <= 12; c += 4) for (g = 3; g <= 13; g += 2)
			printf "%d,%d,%.0f,%.0f,%d,%.3f,%.3f\n", c, 500000 + 100000 * g, g * 1e8, 3199e6,
				size[s], size[s] * (2 + 30 / g), 8 + c / 4 + g * g / 9
	}'
}

echo 1..20
made "16 32" > "$T/two.csv"
made 16 | cut -d, -f1-4,6- > "$T/one.csv"

run $J list profiles --db "$T/a.db"
check "no database yet: said, with a fix" '[ $status = 2 ] && grep -q "nothing has been measured" "$T/err" && grep -q "fix:" "$T/err" && [ ! -e "$T/a.db" ]'
run $J import "$T/one.csv" --command "python3 train.py" --batch 16 --db "$T/a.db"
check "import" '[ $status = 0 ] && grep -q "18 of 18 rows are new" "$T/out"'
run $J import "$T/one.csv" --command "python3 train.py" --batch 16 --db "$T/a.db"
check "a second time nothing is new" '[ $status = 0 ] && grep -q "^0 of 18 rows" "$T/out"'
run $J export -f profile --db "$T/a.db"
check "export gives back the file" '[ $status = 0 ] && cmp <(sort "$T/out") <(sort <(awk -F, -v OFS=, "NR > 1 { \$5 += 0; \$6 += 0 } 1" "$T/one.csv"))'
check "with the header of a profile" '[ "$(head -n 1 "$T/out")" = cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w ]'
run $J import "$T/one.csv" --command "python3 train.py" --batch 16 --db "$T/a.db" --json
check "import --json" '[ $status = 0 ] && jq -e ".rows == 18 and .new == 0" "$T/out" > "$T/jq"'
run $J import "$T/two.csv" --command infer --db "$T/a.db"
run $J list profiles --json --db "$T/a.db"
check "a profile for each minibatch size" '[ "$(jq length "$T/out")" = 3 ] && [ "$(jq "[.[].batch] | sort | tostring" "$T/out")" = "\"[16,16,32]\"" ]'
a=$(key '.command == "infer" and .batch == 16') b=$(key '.command == "infer" and .batch == 32')
run $J export -f profile "${a:0:8}" "${b:0:8}" --db "$T/a.db" -o "$T/out.csv"
check "several at once get their sizes as a column" '[ $status = 0 ] && [ "$(head -n 1 "$T/out.csv")" = cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w ] && [ "$(wc -l < "$T/out.csv")" = 37 ]'
run $J export -f profile --db "$T/a.db"
check "which of several: usage, with a fix" '[ $status = 2 ] && grep -q "list profiles" "$T/err"'
run $J import "$T/one.csv" --into "${a:0:8}" --db "$T/a.db"
check "into a profile that is there" '[ $status = 0 ] && grep -q "^0 of 18" "$T/out"'
run $J list profiles --db "$T/a.db"
check "the table fits 80 columns" '[ $status = 0 ] && [ "$(wc -l < "$T/out")" = 4 ] && awk "length > 80 { exit 1 }" "$T/out"'

# Where it is: an option, the environment, the user's file, (the system's file).
mkdir -p "$T/config/jetwatt"
printf '# mine\nflux = 3\ndb = %s\n' "$T/user.db" > "$T/config/jetwatt/jetwatt.conf"
run $J import "$T/one.csv"
check "the user's file" '[ $status = 0 ] && [ -e "$T/user.db" ] && grep -q "line 2 is no setting" "$T/err"'
JETWATT_DB=$T/env.db run $J import "$T/one.csv"
check "the environment goes before it" '[ $status = 0 ] && [ -e "$T/env.db" ]'
JETWATT_DB=$T/none.db run $J import "$T/one.csv" --db "$T/option.db"
check "the option goes before the environment" '[ $status = 0 ] && [ -e "$T/option.db" ] && [ ! -e "$T/none.db" ]'

head -c 5000 /dev/urandom > "$T/bad.db"
run $J list profiles --db "$T/bad.db"
check "no database: said, and not touched" '[ $status = 1 ] && grep -q "not an SQLite database" "$T/err" && grep -q "fix:" "$T/err"'
doctor() { JETWATT_DB=$1 run $J doctor --json; jq -r '.checks[] | select(.check == "profiles") | .level' "$T/out"; }
check "doctor warns of it" '[ "$(doctor "$T/bad.db")" = warn ]'
check "and is content with a sound one" '[ "$(doctor "$T/a.db")" = ok ] && [ "$(doctor "$T/none.db")" = ok ]'
cut -d, -f1-4 "$T/one.csv" > "$T/modes.csv"
run $J import "$T/modes.csv" --db "$T/a.db"
check "a list of modes is no profile" '[ $status = 1 ] && grep -q "list of modes" "$T/err"'
run $J import "$T/one.csv" --command "'; DROP TABLE measurement; --" --db "$T/a.db"
run $J list profiles --db "$T/a.db"
check "what runs may be called anything" '[ $status = 0 ] && grep -q "DROP TABLE" "$T/out"'
for i in 1 2 3 4; do made $i > "$T/$i.csv"; $J import "$T/$i.csv" --db "$T/many.db" --command c > "$T/out$i" 2>&1 & done
wait
run $J list profiles --json --db "$T/many.db"
check "four that write at once" '[ "$(jq "map(.rows) | add" "$T/out")" = 72 ] && [ "$(jq length "$T/out")" = 4 ]'
exit $failed
