/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of CUDA's driver API that a training loop calls, for programs of the
 * simulated board. Names and arguments as NVIDIA documents them; simLoad() is
 * none of theirs: a data loader in place of files on a disk.
 */
#ifndef SIM_LIBCUDA_CUDA_H
#define SIM_LIBCUDA_CUDA_H

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraphExec_st *CUgraphExec;

#define CUDA_SUCCESS			0
#define CUDA_ERROR_INVALID_VALUE	1
#define CUDA_ERROR_NO_DEVICE		100
#define CUDA_ERROR_LAUNCH_FAILED	719

#define CU_CTX_SCHED_SPIN		1
#define CU_CTX_SCHED_BLOCKING_SYNC	4

/* What a kernel's first parameter points to; a kernel without parameters is one
 * more of the same piece of work. */
struct sim_cuda_work {
	unsigned int kind, permille, piece, pieces;
};

CUresult cuInit(unsigned int flags);
CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags);
CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			CUstream stream, void **params, void **extra);
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamSynchronize_ptsz(CUstream stream);
CUresult cuEventSynchronize(CUevent event);
CUresult cuCtxSynchronize(void);
CUresult simLoad(unsigned int kind, unsigned int permille);

#endif
