#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=1200 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Phases of two servers of a language model: their steps, labelled as prefill and decode, and the
# energy of a generated token, compared with the server's own record and with the plant.
. "${0%/*}/common.inc"
plan 5

# truth A B: print prefill steps, decode steps, generated tokens and J of the plant from time A to B
truth()
{
	awk -v a="$1" -v b="$2" '$1 > a && $1 <= b { n[$2]++ } $1 <= a { before = $4 } $1 <= b { last = $4 }
		END { printf "%d %d %d ", n["prefill"], n["decode"], last - before }' "$T/times"
	awk -F, -v a="$1" -v b="$2" 'function at(t) { return pe + (t - pt) / ($1 - pt) * ($2 - pe) }
		$1 + 0 { if (pt && pt <= a && a <= $1) e0 = at(a)
			 if (pt && pt <= b && b <= $1) e1 = at(b); pt = $1; pe = $2 }
		END { printf "%.4f\n", (e1 - e0) * 1e-6 }' $TRUTH/energy
}

# labelled: print the share of the steps of $T/times whose phase in $T/batches is that of most steps
# of their kind, and the number of steps that are compared
labelled()
{
	awk -F, 'NR == FNR { if (FNR > 1 && $15 != "") { end[++m] = $2; phase[m] = $15 } next }
		FNR > 3 { split($0, f, " "); while (i < m && end[i + 1] <= f[1] + 200000) p = phase[++i]
			  n[f[2], p]++; total++; p = "" }
		END { for (k in n) { split(k, a, SUBSEP); if (a[2] != "" && n[k] > most[a[1]]) most[a[1]] = n[k] }
		      for (k in most) right += most[k]; printf "%.4f %d\n", right / total, total }' "$T/batches" "$T/times"
}

# serve KIND SLOTS TOKENS METRIC
serve()
{
	rm -f "$T/metrics" "$T/times"
	run jetwatt record --json -o "$T/run.jwt" -- llmserve $1 --slots $2 --tokens $3 --times "$T/times" --seed ${5:-$2} \
		--metrics "$T/metrics"
	status_record=$status
	jetwatt report --json "$T/run.jwt" > "$T/json"
	jetwatt export -f csv --minibatches -o "$T/batches" "$T/run.jwt"
	# shellcheck disable=SC2046
	set -- $(labelled)
	echo "# $1 of $2 steps right; $(grep -c prefill "$T/times") prefills"
	jetwatt report "$T/run.jwt" | sed -n '/ phase  /,/^$/s/^/# /p'
	[ "$status_record" = 0 ] && awk -v r="$1" 'BEGIN { exit !(r >= 0.99) }'
}

for server in "llama 1 10000 x 11" "vllm 1 10000 x 12" "llama 4 12000 x 13" "vllm 8 20000 x 14" "vllm 16 30000 x 15"; do
	# shellcheck disable=SC2086
	serve $server
	result $? "$server: 99 of 100 steps have the phase of their kind"
done

