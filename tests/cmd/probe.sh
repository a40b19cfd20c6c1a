#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=500 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# Test how stat sees waits with each backend, which processes it counts, its options -r, --fail-if
# and -e, and that it leaves no probe and no cgroup behind.
. "${0%/*}/common.inc"
plan 25

CG=$T/cg
mkdir -p "$CG"
before=$(programs)
# backend FILE: print the name of the backend that was used for the result in FILE
backend() { sed -n 's/^ *"backend": "\(.*\)",*$/\1/p' "$1"; }

umount /sys/fs/cgroup
! grep -q ' cgroup2 ' /proc/mounts && run jetwatt stat --json -o "$T/json" -- train --minibatches 40
exits 0 && [ "$(backend "$T/json")" = tracepoint ] && [ "$(number minibatches "$T/json")" = 40 ]
result $? "without cgroup v2, waits are detected by tracepoints"
mount -t cgroup2 cgroup2 /sys/fs/cgroup

mount -t cgroup2 cgroup2 "$CG"
run jetwatt stat --json -o "$T/json" -- train --minibatches 40
exits 0 && [ "$(backend "$T/json")" = tracepoint ] && [ "$(number minibatches "$T/json")" = 40 ]
result $? "system calls, with a cgroup for the job"

run jetwatt stat --json -o "$T/json" -- sh -c 'setsid train --minibatches 40 & wait; exit 3'
exits 3 && [ "$(backend "$T/json")" = tracepoint ] && [ "$(number pollfd "$T/json")" = 40 ] &&
	[ "$(number minibatches "$T/json")" = 40 ]
result $? "a job started by a shell in its own session is counted"

clean
result $? "cgroup and BPF programs are removed afterwards"

# The two waits of each minibatch are equally long; stat can tell them apart only by the pause for
# the job's data loader.
echo loader > /sys/module/jetwatt_sim/parameters/workload
run jetwatt stat --json -o "$T/json" -- cutrain --minibatches 40 --syncs 2 --wait spin
echo resnet > /sys/module/jetwatt_sim/parameters/workload
echo "# $(number minibatches "$T/json") minibatches, $(number stream "$T/json") waits, $(number launches "$T/json") launches"
exits 0 && [ "$(backend "$T/json")" = uprobe ] && [ "$(number stream "$T/json")" = 80 ] &&
	[ "$(number launches "$T/json")" = 320 ] && [ "$(number minibatches "$T/json")" = 40 ] &&
	[ "$(number waits_per_minibatch "$T/json")" = 2 ] && grep -q '"launches_seen": true' "$T/json"
result $? "libcuda's calls: waits of a job that spins, and its launches"

run jetwatt stat --json -o "$T/json" -- cutrain --minibatches 40 --wait block
exits 0 && [ "$(backend "$T/json")" = uprobe ] && [ "$(number stream "$T/json")" = 40 ] &&
	[ "$(number minibatches "$T/json")" = 40 ] && ! grep -q pollfd "$T/json"
result $? "libcuda's calls: the system calls below them are not counted again"

run jetwatt stat --probe tracepoint --json -o "$T/json" -- cutrain --minibatches 40 --wait block
exits 0 && [ "$(backend "$T/json")" = tracepoint ] && [ "$(number pollfd "$T/json")" = 40 ] &&
	[ "$(number minibatches "$T/json")" = 40 ] && ! grep -q '"stream"' "$T/json"
result $? "--probe tracepoint: the same job from its system calls"

run jetwatt stat --probe module --json -o "$T/json" -- train --minibatches 40
exits 0 && [ "$(backend "$T/json")" = module ] && [ "$(number minibatches "$T/json")" = 40 ]
result $? "--probe module: the same job from the module"

run jetwatt stat --probe module --json -o "$T/json" -- train --minibatches 40 --wait syncpt --helper 1
echo "# $(number minibatches "$T/json") minibatches, $(number syncpoint "$T/json") own waits"
exits 0 && [ "$(number syncpoint "$T/json")" = 40 ] && [ "$(number minibatches "$T/json")" = 40 ] &&
	! grep -q cuda-EvtHandlr "$T/out" && ! grep -q '"helper":' "$T/json"
result $? "waits of CUDA's helper thread besides those of the job end no minibatch"

run jetwatt stat --probe module -- train --minibatches 40 --wait helper
exits 0 && grep -q "waits seen by module" "$T/out" && grep -q "warning: .*cuda-EvtHandlr" "$T/out"
result $? "stat warns if only CUDA's helper thread waits"

run jetwatt stat --probe marker --json -o "$T/json" -- cutrain --minibatches 40 --wait spin --marks 1
exits 0 && [ "$(backend "$T/json")" = marker ] && [ "$(number minibatches "$T/json")" = 40 ]
result $? "--probe marker: marks through the library"

run jetwatt stat --probe marker --json -o "$T/json" -- sh -c 'for i in 1 2 3 4 5 6; do
	jetwatt mark begin step; train --minibatches 2; jetwatt mark end step; done'
exits 0 && [ "$(backend "$T/json")" = marker ] && [ "$(number minibatches "$T/json")" = 6 ] &&
	[ "$(number minibatches_used "$T/json")" = 6 ]
result $? "--probe marker: marks by jetwatt mark"

run jetwatt stat --probe marker --json -o "$T/json" -- sh -c 'for i in 1 2 3 4 5 6 7; do
	train --minibatches 2; echo step >&$JETWATT_MARK_FD; done'
exits 0 && [ "$(backend "$T/json")" = marker ] && [ "$(number mark "$T/json")" = 7 ] &&
	[ "$(number minibatches "$T/json")" = 6 ]
result $? "--probe marker: marks written by the shell"

run jetwatt mark begin step
exits 1 && form && says JETWATT_MARK_FD
result $? "jetwatt mark without JETWATT_MARK_FD is an error"

run jetwatt stat -r 3 --json -o "$T/json" -- train --minibatches 30
exits 0 && [ "$(grep -c '"total_j"' "$T/json")" = 3 ] &&
	[ "$(grep -c '"minibatches": 30' "$T/json")" = 3 ] && grep -q '"J/minibatch"' "$T/json" &&
	[ "$(grep -c error_pct "$T/json")" -gt 5 ]
result $? "-r 3: three runs and their means"

run jetwatt stat -r 2 -- train --minibatches 30
exits 0 && shows "mean of 2 runs" "J/minibatch .*+- .* %"
result $? "-r 2: means with standard deviation"

run jetwatt stat --fail-if 'J/minibatch.p95 > 1000 || ms/minibatch < 0.001' -- train --minibatches 30
exits 0
result $? "--fail-if with a false expression: status 0"

run jetwatt stat --fail-if 'J/minibatch.p95 > 0.0001' -- train --minibatches 30
exits 1 && says "fail-if condition is true"
result $? "--fail-if with a true expression: status 1"

run jetwatt stat --fail-if 'joules > 1' -- train
exits 2 && form && says "J/minibatch"
result $? "--fail-if with an unknown metric is refused before the job starts"

run jetwatt stat -e VDD_GPU_SOC --json -o "$T/json" -- train --minibatches 30
exits 0 && grep -q '"scope": "chosen rails"' "$T/json" && [ "$(number minibatches "$T/json")" = 30 ] &&
	[ "$(number total_j "$T/json")" = "$(number VDD_GPU_SOC "$T/json")" ]
result $? "-e: the total is that of the one rail"

run jetwatt stat -e VDD_GPU_SOC -e VDD_CPU_CV --json -o "$T/json" -- train --minibatches 30
exits 0 && awk -v sum="$(number total_j "$T/json")" -v a="$(number VDD_GPU_SOC "$T/json")" -v b="$(number VDD_CPU_CV "$T/json")" \
	'BEGIN { r = sum / (a + b); exit !(a > 0 && b > 0 && r > 0.999 && r < 1.001) }'
result $? "-e given twice: the total is the sum of both rails"

run jetwatt stat -e VDD_GPU -- train
exits 2 && form && says "VDD_GPU_SOC"
result $? "-e: an unknown rail is refused, and the error lists the rails"

mkdir -p "$CG/job/below"
sh -c 'echo $$ > "$1/job/below/cgroup.procs"; exec train --seconds 8' - "$CG" &
until grep -q . "$CG/job/below/cgroup.procs"; do sleep 0.1; done
run jetwatt stat --cgroup "$CG/job" --json -o "$T/json"
wait
exits 0 && [ "$(number waits "$T/json")" -gt 20 ]
result $? "--cgroup: all processes in it, until it is empty"

run jetwatt stat --cgroup "$CG/nothing"
exits 1 && form
result $? "--cgroup: a cgroup that does not exist is an error"

# After stat was killed, no probe must be left, and the next run of stat must remove the cgroup of
# the killed one.
jetwatt stat -- train --seconds 30 > /dev/null 2>&1 &
stat=$!
sleep 3
kill -KILL $stat
wait $stat 2> /dev/null
pid=$(pidof train)
kill -TERM "$pid"
while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done
run jetwatt stat -- true
exits 0 && clean
result $? "killed with SIGKILL: the next run removes its cgroup"

umount "$CG"
finish
