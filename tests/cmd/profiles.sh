#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=600 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test that measurements are stored and reused, and that the presets of a board are listed.
. "${0%/*}/common.inc"
plan 14

knobs > "$T/before"
train > /dev/null 2>&1 &
train=$!
sleep 2
rm -f /var/lib/jetwatt/profiles/profiles.db*

run jetwatt profile -p $train --most 4 --batch 16
exits 0 && as_before "$T/before" && [ -e /var/lib/jetwatt/profiles/profiles.db ]
result $? "profile stores its rows without an option"

run jetwatt list profiles -v
shows "    4     4 .* 16  train" "Jetson AGX Orin, Linux" "gpu_governor=" && narrow
result $? "list profiles names the workload"

run jetwatt export -f profile --errors
head -n 1 "$T/out" | grep -q time_sd && [ "$(wc -l < "$T/out")" = 5 ]
result $? "export prints the rows"
cp "$T/out" "$T/kept.csv"

run jetwatt profile -p $train --most 5 --batch 16 --reuse -o "$T/p.csv"
exits 0 && says "4 measurements of this workload" && [ "$(wc -l < "$T/p.csv")" = 6 ]
result $? "--reuse measures missing modes only"

run jetwatt profile -p $train --most 3 --db "$T/other.db"
exits 0 && jetwatt list profiles --db "$T/other.db" | grep -q " 3     3 "
result $? "--db stores in another database"

run jetwatt profile -p $train --most 3 --db none
exits 0 && [ "$(jetwatt export -f profile | wc -l)" = 6 ]
result $? "--db none stores nothing"

run jetwatt profile -p $train --most 12 --until 80% --db none -o "$T/until.csv"
exits 0 && says "time and power are known to +-" && as_before "$T/before" &&
	[ "$(wc -l < "$T/until.csv")" -ge 7 ] && [ "$(wc -l < "$T/until.csv")" -lt 13 ]
result $? "--until stops when the interval is narrow enough"

run jetwatt profile -p $train --most 5 --descending --db none -o "$T/down.csv"
exits 0 && [ "$(wc -l < "$T/down.csv")" = 6 ] && awk -F, '
	NR > 2 && ($2 > cpu || $3 > gpu) { print "# rises: " $0; rose = 1 }
	{ cpu = $2; gpu = $3 } END { exit rose }' "$T/down.csv"
result $? "--descending never raises a clock of CPU or GPU"

# If the disk is full, failing to store rows is an error if --db was given, and a warning otherwise.
mkdir "$T/small"
mount -t tmpfs -o size=40k,mode=755 none "$T/small"
dd if=/dev/zero of="$T/small/fill" bs=1k count=36 2> /dev/null
run jetwatt profile -p $train --most 3 --db "$T/small/p.db"
exits 1 && form && says "no space left" && as_before "$T/before"
result $? "full disk with --db: refused, knobs restored"
JETWATT_DB=$T/small/q.db run jetwatt profile -p $train --most 3 -o "$T/q.csv"
exits 0 && says "not kept" && [ "$(wc -l < "$T/q.csv")" = 4 ]
result $? "full disk without --db: measured, with a warning"
umount "$T/small"

cat > /etc/nvpmodel.conf <<CONF
< PARAM TYPE=FILE NAME=CPU_ONLINE >
$(for i in 0 1 2 3 4 5 6 7 8 9 10 11; do echo "CORE_$i /sys/devices/system/cpu/cpu$i/online"; done)
< PARAM TYPE=CLOCK NAME=CPU >
MIN_FREQ /sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq
MAX_FREQ /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq
< PARAM TYPE=CLOCK NAME=GPU >
MIN_FREQ /sys/devices/17000000.ga10b/devfreq_dev/min_freq
MAX_FREQ /sys/devices/17000000.ga10b/devfreq_dev/max_freq
< PARAM TYPE=CLOCK NAME=EMC >
MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap
< POWER_MODEL ID=0 NAME=ALL >
$(for i in 0 1 2 3 4 5 6 7 8 9 10 11; do echo "CPU_ONLINE CORE_$i 1"; done)
CPU MIN_FREQ 729600
CPU MAX_FREQ -1
GPU MIN_FREQ 0
GPU MAX_FREQ -1
EMC MAX_FREQ 0
< POWER_MODEL ID=1 NAME=LITTLE >
$(for i in 0 1 2 3; do echo "CPU_ONLINE CORE_$i 1"; done)
CPU MAX_FREQ 1113600
GPU MAX_FREQ 408000000
EMC MAX_FREQ 2133000000
< PM_CONFIG DEFAULT=1 >
CONF
run jetwatt list presets
shows "^\* 1  LITTLE           4 1114  421     2133" "GPU 408 becomes 421 MHz" "^  0  ALL             " && narrow
result $? "list presets: the default preset, and rounded clocks"

run jetwatt export -f nvpmodel c2-1190400-g522750000-e3199000000 --name MINE
exits 0 && shows "^< POWER_MODEL ID=2 NAME=MINE >" "^CPU_ONLINE CORE_1 1" "^CPU_ONLINE CORE_2 0" \
	"^CPU MIN_FREQ 729600" "^CPU MAX_FREQ 1190400" "^GPU MAX_FREQ 522750000" "^EMC MAX_FREQ 0"
result $? "export --format nvpmodel prints a mode as a preset"

cat "$T/out" >> /etc/nvpmodel.conf
run jetwatt list presets --json
shows '"mode": "c2-1190400-g522750000-e3199000000"'
result $? "and the preset is read back as the same mode"

run jetwatt export -f nvpmodel c2-1190400-g500000000-e3199000000
! exits 0 > /dev/null && form && [ ! -s "$T/out" ]
result $? "a mode with a clock that the board lacks is refused, not rounded"
rm -f /etc/nvpmodel.conf

kill $train
finish
