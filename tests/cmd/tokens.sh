#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=2400 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# optimize --per: energy and time per token of two servers of a language model, in the chosen mode, in
# the presets, and in the plant's best mode of the whole grid, under three constraints.
. "${0%/*}/common.inc"
MOST=10
plan 9

# preset ID NAME CPU GPU EMC: print a preset with all cores online and these clocks
preset()
{
	echo "< POWER_MODEL ID=$1 NAME=$2 >"
	for i in 0 1 2 3; do echo "CPU_ONLINE CORE_$i 1"; done
	printf 'CPU MAX_FREQ %s\nGPU MAX_FREQ %s\nEMC MAX_FREQ %s\n' "$3" "$4" "$5"
}

# The clocks of the presets are those of a Jetson AGX Orin (L4T 36.4, nvpmodel_p3701_0000.conf).
{
	echo '< PARAM TYPE=FILE NAME=CPU_ONLINE >'
	for i in 0 1 2 3; do echo "CORE_$i /sys/devices/system/cpu/cpu$i/online"; done
	echo '< PARAM TYPE=CLOCK NAME=CPU >'
	echo 'MAX_FREQ /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq'
	echo '< PARAM TYPE=CLOCK NAME=GPU >'
	echo 'MAX_FREQ /sys/devices/17000000.ga10b/devfreq_dev/max_freq'
	echo '< PARAM TYPE=CLOCK NAME=EMC >'
	echo 'MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap'
	preset 0 MAXN -1 -1 0
	preset 1 MODE_15W 1113600 420750000 2133000000
	preset 2 MODE_30W 1728000 624750000 3199000000
	preset 3 MODE_50W 1497600 828750000 3199000000
	echo '< PM_CONFIG DEFAULT=1 >'
} > "$T/presets"
cat > "$T/named" << 'EOT'
4,2201600,1300500000,3199000000 MAXN
4,1113600,420750000,2133000000 15W
4,1728000,624750000,3199000000 30W
4,1497600,828750000,3199000000 50W
EOT

# plant FILE: print for each mode: mode, ms and J per token of the plant for the steps of FILE (see
# llmserve.c), W, ms to the first token and ms per decode step. Between steps, which takes 1 ms, the
# board has its constant power.
plant()
{
	awk -F '[, ]' '
	FNR == 1 { file++ }
	file == 1 { k = $2; b = k " " int($5 / 1.7e11); n[b]++; kind[b] = k; flop[b] += $5; byte[b] += $6
		    steps[k]++; runs += k == "prefill" && before != k; before = k; if (FNR == 1) tokens0 = $4; tokens = $4 - tokens0 }
	file == 2 && FNR > 1 {
		F = $5 * 1e6; B = $6 * 1e3; all = steps["prefill"] + steps["decode"]
		ms = all; mj = all * $9 * 1e-6; t["prefill"] = t["decode"] = 0
		for (b in n) {
			s = flop[b] / F; if (s < byte[b] / B) s = byte[b] / B
			t[kind[b]] += 1e3 * s; ms += 1e3 * s
			mj += 1e3 * (s * $9 * 1e-6 + flop[b] * $7 * 1e-18 + byte[b] * $8 * 1e-18)
		}
		printf "%s,%s,%s,%s %.4f %.5f %.3f %.2f %.3f\n", $1, $2, $3, $4, ms / tokens, mj / tokens * 1e-3,
			mj / ms, t["prefill"] / (runs ? runs : 1), t["decode"] / steps["decode"] + 1
	}' "$1" $TRUTH/roofs
}

# best KEY W MS TTFT TPOT: print the line of $T/plant within the limits with the least value in column KEY
best()
{
	awk -v k="$1" -v w="$2" -v ms="$3" -v ttft="$4" -v tpot="$5" '$4 <= w && $2 <= ms && $5 <= ttft && $6 <= tpot {
		if (!line || $k < least) { least = $k; line = $0 } } END { print line }' "$T/plant"
}

# search NAME KEY W MS TTFT TPOT OPTION...: run optimize, and print the table. The chosen mode must meet the limits
# within 2 % and have at least 97 % of the tokens per joule of the plant's best mode; under a power
# budget, that is the fastest mode
search()
{
	name=$1 key=$2 to_w=$3 to_ms=$4 to_ttft=$5 to_tpot=$6
	shift 6
	since=$(sed -n 's/^t_ns //p' $TRUTH/now)
	run jetwatt optimize --per "token=$T/metrics#$metric" --presets "$T/presets" --most $MOST --json "$T/json" \
		--dry-run -p $server "$@"
	sed -n '/^c[0-9]/,$p' "$T/out" | sed 's/^/# | /'
	# The mix is that of the steps during the search. The server writes $T/times in blocks.
	sed '$d' "$T/times" | awk -v since="$since" '$1 > since' > "$T/steps"
	plant "$T/steps" > "$T/plant"
	echo "# $(wc -l < "$T/steps") steps, $(grep -c prefill "$T/steps") of them prefill; $(wc -l < "$T/plant") modes"
	chosen=$(sed -n 's/.*"mode": "c\([0-9]*\)-\([0-9]*\)-g\([0-9]*\)-e\([0-9]*\)".*/\1,\2,\3,\4/p' "$T/json" | head -n 1)
	{
		echo "chosen $(grep "^$chosen " "$T/plant")"
		echo "best $(best $key $to_w $to_ms $to_ttft $to_tpot)"
		while read -r mode preset; do echo "$preset $(grep "^$mode " "$T/plant")"; done < "$T/named"
	} > "$T/table"
	awk -v key="$key" -v name="$name" -v w=$to_w -v ms=$to_ms -v ttft=$to_ttft -v tpot=$to_tpot '
		NR == 1 { printf "# %s\n# %-7s %-34s %9s %8s %7s %6s %8s %7s\n", name, "", "mode", "ms/token", "token/J",
				"token/s", "W", "TTFT ms", "TPOT ms" }
		{ printf "# %-7s %-34s %9.2f %8.3f %7.2f %6.2f %8.1f %7.2f%s\n", $1, $2, $3, 1 / $4, 1e3 / $3, $5, $6, $7,
			($5 > 1.02 * w || $3 > 1.02 * ms || $6 > 1.02 * ttft || $7 > 1.02 * tpot) ? " over a limit" : "" }
		$1 == "chosen" { c = $4; ok = $5 <= 1.02 * w && $3 <= 1.02 * ms && $6 <= 1.02 * ttft && $7 <= 1.02 * tpot; ct = $3 }
		$1 == "best" { d = 100 * ($4 / c - 1); dt = 100 * ($3 / ct - 1)
			printf "# %s: tokens per joule %+.2f %%, tokens per second %+.2f %% of the best\n", name, d, dt
			if (key == 2 && dt < -3) ok = 0 }
		END { exit !(ok && d > -3) }' "$T/table" && exits 0 && narrow
}

knobs > "$T/before"
for kind in llama vllm; do
	case $kind in
	llama) metric=llamacpp:tokens_predicted_total slots=1;;
	*) metric=vllm:generation_tokens_total slots=4;;
	esac
	llmserve $kind --slots $slots --tokens 100000000 --idle 0 --times "$T/times" --metrics "$T/metrics" &
	server=$!
	sleep 40
	sed '$d' "$T/times" > "$T/steps"
	plant "$T/steps" > "$T/plant"
	# Limits between the figures of the presets.
	set -- $(grep "^4,2201600,1300500000,3199000000 " "$T/plant")
	ms=$(awk -v m=$2 'BEGIN { print 1.6 * m }') ttft=$(awk -v m=$5 'BEGIN { print 2 * m }')
	tpot=$(awk -v m=$6 'BEGIN { print 1.5 * m }') rate=$(awk -v m=$2 'BEGIN { print 1e3 / (1.6 * m) }')
	search "$kind, at least $rate token/s" 3 1e9 $ms 1e9 1e9 --rate $rate
	result $? "$kind --rate: tokens per joule within 3 % of the plant's best"
	search "$kind, TTFT $ttft ms and TPOT $tpot ms" 3 1e9 1e9 $ttft $tpot --ttft ${ttft}ms --tpot ${tpot}ms
	result $? "$kind --ttft --tpot: tokens per joule within 3 % of the plant's best"
	search "$kind, 26 W" 2 26 1e9 1e9 1e9 --power 26W
	result $? "$kind --power: tokens per second and per joule within 3 % of the plant's best"
	kill $server
	wait $server
done
as_before "$T/before"
result $? "--dry-run: the knobs are restored"
run jetwatt optimize --per "token=$T/metrics#none_total" --power 25W --most 4 -- llmserve vllm --tokens 100000000
exits 1 && form && says "no unit was counted" "no such counter" && as_before "$T/before"
result $? "a counter that does not exist: nothing is chosen, knobs restored"
run jetwatt optimize --per "token=$T/metrics#$metric" -p 1
exits 2 && form && says "no limit"
result $? "--per without a limit: status 2"
finish
