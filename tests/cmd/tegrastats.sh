#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=2 icount timeout=240 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test top --tegrastats: the lines, their interval, the power of the plant, and the end by a signal.
. "${0%/*}/common.inc"
plan 6

# truth KEY: print a value of the plant
truth() { sed -n "s/^$1 //p" $TRUTH/now; }
# lines SECONDS OPTION...: print lines for a time, to $T/lines
lines()
{
	seconds=$1
	shift
	jetwatt top --tegrastats "$@" > "$T/lines" 2> "$T/err" &
	sleep "$seconds"
	kill -INT $!
	wait $!
	status=$?
	cp "$T/lines" "$T/out"
}

t0=$(truth t_ns) e0=$(truth energy_uj)
lines 7.5
t1=$(truth t_ns) e1=$(truth energy_uj)
n=$(wc -l < "$T/lines")
exits 0 && [ "$n" -ge 6 ] && [ "$n" -le 8 ]
result $? "one line a second, until SIGINT: $n lines in 7.5 s"
! grep -vqE '^[0-9]{2}-[0-9]{2}-[0-9]{4} [0-9:]{8} EMC_FREQ @\[[0-9]+\] GR3D_FREQ ([0-9]+%)?@\[[0-9]+\] tj@[0-9.]+C( [A-Z0-9_]+ [0-9]+mW/[0-9]+mW){4}$' "$T/lines"
result $? "every line has the form of tegrastats"
# The average since the start, of the rails of the total.
awk -v t="$((t1 - t0))" -v e="$((e1 - e0))" '{ for (i = 1; i < NF; i++) if ($i ~ /^VDD_GPU_SOC$|^VDD_CPU_CV$|^VIN_SYS_5V0$/) {
		split($(i + 1), p, "/"); mw += p[2] } last = mw; mw = 0 }
	END { d = last / (1e6 * e / t) - 1; print "# " last " mW, " 1e6 * e / t " mW of the plant: " 100 * d " %"; exit !(d * d < 0.02 * 0.02) }' "$T/lines"
result $? "the average power is that of the plant, within 2 %"
lines 3 --interval 200
n=$(wc -l < "$T/lines")
exits 0 && [ "$n" -ge 12 ] && [ "$n" -le 16 ]
result $? "--interval 200: five lines a second: $n lines in 3 s"
jetwatt top --tegrastats --interval 100 2> "$T/err" | head -n 3 > "$T/out"
[ "$(wc -l < "$T/out")" = 3 ]
result $? "a reader that closes the pipe ends jetwatt top"
run jetwatt top --tegrastats --replay x.jwt
exits 2 && form && says "jetwatt export --format tegrastats"
result $? "--tegrastats with --replay is refused"
finish
