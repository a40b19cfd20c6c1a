/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the CUDA runtime that frameworks call (names and arguments as in cuda_runtime_api.h
 * of CUDA 12). It is built as libcudart.so.12, and is linked into jobs/frameworks, as NVIDIA's
 * static library is linked into programs.
 */
#ifndef SIM_LIBCUDA_CUDART_H
#define SIM_LIBCUDA_CUDART_H

#include "cuda.h"

struct dim3 {
	unsigned int x, y, z;
};

#define cudaMemcpyHostToDevice		1
#define cudaMemcpyDeviceToHost		2
#define cudaDeviceScheduleSpin		1
#define cudaDeviceScheduleBlockingSync	4

int cudaSetDeviceFlags(unsigned int flags);
int cudaFree(void *p);
int cudaLaunchKernel(const void *f, struct dim3 grid, struct dim3 block, void **args, size_t shared,
		     CUstream stream);
int cudaGraphLaunch(CUgraphExec graph, CUstream stream);
int cudaStreamSynchronize(CUstream stream);
int cudaDeviceSynchronize(void);
int cudaEventCreateWithFlags(CUevent *event, unsigned int flags);
int cudaEventRecord(CUevent event, CUstream stream);
int cudaEventSynchronize(CUevent event);
int cudaEventQuery(CUevent event);
int cudaMemcpy(void *to, const void *from, size_t size, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, CUstream stream);

#endif
