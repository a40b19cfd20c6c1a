#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=700 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Phases of two servers of a language model: their steps, labelled as prefill and decode, and the
# energy of a generated token, compared with the server's own record and with the plant.
. "${0%/*}/common.inc"
plan 14

# truth A B N: print prefill steps, decode steps, generated tokens and J of the plant from time A to B; the entry N
# of the plant's energy is before A
truth()
{
	awk -v a="$1" -v b="$2" '$1 > a && $1 <= b { n[$2]++ } $1 <= a { before = $4 } $1 <= b { last = $4 }
		END { printf "%d %d %d ", n["prefill"], n["decode"], last - before }' "$T/times"
	tail -n "+$3" $TRUTH/energy | awk -F, -v a="$1" -v b="$2" 'function at(t) { return pe + (t - pt) / ($1 - pt) * ($2 - pe) }
		$1 + 0 { if (pt && pt <= a && a <= $1) e0 = at(a)
			 if (pt && pt <= b && b <= $1) e1 = at(b); pt = $1; pe = $2 }
		END { printf "%.4f\n", (e1 - e0) * 1e-6 }'
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

# serve KIND SLOTS TOKENS [OPTION...]: record a server; status 0 if at least 99 % of its steps have the phase of
# their kind
serve()
{
	kind=$1 slots=$2 tokens=$3
	shift 3
	rm -f "$T/metrics" "$T/times"
	run jetwatt record --json -o "$T/run.jwt" -- llmserve $kind --slots $slots --tokens $tokens --times "$T/times" \
		--seed $slots --metrics "$T/metrics" "$@"
	status_record=$status
	jetwatt report --json "$T/run.jwt" > "$T/json"
	jetwatt export -f csv --minibatches -o "$T/batches" "$T/run.jwt"
	# shellcheck disable=SC2046
	set -- $(labelled)
	echo "# $1 of $2 steps right; $(grep -c prefill "$T/times") prefills"
	jetwatt report "$T/run.jwt" | sed -n '/ phase  /,/^$/s/^/# /p'
	[ "$status_record" = 0 ] && awk -v r="$1" 'BEGIN { exit !(r >= 0.99) }'
}

# With speculative decoding, a decode step has a wait for each draft token and one more.
for server in "llama 1 500" "llama 4 500" "llama 16 600" "vllm 1 500" "vllm 4 500" "vllm 16 600" "llama 1 600 --draft 3" "vllm 4 700 --draft 5"; do
	# shellcheck disable=SC2086
	serve $server
	result $? "$server: 99 of 100 steps have the phase of their kind"
done

for server in "llama 1" "llama 4" "llama 16" "vllm 1" "vllm 4" "vllm 16"; do
	# shellcheck disable=SC2086
	set -- $server
	case $1 in
	llama) metric=llamacpp:tokens_predicted_total;;
	*) metric=vllm:generation_tokens_total;;
	esac
	rm -f "$T/metrics" "$T/times"
	entries=$(wc -l < $TRUTH/energy)
	run jetwatt stat --json -o "$T/json" --per "token=$T/metrics#$metric" -- llmserve $1 --slots $2 --tokens 400 \
		--times "$T/times" --metrics "$T/metrics"
	sed -n '/"per"/,$p' "$T/json" > "$T/per"
	# shellcheck disable=SC2046
	set -- $(truth "$(number start_ns "$T/json")" "$(number end_ns "$T/json")" "$entries") "$server"
	echo "# $(number units "$T/per") tokens of jetwatt, $3 of the server; $(number energy_j "$T/per") J a token, $4 J of the plant"
	exits 0 && [ "$(number units "$T/per")" = "$3" ] &&
		awk -v j="$(number energy_j "$T/per")" -v n="$3" -v e="$4" 'BEGIN { d = j * n / e - 1; exit !(d * d < 1e-4) }'
	result $? "$5: J per token within 1 % of the plant's"
done
finish
