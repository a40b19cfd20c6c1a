#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=2 icount timeout=300 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" alone
# Test doctor --report: a board that is simulated from the report must have the same rails, knobs
# and modes. Creating a report must change nothing on the board. The report must have no names of
# users or hosts and no machine id, and must say what is missing if it is created without root.
. "${0%/*}/common.inc"
plan 20

# Set up what must not be in a report: names, a home directory in the library's path, and
# identifiers.
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
# Set an alarm flag that no program has read yet.
cat "$sensor/curr1_crit_alarm" "$sensor/curr1_crit_alarm" > /dev/null
limit=$(cat "$sensor/curr1_crit")
echo 20 > "$sensor/curr1_crit"
sleep 0.1
echo "$limit" > "$sensor/curr1_crit"
# Apply a mode that differs from the initial one.
jetwatt apply c2-1113600-g624750000-e2133000000 > /dev/null 2>&1
knobs > "$T/before"
begun=$(cut -d . -f 1 /proc/uptime)

run jetwatt doctor --report "$T/report" --loop "/bin/train --seconds 3"
took=$(($(cut -d . -f 1 /proc/uptime) - begun))
exits 0 && [ -s "$T/report" ] && [ $took -le 60 ]
result $? "the report takes less than a minute ($took s)"

shows "^kernel " "^L4T  *36.4.3" "^rail  *VDD_GPU_SOC" "^chip .*1-0040" "^knobs "
result $? "the report has a readable text"

knobs > "$T/now"
cmp "$T/before" "$T/now" && [ "$(cat "$sensor/curr1_crit_alarm")" = 1 ] && [ ! -e /var/lib/jetwatt/sensors ]
result $? "the report has changed no knob and cleared no alarm"

! grep -n -i -e alice -e lab-orin -e 5f3c9a17 -e "$(cat /proc/sys/kernel/random/boot_id)" "$T/report" "$T/out"
result $? "the report has no user name, host name or machine id"

grep -q '"HZ": "250"' "$T/report" && grep -q '"KPROBES": "n"' "$T/report" && grep -q '"path": "proc/device-tree/.*i2c@c240000/.*/compatible"' "$T/report" &&
	grep -q '"BPF_SYSCALL": "y"' "$T/report" && grep -q '"cuStreamSynchronize"' "$T/report"
result $? "the report has kernel options, sensor nodes and calls of libcuda"

# The power of a rail in the report and that of the hwmon driver must be means over the same time.
awk -F '[:,]' '/"label"/ { label = $2 } /"power_w"/ { w = $2 } /"hwmon_w"/ { n++
		d = w - $2; if (d < 0) d = -d
		if (d > 0.05 * $2 + 0.1) { print "# " label w " W, hwmon" $2; bad = 1 } }
	END { exit bad || n < 3 }' "$T/report"
result $? "readings of the rails agree with those of the hwmon driver"

grep -q '"fresh_hz": 1[4-6][0-9]' "$T/report"
result $? "the report has the measured refresh rates"

# seen BACKEND: print the number of waits of the report's test loop that BACKEND has seen
seen()
{
	awk -v b="\"$1\"" '$1 == "\"backend\":" { on = index($2, b) } on && $1 ~ /pollfd/ { print $2 + 0; exit }' "$T/report"
}
[ "$(seen tracepoint)" -gt 10 ] && [ "$(seen module)" -gt 10 ] && [ "$(seen uprobe)" = 0 ]
result $? "backends that saw the loop: $(seen tracepoint) waits by tracepoints, $(seen module) by the module"

run jetwatt doctor --replay "$T/report" --into "$T/board"
exits 0 && shows "Jetson AGX Orin" "preset   1 LITTLE (default)" "now      c2-1113600-g624750000-e2133000000"
result $? "the report can be replayed"

same() # WHAT: does the replayed board list the same?
{
	jetwatt list "$1" --json > "$T/true"
	JETWATT_ROOT=$T/board jetwatt list "$1" --json > "$T/out" 2> "$T/err"
	[ -s "$T/true" ] && cmp "$T/true" "$T/out"
}
same knobs
result $? "replay: the same knobs"
same modes
result $? "replay: the same modes"
same presets
result $? "replay: the same presets"

# rails FILE: print the constant attributes of the rails in FILE, without their power.
rails() { grep -e '"label"' -e '"chip"' -e '"channel"' -e '"shunt_uohm"' -e '"enabled"' -e '"in_total"' -e '"part_of"' "$1" | tr -d ' ,'; }
run jetwatt doctor --replay "$T/report" --json
exits 0 && rails "$T/out" > "$T/replayed" && jetwatt list rails --json > "$T/true" && rails "$T/true" > "$T/now" &&
	[ "$(grep -c label "$T/now")" -ge 4 ] && diff "$T/now" "$T/replayed" && shows '"scope": "module"'
result $? "replay: the same rails and total"
[ -z "$(ls -d /tmp/jetwatt-* 2> /dev/null)" ]
result $? "replay without --into leaves no directory"

grep -q 'ina3221\|power-sensor@40' "$T/board/sensors.dtso" && grep -q 'VDD_CPU_CV' "$T/board/sensors.dtso"
result $? "replay writes a device-tree overlay of the sensors"

run jetwatt doctor --replay "$T/report" --into "$T/board"
exits 1 && form && says "does not exist yet"
result $? "--into does not overwrite a directory"

head -c 20000 "$T/report" > "$T/half"
run jetwatt doctor --replay "$T/half"
exits 1 && form && says "line [0-9]"
result $? "a truncated report is refused"

echo '{"schema": "jetwatt-report/1", "files": [{"path": "etc/../../tmp/escaped", "text": "x"}]}' > "$T/bad"
run jetwatt doctor --replay "$T/bad" --into "$T/bad.d"
exits 1 && form && says "outside" && [ ! -e "$T/bad.d" ] && [ ! -e /tmp/escaped ]
result $? "a report with paths outside its directory is refused"

chmod 777 "$T"
run jetwatt doctor --report "$T/quiet" --loop true -q
exits 0 && [ -s "$T/quiet" ] && [ ! -s "$T/out" ]
result $? "-q: the report is written and no summary is printed"

su nobody -c "jetwatt doctor --report $T/plain" > "$T/out" 2> "$T/err"
status=$?
exits 0 && grep -q '"what": "readings of the rails' "$T/plain" && grep -q '"label": "VDD_GPU_SOC"' "$T/plain" &&
	! grep -q '"power_w"' "$T/plain" && shows "not run as root"
result $? "without root: a report that names what is left out"
finish
