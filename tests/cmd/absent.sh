#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=12 icount timeout=180 alone files="build/arm64/tests/cmd/uname26:/bin/uname26"
# What is missing is named, with a way to get it.
. "${0%/*}/common.inc"
plan 16

M=/lib/modules/jetwatt

run jetwatt stat -- true
exits 1 && form && says "not loaded" "modprobe jetwatt"
result $? "no knob: stat needs none, only the module"

run jetwatt apply MAXN
exits 5 && form && says "no CPU clock"
result $? "no knob: apply is unsupported"

run jetwatt list knobs
exits 0 && shows "cpu    missing: .*cpufreq" "gpu    missing: .*devfreq" "emc    missing: .*nvpmodel_clk_cap" "fix: load"
result $? "no knob: each is named, with a way to get it"

modprobe governor_simpleondemand 2>/dev/null || insmod "$(find /lib/modules -name 'governor_simpleondemand.ko*' | head -n 1)"
insmod $M/jetwatt-sim.ko
knobs > "$T/before"

run jetwatt stat -- true
exits 1 && form && says "not loaded" "modprobe jetwatt"
result $? "module absent: says how to load it"

run jetwatt optimize --power 30 -- true
exits 1 && form && says "not loaded" && as_before "$T/before"
result $? "module absent: optimize changes nothing"

run jetwatt doctor
exits 1 && shows "fail module" "ok   board"
result $? "doctor names the module"

uname26 jetwatt stat -- true > "$T/out" 2> "$T/err"
status=$?
exits 5 && form && says "kernel too old" "5.10"
result $? "kernel too old: unsupported"

uname26 jetwatt doctor > "$T/out" 2> "$T/err"
status=$?
exits 5 && shows "fail kernel"
result $? "doctor names the kernel"

# The GPU's driver is unloaded while the rest stays.
GPU=/sys/bus/platform/drivers/jetwatt-sim-gpu
echo 17000000.gpu > $GPU/unbind
knobs > "$T/without"
run jetwatt apply --dry-run MAXN
exits 0 && shows "gpu *missing" && says "no GPU clock"
result $? "GPU absent: the other knobs are switched"

run jetwatt apply c4-729600-g624750000-e3199000000
exits 2 && form && says "GPU has no level 624750000 Hz: no GPU clock" "nvgpu" && as_before "$T/without"
result $? "GPU absent: a mode that needs it is refused"

insmod $M/jetwatt.ko
run jetwatt list rails
exits 0 && shows "VDD_GPU_SOC .* in total" "^module "
result $? "GPU absent: the rails and their total are listed"

run jetwatt stat -- sleep 2
exits 0 && { grep -q "cores at .* MHz, GPU unknown, EMC" "$T/out" "$T/err" ||
	{ sed 's/^/# /' "$T/out" "$T/err"; false; }; }
result $? "GPU absent: stat measures"
rmmod jetwatt
echo 17000000.gpu > $GPU/bind

# Both chips in the device tree, neither answers.
echo 1000000 > $FAULT/fail_i2c_nak
insmod $M/jetwatt.ko
run jetwatt stat -- true
exits 5 && form && as_before "$T/before"
result $? "no chip answers: unsupported"

run jetwatt list clocks
exits 0 && shows "^17000000.gpu *unknown (not measured by" && ! grep 214748 "$T/out"
result $? "a GPU load that the governor has not asked for is unknown"

run jetwatt optimize --power 30 -- true
exits 5 && form && as_before "$T/before"
result $? "no chip answers: optimize changes nothing"

run jetwatt doctor
exits 5 && shows "fail chip"
result $? "doctor names the chips"

echo 0 > $FAULT/fail_i2c_nak
finish
