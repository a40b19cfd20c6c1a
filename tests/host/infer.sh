#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check optimize --latency, with a profile of a few modes and batch sizes of a simulated board. The
# result is compared with the best of all modes and sizes.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-infer
. tests/host/check.inc
echo 1..16

python3 - $d << 'END_OF_BOARD'
import random, sys

rng = random.Random(1)


def truth(c, f, g, e, b):
    t = max(b * 1400 / g, b * 1900 / e) + 9e6 / f + 1.2 + b * 0.4e6 / f / c ** 0.5
    w = 8 + 1.1e-8 * g ** 3 + 0.0012 * e + c * (f / 2.2e6) ** 3 * 0.5 + 2.2 * b / (b + 8) * g / 1300
    return t, w


with open(sys.argv[1] + "/all.csv", "w") as every, open(sys.argv[1] + "/modes.csv", "w") as modes:
    rows = []
    modes.write("cores,cpu_khz,gpu_hz,emc_hz\n")
    for c in (4, 8, 12):
        for f in (729600, 1190400, 1728000, 2201600):
            for g in (306, 522, 726, 930, 1134, 1300):
                for e in (665, 2133, 3199):
                    modes.write("%d,%d,%d000000,%d000000\n" % (c, f, g, e))
                    rows += [(c, f, g, e, b, *truth(c, f, g, e, b)) for b in (1, 4, 16, 32, 64)]
    for r in rows:
        every.write("%d,%d,%d000000,%d000000,%d,%.6f,%.6f\n" % r)
    with open(sys.argv[1] + "/some.csv", "w") as some:
        some.write("cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w\n")
        for r in rng.sample(rows, 60):
            some.write("%d,%d,%d000000,%d000000,%d,%.6f,%.6f\n" %
                       (*r[:5], r[5] * rng.gauss(1, 0.005), r[6] * rng.gauss(1, 0.004)))
END_OF_BOARD

ask()	# POWER LATENCY ARRIVAL ARGUMENT...
{
	run build/jetwatt optimize --power "$1W" --latency "$2ms" --arrival "$3Hz" \
		--profile $d/some.csv --modes $d/modes.csv --json $d/json "${@:4}"
}

# For the chosen mode and batch size, the true power and rate must be within the limits, and the
# true latency at most 5 % above the best.
holds()	# POWER LATENCY ARRIVAL
{
	jq -r '[.chosen.cores, .chosen.cpu_khz, .chosen.gpu_hz, .chosen.emc_hz, .inference.batch] |
		join(",")' $d/json > $d/chosen
	awk -F, -v P="$1" -v L="$2" -v A="$3" -v chosen="$(cat $d/chosen)" '
		{ late = 1000 * $5 / A + $6; ok = $7 <= P && $6 <= 1000 * $5 / A && late <= L }
		ok && (!best || late < best) { best = late }
		$1 "," $2 "," $3 "," $4 "," $5 == chosen { got = late; w = $7; fine = ok }
		END { print "# " chosen ": " got " ms at " w " W, the best " best " ms"
		      exit !(fine && got <= 1.05 * best) }' $d/all.csv
}

for q in "30 100 60" "20 200 90" "40 80 120" "14 500 200"; do
	# shellcheck disable=SC2086
	ask $q && [ $status = 0 ] && holds $q
	result "limits W, ms and requests per second: $q" $?
done

ask 30 1000 60 --batch 32
[ $status = 0 ] && jq -e '.inference | .batch == 32 and (.queueing_ms - 533.333 | fabs) < 0.01 and
	(.queueing_ms + .time_ms - .latency_ms | fabs) < 0.01' $d/json > /dev/null
result "one batch size: the latency includes queueing" $?

ask 30 15 60
[ $status = 3 ] && grep -q "closest: " $d/err && grep -q -- "fix: --latency [0-9]*ms" $d/err
result "a latency below the time between requests: status 3, and the closest is reported" $?
ask 30 "$(sed -n 's/.*--latency \([0-9]*\)ms.*/\1/p' $d/err)" 60
[ $status = 0 ]
result "the reported latency can be met" $?
ask 1 100 60
[ $status = 3 ] && grep -q -- "fix: --power [0-9]*W" $d/err
result "an impossible power: the lowest is reported" $?

# Add a reading of the highest mode, which draws 44 W, that is far too low.
echo 12,2201600,1300000000,3199000000,32,41.4,15 | cat $d/some.csv - > $d/low.csv
run build/jetwatt optimize --power 20W --latency 500ms --arrival 700Hz --batch 32,64 --profile $d/low.csv \
	--modes $d/modes.csv
[ $status = 3 ]
result "a power reading that the model contradicts is no answer" $?
echo 12,2201600,1300000000,3199000000,32,41.4,15.1 | cat $d/low.csv - > $d/lower.csv
run build/jetwatt optimize --power 20W --latency 500ms --arrival 700Hz --batch 32,64 --profile $d/lower.csv \
	--modes $d/modes.csv
[ $status = 0 ]
result "two such readings are trusted" $?

run build/jetwatt optimize --power 30W --latency 100ms --profile $d/some.csv --modes $d/modes.csv
[ $status = 2 ] && grep -q -- "--arrival" $d/err
result "a latency without a request rate is refused" $?
ask 30 100 60 --least energy
[ $status = 2 ]
result "a server with another objective is refused" $?
ask 30 100 60 --reuse
[ $status = 2 ] && grep -q -- "--latency cannot be combined with .* --reuse" $d/err
result "a server cannot reuse the measurements of the database" $?
grep ',16,' $d/some.csv | sed '1i cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w' > $d/one.csv
run build/jetwatt optimize --power 30W --latency 600ms --arrival 60Hz --profile $d/one.csv \
	--modes $d/modes.csv --batch 8,16
[ $status = 2 ] && grep -q "no other can be predicted" $d/err
result "a profile of one batch size does not predict others" $?
run build/jetwatt optimize --power 30W --latency 600ms --arrival 60Hz --profile $d/one.csv \
	--modes $d/modes.csv --batch 32
[ $status = 2 ] && grep -q "not the minibatch size of the profile" $d/err
result "and its times are not taken for those of another one" $?
run build/jetwatt optimize --power 30W --latency 600ms --arrival 60Hz --profile $d/one.csv \
	--modes $d/modes.csv --batch 16
[ $status = 0 ]
result "its own size is accepted" $?
exit $failed
