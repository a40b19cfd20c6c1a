#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=2 icount timeout=240 overlay=tests/sim/boards/whole/xavier-nx.dtso modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" files="build/arm64/waits:/bin/waits"
# Programs that block in libcuda with JetPack 5, where waits use nvhost-ctrl.
. "${0%/*}/common.inc"
. "${0%/*}/frameworks.inc"
plan 8

[ -c /dev/nvhost-ctrl ] && [ ! -e /dev/host1x-fence ] && [ ! -e /dev/dri/renderD128 ]
result $? "Xavier NX has the nodes of JetPack 5"

for by in module tracepoint; do
	for how in pollfd syncpt; do
		export SIM_CUDA_SLEEP=$how
		bounds $by block llama.cpp
		result $? "llama.cpp, sleeping by $how, from $by"
	done
done
unset SIM_CUDA_SLEEP

export SIM_CUDA_HELPER=1
bounds module block jax
result $? "jax, blocking in libcuda's helper thread, from the module"

frameworks pytorch-eager --wait block --linger 600 &
job=$!
sleep 1
run jetwatt doctor -p $job
exits 0 && shows "thread cuda-EvtHandlr: [1-9].*poll of anon_inode:nvhost-event-poll-fd" "module: sees minibatches"
result $? "doctor -p names the descriptor on which the helper thread sleeps"
kill $job
wait
unset SIM_CUDA_HELPER

run jetwatt stat --probe module --json -o "$T/json" -- cutrain --minibatches 30 --wait block
exits 0 && [ "$(number pollfd "$T/json")" = 30 ] && [ "$(number minibatches "$T/json")" = 30 ]
result $? "stat of a training job with blocking waits"

finish
