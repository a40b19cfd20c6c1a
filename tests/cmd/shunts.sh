#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=1 icount timeout=180 overlay=tests/sim/boards/unknown-shunts.dtso modules="jetwatt-sim;ina3221;jetwatt"
# Shunts that the device tree leaves out are not guessed; doctor says what to do.
. "${0%/*}/common.inc"
plan 2

run jetwatt doctor
shows "warn shunts" "VDD_CPU_CV (hwmon uses 10 mOhm)" "in3 (hwmon uses 10 mOhm)"
result $? "doctor names the rails and what hwmon takes"

shows "options jetwatt shunt=1-0040:1=10000,1-0040:2=10000 "
result $? "and the line that tells the module"
finish
