#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=1 icount timeout=180 overlay=tests/sim/boards/unknown-shunts.dtso modules="jetwatt-sim;ina3221;jetwatt"
# jetwatt must not guess shunt resistances that the device tree lacks, and doctor must say how to
# set them.
. "${0%/*}/common.inc"
plan 2

run jetwatt doctor
shows "warn shunts" "VDD_CPU_CV (hwmon uses 10 mOhm)" "in3 (hwmon uses 10 mOhm)"
result $? "doctor names the rails and the resistance that hwmon assumes"

shows "options jetwatt shunt=1-0040:1=10000,1-0040:2=10000 "
result $? "and the module parameter that sets the resistance"
finish
