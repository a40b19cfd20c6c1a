#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=2 icount timeout=240 modules="governor_simpleondemand;jetwatt-sim;ina3221" files="build/arm64/hw-measure:/hw/hw-measure;tests/hw/check:/hw/check"
# make check-hw, as somebody with a board would run it: the whole flow passes,
# and leaves nothing behind.
. "${0%/*}/common.inc"
plan 5

ln -s /bin/jetwatt /lib/modules/jetwatt/jetwatt.ko /hw/
export HW_SECONDS=2 HW_REPORT=$T/report HW_JOB="/bin/train --seconds 3"
sensor=$(echo /sys/bus/i2c/devices/1-0040/hwmon/hwmon*)

# As NVIDIA's tool prints it, of what hwmon says.
cat > /bin/tegrastats <<EOF2
#!/bin/sh
while :; do
	for c in 1 2 3; do
		mv=\$(cat $sensor/in\${c}_input) ma=\$(cat $sensor/curr\${c}_input)
		p=\$((mv * ma / 1000))
		printf '%s %smW/%smW ' "\$(cat $sensor/in\${c}_label)" \$p \$p
	done
	echo
	sleep 0.5
done
EOF2
chmod +x /bin/tegrastats

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

as_before "$T/before" && [ ! -d /sys/module/jetwatt ]
result $? "knobs and module are as before"

[ "$(cat "$sensor/curr1_crit_alarm")" = 1 ]
result $? "the alarm is still there"
exit $failed
