#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=2 icount timeout=600 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" files="build/arm64/waits:/bin/waits"
# Minibatch bounds of ten programs' calls of CUDA, beside what they say themselves;
# what stat says where a backend sees none of their waits; and what doctor -p measures.
. "${0%/*}/common.inc"
. "${0%/*}/frameworks.inc"
plan 23

for p in pytorch-eager pytorch-compiled pytorch-graphs tensorflow jax onnxruntime tensorrt llama.cpp \
	vllm plain; do
	bounds uprobe spin $p
	result $? "$p, spinning, by libcuda's calls"
done

# Blocking, by the system calls.
for p in pytorch-eager onnxruntime tensorrt vllm plain; do
	bounds module block $p
	result $? "$p, blocking, by the module"
done
export SIM_CUDA_HELPER=1
bounds tracepoint block jax
result $? "jax, blocking in libcuda's helper thread, by BPF on system calls"
unset SIM_CUDA_HELPER

# What a backend cannot see it says.
for by in tracepoint module; do
	run jetwatt stat --probe $by -- frameworks llama.cpp --wait spin --minibatches 20
	exits 0 && shows "no waits for the GPU detected" "does not see waits that spin" "doctor -p"
	result $? "stat --probe $by of a job that spins: no bound, and why"
done

frameworks vllm --wait spin --linger 600 &
job=$!
sleep 1
run jetwatt doctor -p $job
exits 0 && shows "cuEventSynchronize: [1-9]" "cudaGraphLaunch: [1-9]" "uprobe: sees minibatches" \
	"module: sees no waits; the program spins"
result $? "doctor -p of a program that spins in its worker: calls, and who sees them"

run jetwatt doctor -p $job --json
exits 0 && grep -q '"uprobe": [1-9]' "$T/out" && grep -q '"module": 0' "$T/out"
result $? "doctor -p --json"
# The worker too, but not this shell, which has the same name.
for p in $(pidof frameworks); do
	[ "$p" = $$ ] || kill "$p"
done
wait

SIM_CUDA_HELPER=1 frameworks pytorch-eager --wait block --linger 600 &
job=$!
sleep 1
run jetwatt doctor -p $job
exits 0 && shows "thread cuda-EvtHandlr: [1-9].*poll of anon_inode:host1x_pollfd" "module: sees minibatches"
result $? "doctor -p of a program whose helper thread sleeps: in which call"
kill $job
wait

# The runtime is in the program, and the driver's functions are not the exported ones.
SIM_CUDA_HIDDEN=1 frameworks plain --wait spin --linger 600 &
job=$!
sleep 1
run jetwatt doctor -p $job
exits 0 && shows "cudaMemcpy: [1-9]" "cudaLaunchKernel: [1-9]" "uprobe: sees minibatches"
result $? "doctor -p of a static runtime that calls what libcuda does not export"
kill $job
wait

run jetwatt doctor -p 4194304
exits 1 && form && says "no such process"
result $? "doctor -p of no process"

finish
