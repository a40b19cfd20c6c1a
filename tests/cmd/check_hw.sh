#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=2 icount timeout=500 modules="governor_simpleondemand;jetwatt-sim;ina3221" files="build/arm64/hw-measure:/hw/hw-measure;tests/hw/check:/hw/check"
# make check-hw, as somebody with a board would run it: the whole flow passes,
# and leaves nothing behind; a board that is not well fails, and is left as it
# was all the same, also when somebody stops it half-way.
. "${0%/*}/common.inc"
plan 11

ln -s /bin/jetwatt /lib/modules/jetwatt/jetwatt.ko /hw/
hostname lab-orin-7f
export HW_SECONDS=2 HW_REPORT=$T/report HW_JOB="/bin/train --seconds 3"
sensor=$(echo /sys/bus/i2c/devices/1-0040/hwmon/hwmon*)

# As NVIDIA's tool prints it, of what hwmon says.
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

# An alarm that nobody has read yet.
cat "$sensor/curr1_crit_alarm" "$sensor/curr1_crit_alarm" > /dev/null
limit=$(cat "$sensor/curr1_crit")
echo 20 > "$sensor/curr1_crit"
sleep 0.1
echo "$limit" > "$sensor/curr1_crit"
knobs > "$T/before"

run /hw/check /hw
exits 0 && shows PASS && ! grep -q "^FAIL" "$T/out"
result $? "a board that is well passes"

shows "ok .*rate" "ok .*lateness" "ok .*hwmon" "ok .*tegrastats" "ok .*knob: restored" "ok .*CUDA" "ok .*as before"
result $? "every part was tried"

[ -s "$T/report" ] && grep -q "VDD_GPU_SOC" "$T/report" && grep -q "^PASS" "$T/report"
result $? "one report has it all"

jetwatt doctor --replay "$T/report.json" --json > "$T/out" && shows "Jetson AGX Orin" '"label": "VDD_GPU_SOC"' &&
	! grep -q "$(hostname)" "$T/report"
result $? "and the board replays; no name of the host is in it"

as_before "$T/before" && [ ! -d /sys/module/jetwatt ]
result $? "knobs and module are as before"

[ "$(cat "$sensor/curr1_crit_alarm")" = 1 ]
result $? "the alarm is still there"

# Somebody else's tegrastats, and a job that never waits for a GPU.
echo 2 > /tmp/tegrastats.times
export HW_JOB=/bin/true
run timeout 150 /hw/check /hw
exits 1 && ! shows PASS > /dev/null && shows "^FAIL: 2; report"
result $? "a board that is not well fails"

shows "^FAIL .*tegrastats" "^FAIL .*CUDA" "ok .*rate" "ok .*knob: restored" "ok .*as before" &&
	grep -q "^FAIL: 2" "$T/report"
result $? "it says what, and the rest is tried"

as_before "$T/before" && [ ! -d /sys/module/jetwatt ]
result $? "knobs and module are as before then too"

# Stopped while the knob is switched, at the latest: it has come so far when it says so.
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
result $? "stopped half-way"

as_before "$T/before" && [ ! -d /sys/module/jetwatt ]
result $? "and still as before"
finish
