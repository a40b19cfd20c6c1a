#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=2 icount timeout=600 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" files="build/arm64/waits:/bin/waits"
# Minibatch boundaries from the CUDA calls of ten programs, compared with the programs' own times;
# the output of stat for backends that see none of their waits; and the measurements of doctor -p.
. "${0%/*}/common.inc"
. "${0%/*}/frameworks.inc"
plan 24

for p in pytorch-eager pytorch-compiled pytorch-graphs tensorflow jax onnxruntime tensorrt llama.cpp \
	vllm plain; do
	bounds uprobe spin $p
	result $? "minibatches of $p, which spins, from calls of libcuda"
done
SIM_CUDA_PAGEABLE=1
export SIM_CUDA_PAGEABLE
bounds uprobe spin pytorch-eager
result $? "pytorch-eager, spinning, whose item() copies to memory that is not pinned"
unset SIM_CUDA_PAGEABLE

# The programs of this loop wait in blocking calls of CUDA, which the module recognises by their
# system calls.
for p in pytorch-eager onnxruntime tensorrt vllm plain; do
	bounds module block $p
	result $? "minibatches of $p, which blocks, from the module"
done
export SIM_CUDA_HELPER=1
bounds tracepoint block jax
result $? "jax, blocking in libcuda's helper thread, from BPF on system calls"
unset SIM_CUDA_HELPER

# If a backend cannot see the waits of a program, stat reports that, with the reason.
for by in tracepoint module; do
	run jetwatt stat --probe $by -- frameworks llama.cpp --wait spin --minibatches 20
	exits 0 && shows "no waits for the GPU detected" "does not see waits that spin" "doctor -p"
	result $? "stat --probe $by of a job that spins: no bounds, with the reason"
done

frameworks vllm --wait spin --linger 600 &
job=$!
sleep 1
run jetwatt doctor -p $job
exits 0 && shows "cuEventSynchronize: [1-9]" "cuGraphLaunch: [1-9]" "uprobe: sees minibatches" \
	"module: sees no waits; the program spins"
result $? "doctor -p of a program whose worker spins: its calls, and which backends see them"

run jetwatt doctor -p $job --json
exits 0 && grep -q '"uprobe": [1-9]' "$T/out" && grep -q '"module": 0' "$T/out"
result $? "doctor -p --json: the waits that each backend sees"
# Kill the worker's process too, but not this shell, whose process has the same name.
for p in $(pidof frameworks); do
	[ "$p" = $$ ] || kill "$p"
done
wait

SIM_CUDA_HELPER=1 frameworks pytorch-eager --wait block --linger 600 &
job=$!
sleep 1
run jetwatt doctor -p $job
exits 0 && shows "thread cuda-EvtHandlr: [1-9].*poll of anon_inode:host1x_pollfd" "module: sees minibatches"
result $? "doctor -p of a program whose helper thread sleeps: the call in which it sleeps"
kill $job
wait

# This program has the CUDA runtime built in, which calls functions of libcuda that are not
# exported.
SIM_CUDA_HIDDEN=1 frameworks plain --wait spin --linger 600 &
job=$!
sleep 1
run jetwatt doctor -p $job
exits 0 && shows "cudaMemcpy: [1-9]" "cudaLaunchKernel: [1-9]" "uprobe: sees minibatches"
result $? "doctor -p of a program with a static runtime that calls unexported functions"
kill $job
wait

run jetwatt doctor -p 4194304
exits 1 && form && says "no such process"
result $? "doctor -p without such a process"

finish
