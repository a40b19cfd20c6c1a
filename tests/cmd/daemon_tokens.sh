#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=2700 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" alone
# jetwattd with a server of a language model: it holds a mode with nearly the least energy per token within
# both latencies, and chooses again when the mix of prefill and decode changes.
. "${0%/*}/common.inc"
. "${0%/*}/tokens.inc"
. "${0%/*}/daemon.inc"
plan 5

changed=0
# compare: print the held mode and the plant's best one within the latencies, for the steps of the last 300 s since
# $changed. A step takes more than 5 ms.
# $T/loss: by how many per cent the held mode has fewer tokens per joule, and its latencies
compare()
{
	tail -n 60000 "$T/times" | sed '$d' | awk -v since="$(($(now_ns) - 300000000000))" -v changed="$changed" \
		'$1 > since && $1 > changed' > "$T/steps"
	plant "$T/steps" > "$T/plant"
	held=$(status_of mode | tr -d 'cge' | tr - ,)
	set -- $(grep "^$held " "$T/plant") $(best_within 3 1e9 1e9 "$ttft" "$tpot")
	echo "# $(status_of doing) $1: $3 J/token, TTFT $5 ms, TPOT $6 ms; best $7: $9 J/token; $(status_of modes_measured) readings"
	awk -v is="$3" -v best="$9" -v to_first="$5" -v per="$6" 'BEGIN { print 100 * (1 - best / is), to_first, per }' > "$T/loss"
}

near() { awk -v ttft="$ttft" -v tpot="$tpot" '{ exit !($1 < 3 && $2 <= 1.02 * ttft && $3 <= 1.02 * tpot) }' "$T/loss"; }

# holds_near_best: is a mode held that is near the best one, now and 40 s later?
holds_near_best()
{
	for i in 1 2; do
		sleep 40
		compare
		[ "$(status_of doing)" = holding ] && near || return 1
	done
}

serve_tokens llama 1 llamacpp:tokens_predicted_total
mkdir -p /sys/fs/cgroup/llm
echo $server > /sys/fs/cgroup/llm/cgroup.procs
# The mean time to the first token depends on the prompts of the last minutes, so it has room; the time per token
# decides.
ttft=$(awk -v ms="$ttft" 'BEGIN { print 1.4 * ms }')
echo "# TTFT up to $ttft ms, TPOT up to $tpot ms"
printf 'budget = 60W\nlearn-share = 20%%\ndb = %s\ntokens = /llm\nobjective = energy\nttft = %sms\ntpot = %sms\n' \
	"$T/profiles.db" "$ttft" "$tpot" > "$T/conf"
start
doing holding 600
result $? "a server is learned by its steps"
# comes_to_hold N: does jetwattd hold such a mode after a few more readings, in one of N attempts of about 48 s?
comes_to_hold()
{
	for n in $(seq "$1"); do
		holds_near_best && return 0
	done
	return 1
}

comes_to_hold 19
result $? "jetwattd holds a mode with at least 97 % of the best tokens per joule, within both latencies"
# seen: number of changes of the requests that jetwattd has seen
seen() { echo $(($(status_of mix_changes) + $(status_of drifts))); }
# faster: has the held mode's time for the mix fallen? Before 300 s of requests were measured, jetwattd adapts it to the
# mix without counting a change.
faster() { awk -v is="$(status_of time_ms)" -v was="$time" 'BEGIN { exit !(is > 0 && is < 0.9 * was) }'; }

# The last reading of the held mode may be a rough one, which the next, longer reading corrects whatever the
# requests are. Wait until a mode has been held for longer than that reading takes.
for i in $(seq 20); do
	readings=$(status_of modes_measured)
	sleep 90
	[ "$(status_of modes_measured)" = "$readings" ] && [ "$(status_of doing)" = holding ] && break
done
# From now on, prompts are shorter.
before=$(seen)
time=$(status_of time_ms)
kill -USR1 $server
changed=$(now_ns)
for i in $(seq 120); do
	[ "$(seen)" -gt "$before" ] || faster && break
	sleep 5
done
[ "$(seen)" -gt "$before" ] || faster
result $? "the change is seen: of the mix, or of the steps"
# It may have to learn the server again.
comes_to_hold 19
result $? "jetwattd holds such a mode for the new mix, too"
grep -a 'drift\|mix of\|measured c' "$T/log" | sed 's/^/# | /'
end
kill $server
exits 0
result $? "jetwattd ends with status 0"
finish
