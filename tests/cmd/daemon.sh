#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=600 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# jetwattd: finds a job's mode while it works, holds the budget, and leaves the
# board as it was, however it ends. How good the mode is, and how soon, hangs on what
# was measured first: make bench-daemon tells that, here it is bounded.
. "${0%/*}/common.inc"
. "${0%/*}/daemon.inc"
plan 24

BUDGET=30
DB=$T/profiles.db

knobs > "$T/before"
# minibatches: how many the plant has done; other tests' too
minibatches() { awk -F, '{ n = $1 } END { print n + 0 }' $TRUTH/minibatches; }
earlier=$(minibatches)

echo "bugdet = 30W" > "$T/conf"
run jetwattd --conf "$T/conf"
exits 2 && says "line 1" "no setting" "fix: budget"
result $? "a policy that makes no sense: 2, where and what"

run jetwatt daemon status
exits 1 && form && says "jetwattd is not running"
result $? "nobody to ask: said"

printf 'budget = %sW\ndb = %s\n' $BUDGET "$DB" > "$T/conf"
start && [ "$(told doing)" = idle ] && as_before "$T/before"
result $? "without a job the board is as it was"

su nobody -s /bin/sh -c "jetwatt daemon status" > "$T/out" 2> "$T/err"
status=$?
exits 4
result $? "who is in no group may not even ask"

begun=$(now_ns)
train > /dev/null 2>&1 &
train=$!
doing holding 100
time=$(of_mode 5) best=$(best $BUDGET)
took=$(awk -v a="$begun" -v b="$(now_ns)" 'BEGIN { printf "%.0f", (b - a) / 1e9 }')
echo "# after $took s: $time ms, the best there is $best; over the budget for at most $(breach "$begun" $BUDGET) s"
[ -n "$time" ] && at_most "$time" "$(awk -v b="$best" 'BEGIN { print 1.1 * b }')"
result $? "a job's mode is within 10 % of the best"
at_most "$took" 90
result $? "within 90 s"
at_most "$(breach "$begun" $BUDGET)" 1
over=$?
cp "$T/log" "$T/err"
result $over "never over the budget for a second"

begun=$(now_ns)
run jetwatt daemon budget 20W
exits 0 && [ "$(told budget_w)" = 20 ] && sleep 4 && over=$(breach $((begun + 2000000000)) 20) &&
	echo "# from 2 s on over it for $over s" && at_most "$over" 1
result $? "another budget at run time"
doing holding 100
time=$(of_mode 5) best=$(best 20)
echo "# $time ms, the best there is $best"
[ -n "$time" ] && at_most "$time" "$(awk -v b="$best" 'BEGIN { print 1.1 * b }')" &&
	at_most "$(breach $((begun + 3000000000)) 20)" 1
result $? "it is held, and the mode is within 10 % of the best for it"

run jetwatt daemon budget policy
kill $train
wait $train
doing idle 20 && as_before "$T/before"
result $? "the job ends: the board is as it was"

train > /dev/null 2>&1 &
train=$!
sleep 2.5
time=$(of_mode 5) best=$(best $BUDGET)
echo "# $time ms, the best there is $best"
[ -n "$time" ] && at_most "$time" "$(awk -v b="$best" 'BEGIN { print 1.1 * b }')"
result $? "the same job again: in its mode after 2 s"

# metric NAME: all of its series together
metric() { awk -v n="$1" 'index($1, n) == 1 && ($1 == n || substr($1, length(n) + 1, 1) == "{") { v += $2 } END { print v + 0 }' "$T/metrics"; }

jetwatt daemon metrics > "$T/metrics" 2> "$T/err"
there=$(($(minibatches) - earlier))
counted=$(metric jetwatt_minibatch_duration_seconds_count)
watts=$(awk -v j="$(metric jetwatt_minibatch_energy_joules_sum)" -v s="$(metric jetwatt_minibatch_duration_seconds_sum)" 'BEGIN { print s ? j / s : 0 }')
echo "# $counted of $there minibatches, at $watts W in the mean; over for $(metric jetwatt_over_budget_seconds_total) s; $(metric process_cpu_seconds_total) s of CPU"
at_most "$there" $((2 * counted)) && at_most "$counted" "$there" && at_most 5 "$watts" && at_most "$watts" $BUDGET &&
	[ "$(metric jetwatt_jobs_total)" = 2 ] && [ "$(metric jetwatt_budget_watts)" = $BUDGET ]
result $? "metrics: minibatches, and what they draw"

# The kernel's own governor of heat takes the GPU's clock down, and gives it back.
gpu=$(ls -d /sys/class/devfreq/*gpu* | head -n 1)
asked=$(cat "$gpu/max_freq") degrees=99500
asked_again() { [ "$(cat "$gpu/max_freq")" = "$asked" ]; }
# It takes a step as long as it gets hotter. Two below what is asked.
while [ "$(cat "$gpu/max_freq")" -ge $((asked * 9 / 10)) ] && [ $degrees -lt 104000 ]; do
	echo $degrees > $heat
	degrees=$((degrees + 100))
	sleep 0.5
done
echo "# at $degrees: $(cat "$gpu/max_freq") of $asked Hz"
taken=$(cat "$gpu/max_freq")
# Whether jetwattd says so hangs on what the GPU's clock is to the job in this mode.
sleep 5
hot=$(told doing)
echo 0 > $heat
within 60 cold && [ "$taken" -lt "$asked" ] && [ "$hot" != yielding ] && doing holding 20 &&
	within 20 asked_again && [ "$(told other_writers)" = 0 ]
result $? "heat takes the clock down: that is nobody's doing, and the mode comes back"

run jetwatt daemon pause
doing paused 10 && as_before "$T/before" && jetwatt daemon resume && doing holding 60
result $? "paused the board is as it was, and then it goes on"

run jetwatt optimize --power 25W -p $train --most 4
exits 1 && says "another jetwatt controls"
result $? "it is the one writer"

jetwatt daemon budget "30W; rm" > "$T/out" 2> "$T/err"
status=$?
exits 2 && says "refused" && [ "$(told budget_w)" = $BUDGET ]
result $? "nonsense on the socket is refused, and it goes on"

# Not in the middle of a switch, in which nobody can tell whose a value is: a command that
# began just now may have drawn too much.
sleep 5
doing holding 20
turned=$(tr ' ' '\n' < "$gpu/available_frequencies" | sort -n | sed -n 3p)
echo "$turned" > "$gpu/min_freq"
echo "$turned" > "$gpu/max_freq"
doing yielding 10 && sleep 3 && echo "# turned to $turned, is at $(cat "$gpu/max_freq"), saved: $(ls /var/lib/jetwatt)" &&
	[ "$(cat "$gpu/max_freq")" = "$turned" ] && [ ! -e /var/lib/jetwatt/saved ]
result $? "somebody else turns a knob: it is his"
kill $train
wait $train
end
# What he has left is how it is now; here it is undone by hand.
for i in 1 2; do
	while read -r file value; do echo "$value" > "$file"; done < "$T/before" 2> /dev/null
done

train > /dev/null 2>&1 &
train=$!
start && doing holding 60
kill -KILL $daemon
wait $daemon
sleep 1
as_before "$T/before"
result $? "SIGKILL: the guardian brings the board back"

start && doing holding 60
# cpu: seconds of the daemon's, and of the sampler's
cpu() { jetwatt daemon metrics > "$T/metrics"; echo "$(metric process_cpu_seconds_total) $(metric jetwatt_sampler_cpu_seconds_total)"; }

sleep 20
begun=$(now_ns) first=$(cpu)
sleep 40
echo "# while it holds a mode: $(echo "$first $(cpu) $begun $(now_ns)" | awk '{
	t = ($6 - $5) / 1e9; printf "%.1f %% of this core, and the sampler %.1f %%", 100 * ($3 - $1) / t, 100 * ($4 - $2) / t }')"
budget_is() { [ "$(told budget_w)" = "$1" ]; }

printf 'budget = 26W\nidle = c2-1-g1-e1\ndb = %s\n' "$DB" > "$T/conf"
kill -HUP $daemon
within 20 grep -q "policy not reloaded" "$T/log" && grep -q "is not a mode" "$T/log" && budget_is $BUDGET
result $? "SIGHUP: a policy that makes no sense leaves the old one"

printf 'budget = 28W\ncgroup = / 26W\ndb = %s\n' "$DB" > "$T/conf"
kill -HUP $daemon
within 20 grep -q "policy reloaded" "$T/log" && within 20 budget_is 26
result $? "SIGHUP: another policy holds, with a budget of the job's cgroup"
kill $train
wait $train
within 20 budget_is 28
result $? "which ends with the job"

# In another cgroup it is another workload, and the same one elsewhere.
measured() { jetwatt daemon metrics > "$T/metrics"; metric jetwatt_modes_measured_total; }
mkdir -p /sys/fs/cgroup/elsewhere
first=$(measured) begun=$(now_ns)
sh -c 'echo $$ > /sys/fs/cgroup/elsewhere/cgroup.procs && exec train' > /dev/null 2>&1 &
train=$!
doing holding 60
took=$(awk -v a="$begun" -v b="$(now_ns)" 'BEGIN { printf "%.0f", (b - a) / 1e9 }')
time=$(of_mode 5) best=$(best 26) n=$(($(measured) - first))
echo "# after $took s and $n modes: $time ms, the best there is $best; over the budget for at most $(breach "$begun" 26) s"
[ -n "$time" ] && [ $n -ge 1 ] && [ $n -le 4 ] && at_most "$time" "$(awk -v b="$best" 'BEGIN { print 1.1 * b }')"
result $? "a job that is known elsewhere: four modes at most, within 10 % of the best"
at_most "$(breach "$begun" 26)" 1
result $? "never over the budget for a second"
end
exits 0 && as_before "$T/before"
result $? "SIGTERM: 0, the board is as it was"
kill $train

finish
