#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=2 icount timeout=300 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" alone
# doctor --report: a board's report replays into the same rails, knobs and modes; it changes
# nothing, names no user, no host and no serial number, and says what it lacks without root.
. "${0%/*}/common.inc"
plan 19

# What must not get into a report: names, a home in the library's path, identifiers.
echo 'alice:x:1000:1000:Alice:/home/alice:/bin/sh' >> /etc/passwd
hostname lab-orin-7f
echo 5f3c9a17e2b84d60a1c7f2e94b8d3306 > /etc/machine-id
mkdir -p /home/alice/lib
cp /lib/libcuda.so.1 /home/alice/lib/ 2> /dev/null
export LD_LIBRARY_PATH=/home/alice/lib
echo "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64" > /etc/nv_tegra_release
mkdir -p /var/lib/dpkg /boot
printf '%s\n' CONFIG_HZ=250 "# CONFIG_KPROBES is not set" CONFIG_BPF_SYSCALL=y 'CONFIG_BUILD_SALT="alice"' \
	> "/boot/config-$(uname -r)"
printf 'Package: nvidia-l4t-core\nStatus: install ok installed\nVersion: 36.4.3-20250107174145\n\nPackage: alice-tools\nVersion: 1\n\n' > /var/lib/dpkg/status
cat > /etc/nvpmodel.conf << CONF
< PARAM TYPE=CLOCK NAME=CPU >
MAX_FREQ /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq
< PARAM TYPE=CLOCK NAME=GPU >
MAX_FREQ /sys/devices/17000000.ga10b/devfreq_dev/max_freq
< POWER_MODEL ID=0 NAME=ALL >
CPU MAX_FREQ -1
GPU MAX_FREQ -1
< POWER_MODEL ID=1 NAME=LITTLE >
CPU MAX_FREQ 1113600
GPU MAX_FREQ 420750000
< PM_CONFIG DEFAULT=1 >
CONF

sensor=$(echo /sys/bus/i2c/devices/1-0040/hwmon/hwmon*)
# An alarm that nothing has read yet.
cat "$sensor/curr1_crit_alarm" "$sensor/curr1_crit_alarm" > /dev/null
limit=$(cat "$sensor/curr1_crit")
echo 20 > "$sensor/curr1_crit"
sleep 0.1
echo "$limit" > "$sensor/curr1_crit"
# Another mode than the board's first.
jetwatt apply c2-1113600-g624750000-e2133000000 > /dev/null 2>&1
knobs > "$T/before"
begun=$(cut -d . -f 1 /proc/uptime)

run jetwatt doctor --report "$T/report" --loop "/bin/train --seconds 3"
took=$(($(cut -d . -f 1 /proc/uptime) - begun))
exits 0 && [ -s "$T/report" ] && [ $took -le 60 ]
result $? "a report within a minute ($took s)"

shows "^kernel " "^L4T  *36.4.3" "^rail  *VDD_GPU_SOC" "^chip .*1-0040" "^knobs "
result $? "its text"

knobs > "$T/now"
cmp "$T/before" "$T/now" && [ "$(cat "$sensor/curr1_crit_alarm")" = 1 ] && [ ! -e /var/lib/jetwatt/sensors ]
result $? "nothing was changed, no alarm cleared"

! grep -n -i -e alice -e lab-orin -e 5f3c9a17 -e "$(cat /proc/sys/kernel/random/boot_id)" "$T/report" "$T/out"
result $? "no user, no host, no machine's id"

grep -q '"HZ": "250"' "$T/report" && grep -q '"KPROBES": "n"' "$T/report" && grep -q '"path": "proc/device-tree/.*i2c@c240000/.*/compatible"' "$T/report" &&
	grep -q '"BPF_SYSCALL": "y"' "$T/report" && grep -q '"cuStreamSynchronize"' "$T/report"
result $? "kernel's options, sensors' nodes, libcuda's calls"

# Both are means over the same time.
awk -F '[:,]' '/"label"/ { label = $2 } /"power_w"/ { w = $2 } /"hwmon_w"/ { n++
		d = w - $2; if (d < 0) d = -d
		if (d > 0.05 * $2 + 0.1) { print "# " label w " W, hwmon" $2; bad = 1 } }
	END { exit bad || n < 3 }' "$T/report"
result $? "rails beside the hwmon driver's own readings"

grep -q '"fresh_hz": 1[4-6][0-9]' "$T/report"
result $? "fresh rates are measured"

# seen BACKEND: waits that it has seen of the loop
seen()
{
	awk -v b="\"$1\"" '$1 == "\"backend\":" { on = index($2, b) } on && $1 ~ /pollfd/ { print $2 + 0; exit }' "$T/report"
}
[ "$(seen tracepoint)" -gt 10 ] && [ "$(seen module)" -gt 10 ] && [ "$(seen uprobe)" = 0 ]
result $? "which backend saw the loop: $(seen tracepoint) by tracepoints, $(seen module) by the module"

run jetwatt doctor --replay "$T/report" --into "$T/board"
exits 0 && shows "Jetson AGX Orin" "preset   1 LITTLE (default)" "now      c2-1113600-g624750000-e2133000000"
result $? "it replays"

same() # WHAT: does the replayed board list the same?
{
	jetwatt list "$1" --json > "$T/true"
	JETWATT_ROOT=$T/board jetwatt list "$1" --json > "$T/out" 2> "$T/err"
	[ -s "$T/true" ] && cmp "$T/true" "$T/out"
}
same knobs
result $? "the same knobs"
same modes
result $? "the same modes"
same presets
result $? "the same presets"

# rails FILE: what a rail is; what it draws changes.
rails() { grep -e '"label"' -e '"chip"' -e '"channel"' -e '"shunt_uohm"' -e '"enabled"' -e '"in_total"' -e '"part_of"' "$1" | tr -d ' ,'; }
run jetwatt doctor --replay "$T/report" --json
exits 0 && rails "$T/out" > "$T/replayed" && jetwatt list rails --json > "$T/true" && rails "$T/true" > "$T/now" &&
	[ "$(grep -c label "$T/now")" -ge 4 ] && diff "$T/now" "$T/replayed" && shows '"scope": "module"'
result $? "the same rails, and total"
[ -z "$(ls -d /tmp/jetwatt-* 2> /dev/null)" ]
result $? "without --into no directory stays"

grep -q 'ina3221\|power-sensor@40' "$T/board/sensors.dtso" && grep -q 'VDD_CPU_CV' "$T/board/sensors.dtso"
result $? "an overlay of the sensors"

run jetwatt doctor --replay "$T/report" --into "$T/board"
exits 1 && form && says "does not exist yet"
result $? "no directory is overwritten"

head -c 20000 "$T/report" > "$T/half"
run jetwatt doctor --replay "$T/half"
exits 1 && form && says "line [0-9]"
result $? "half a report is refused"

echo '{"schema": "jetwatt-report/1", "files": [{"path": "etc/../../tmp/escaped", "text": "x"}]}' > "$T/bad"
run jetwatt doctor --replay "$T/bad" --into "$T/bad.d"
exits 1 && form && says "outside" && [ ! -e "$T/bad.d" ] && [ ! -e /tmp/escaped ]
result $? "a report that names files elsewhere is refused"

chmod 777 "$T"
su nobody -c "jetwatt doctor --report $T/plain" > "$T/out" 2> "$T/err"
status=$?
exits 0 && grep -q '"what": "readings of the rails' "$T/plain" && grep -q '"label": "VDD_GPU_SOC"' "$T/plain" &&
	! grep -q '"power_w"' "$T/plain" && shows "not run as root"
result $? "without root: what there is, and what is left out"
finish
