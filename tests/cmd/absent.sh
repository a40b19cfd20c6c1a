#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=12 icount timeout=180 alone files="build/arm64/tests/cmd/uname26:/bin/uname26"
# If something is missing, the error names it and says how to get it.
. "${0%/*}/common.inc"
plan 16

M=/lib/modules/jetwatt

run jetwatt stat -- true
exits 1 && form && says "not loaded" "modprobe jetwatt"
result $? "no knobs: stat works without them, and only misses the module"

run jetwatt apply MAXN
exits 5 && form && says "no CPU clock"
result $? "no knobs: apply is unsupported"

run jetwatt list knobs
exits 0 && shows "cpu    missing: .*cpufreq" "gpu    missing: .*devfreq" "emc    missing: .*nvpmodel_clk_cap" "fix: load"
result $? "no knobs: each is named, with a fix"

modprobe governor_simpleondemand 2>/dev/null || insmod "$(find /lib/modules -name 'governor_simpleondemand.ko*' | head -n 1)"
insmod $M/jetwatt-sim.ko
knobs > "$T/before"

run jetwatt stat -- true
exits 1 && form && says "not loaded" "modprobe jetwatt"
result $? "module not loaded: the error says how to load it"

run jetwatt optimize --power 30 -- true
exits 1 && form && says "not loaded" && as_before "$T/before"
result $? "module not loaded: optimize changes nothing"

run jetwatt doctor
exits 1 && shows "fail module" "ok   board"
result $? "module not loaded: doctor names it"

uname26 jetwatt stat -- true > "$T/out" 2> "$T/err"
status=$?
exits 5 && form && says "kernel too old" "5.10"
result $? "kernel too old: stat is unsupported"

uname26 jetwatt doctor > "$T/out" 2> "$T/err"
status=$?
exits 5 && shows "fail kernel"
result $? "kernel too old: doctor names it"

# The GPU's driver is unbound; all other drivers stay.
GPU=/sys/bus/platform/drivers/jetwatt-sim-gpu
echo 17000000.gpu > $GPU/unbind
knobs > "$T/without"
run jetwatt apply --dry-run MAXN
exits 0 && shows "gpu *missing" && says "no GPU clock"
result $? "no GPU driver: apply sets the other knobs"

run jetwatt apply c4-729600-g624750000-e3199000000
exits 2 && form && says "GPU has no level 624750000 Hz: no GPU clock" "nvgpu" && as_before "$T/without"
result $? "no GPU driver: a mode with a GPU clock is refused"

insmod $M/jetwatt.ko
run jetwatt list rails
exits 0 && shows "VDD_GPU_SOC .* in total" "^module "
result $? "no GPU driver: rails and total are listed"

run jetwatt stat -- sleep 2
exits 0 && { grep -q "cores at .* MHz, GPU unknown, EMC" "$T/out" "$T/err" ||
	{ sed 's/^/# /' "$T/out" "$T/err"; false; }; }
result $? "no GPU driver: stat measures"
rmmod jetwatt
echo 17000000.gpu > $GPU/bind

# Both chips are in the device tree, but neither responds.
echo 1000000 > $FAULT/fail_i2c_nak
insmod $M/jetwatt.ko
run jetwatt stat -- true
exits 5 && form && as_before "$T/before"
result $? "no chip responds: stat is unsupported"

run jetwatt list clocks
exits 0 && shows "^17000000.gpu *unknown (not measured by" && ! grep 214748 "$T/out"
result $? "the GPU load is unknown if its governor does not poll"

run jetwatt optimize --power 30 -- true
exits 5 && form && as_before "$T/before"
result $? "no chip responds: optimize changes nothing"

run jetwatt doctor
exits 5 && shows "fail chip"
result $? "no chip responds: doctor names the chips"

echo 0 > $FAULT/fail_i2c_nak
finish
