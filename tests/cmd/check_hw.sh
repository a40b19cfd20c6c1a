#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=2 icount timeout=500 modules="governor_simpleondemand;jetwatt-sim;ina3221" files="build/arm64/hw-measure:/hw/hw-measure;tests/hw/check:/hw/check"
# make check-hw as a user with a board runs it: all checks pass and nothing is left behind. A board
# with faults must fail the checks, and must be restored too, even if the user interrupts the check.
. "${0%/*}/common.inc"
plan 11

ln -s /bin/jetwatt /lib/modules/jetwatt/jetwatt.ko /hw/
hostname lab-orin-7f
export HW_SECONDS=2 HW_REPORT=$T/report HW_JOB="/bin/train --seconds 3"
sensor=$(echo /sys/bus/i2c/devices/1-0040/hwmon/hwmon*)

# A substitute for NVIDIA's tegrastats, which prints the values of hwmon.
cat > /bin/tegrastats <<EOF2
#!/bin/sh
while :; do
	for c in 1 2 3; do
		mv=\$(cat $sensor/in\${c}_input) ma=\$(cat $sensor/curr\${c}_input)
		p=\$((mv * ma / 1000 * \$(cat /tmp/tegrastats.times)))
		printf '%s %smW/%smW ' "\$(cat $sensor/in\${c}_label)" \$p \$p
	done
	echo
	sleep 0.5
done
EOF2
chmod +x /bin/tegrastats
echo 1 > /tmp/tegrastats.times

# Set an alarm flag that no program has read yet.
cat "$sensor/curr1_crit_alarm" "$sensor/curr1_crit_alarm" > /dev/null
limit=$(cat "$sensor/curr1_crit")
echo 20 > "$sensor/curr1_crit"
sleep 0.1
echo "$limit" > "$sensor/curr1_crit"
knobs > "$T/before"

run /hw/check /hw
exits 0 && shows PASS && ! grep -q "^FAIL" "$T/out"
result $? "a board without faults passes"

shows "ok .*rate" "ok .*lateness" "ok .*hwmon" "ok .*tegrastats" "ok .*knob: restored" "ok .*CUDA" "ok .*restored: knobs"
result $? "check-hw does all checks"

[ -s "$T/report" ] && grep -q "VDD_GPU_SOC" "$T/report" && grep -q "^PASS" "$T/report"
result $? "check-hw writes all results to one report"

jetwatt doctor --replay "$T/report.json" --json > "$T/out" && shows "Jetson AGX Orin" '"label": "VDD_GPU_SOC"' &&
	! grep -q "$(hostname)" "$T/report"
result $? "the report can be replayed and does not have the host's name"

as_before "$T/before" && [ ! -d /sys/module/jetwatt ]
result $? "knobs restored and module unloaded"

[ "$(cat "$sensor/curr1_crit_alarm")" = 1 ]
result $? "the alarm is still set"

# Use a tegrastats that prints wrong values, and a job that never waits for a GPU; both checks must
# fail.
echo 2 > /tmp/tegrastats.times
export HW_JOB=/bin/true
run timeout 150 /hw/check /hw
exits 1 && ! shows PASS > /dev/null && shows "^FAIL: 2; report"
result $? "a board with faults fails"

shows "^FAIL .*tegrastats" "^FAIL .*CUDA" "ok .*rate" "ok .*knob: restored" "ok .*restored: knobs" &&
	grep -q "^FAIL: 2" "$T/report"
result $? "the faults are named, and the other checks are done"

as_before "$T/before" && [ ! -d /sys/module/jetwatt ]
result $? "a board with faults: knobs restored and module unloaded"

# Interrupt check-hw when its output shows that it has changed a knob.
echo 1 > /tmp/tegrastats.times
export HW_JOB="/bin/train --seconds 60"
/hw/check /hw > "$T/out" 2> "$T/err" &
pid=$!
for i in $(seq 900); do
	grep -q "knob: CPU" "$T/out" && break
	sleep 0.1
done
kill -TERM $pid
kill -TERM "$(job train)" 2> /dev/null
wait $pid
status=$?
exits 1
result $? "interrupted: status 1"

as_before "$T/before" && [ ! -d /sys/module/jetwatt ]
result $? "interrupted: knobs restored and module unloaded"
finish
