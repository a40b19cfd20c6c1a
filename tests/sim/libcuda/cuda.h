/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of CUDA's driver API that training loops and servers call, for programs of the simulated
 * board. Names and arguments are those of NVIDIA (cuda.h, CUDA 13.0), except simLoad(): a data
 * loader without files on a disk.
 */
#ifndef SIM_LIBCUDA_CUDA_H
#define SIM_LIBCUDA_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUlaunchConfig_st CUlaunchConfig;

#define CUDA_SUCCESS			0
#define CUDA_ERROR_INVALID_VALUE	1
#define CUDA_ERROR_OUT_OF_MEMORY	2
#define CUDA_ERROR_NO_DEVICE		100
#define CUDA_ERROR_NOT_FOUND		500
#define CUDA_ERROR_NOT_READY		600
#define CUDA_ERROR_LAUNCH_FAILED	719

#define CU_CTX_SCHED_SPIN		1
#define CU_CTX_SCHED_BLOCKING_SYNC	4
#define CU_EVENT_BLOCKING_SYNC		1

/*
 * First parameter of a kernel. A kernel that is launched without parameters belongs to the piece of
 * work before it.
 * @flop, @bytes: operations and memory traffic of a kernel of known work; 0: a piece of a minibatch
 */
struct sim_cuda_work {
	unsigned int kind, permille, piece, pieces;
	uint64_t flop, bytes;
};

#define SIM_GRID unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, \
	unsigned int by, unsigned int bz, unsigned int shared

CUresult cuInit(unsigned int flags);
CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags);
CUresult cuLaunchKernel(CUfunction f, SIM_GRID, CUstream stream, void **params, void **extra);
CUresult cuLaunchKernel_ptsz(CUfunction f, SIM_GRID, CUstream stream, void **params, void **extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra);
CUresult cuLaunchCooperativeKernel(CUfunction f, SIM_GRID, CUstream stream, void **params);
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamSynchronize_ptsz(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuEventCreate(CUevent *event, unsigned int flags);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventQuery(CUevent event);
CUresult cuCtxSynchronize(void);
CUresult cuCtxSynchronize_v2(CUcontext context);
typedef void (*CUhostFn)(void *data);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size);
CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t size);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream);
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags, int *status);
CUresult simLoad(unsigned int kind, unsigned int permille);

#endif
