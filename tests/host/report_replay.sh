#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A board report from a guest is replayed on the host. A second guest, booted with the overlay of
# the reported sensors, has the same chips and rails as the first.
cd "$(dirname "$0")/../.." || exit 1
d=build/host/report_replay
rm -rf "$d"
. tests/host/check.inc
echo 1..3

# boot OVERLAY OUT COMMAND
boot()
{
	mkdir -p "$2"
	tests/qemu/guest --overlay "$1" --out "$2" --timeout 250 --module governor_simpleondemand \
		--module jetwatt-sim --module ina3221 --module jetwatt -- sh -c "$3"
}
# of DIR: print the chips and rails of a report with their buses. Knobs are not compared, because
# the overlay has only the sensors.
of() { jq -cS '(.chips[] | {id, model, bus, addr, bus_hz}), (.rails[] | {id, "label": .label, chip, channel, shunt_uohm, enabled})' "$1/report"; }

report='jetwatt doctor --report /out/report --loop true'
check "a board writes a report" "boot tests/sim/orin.dtso $d/first '$report' && jq -e '.files | length > 100' $d/first/report"
check "the report is replayed" "build/jetwatt doctor --replay $d/first/report --into $d/board &&
	dtc -@ -q -I dts -O dtb -o $d/sensors.dtbo $d/board/sensors.dtso"
check "the replay has the same chips and rails" "boot $d/board/sensors.dtso $d/second '$report' &&
	of $d/first > $d/a && of $d/second > $d/b && grep VDD_GPU_SOC $d/a && diff $d/a $d/b"
exit $failed
