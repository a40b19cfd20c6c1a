// SPDX-License-Identifier: GPL-2.0-only
/*
 * libcuda.so.1 of the simulated board: entry points (further ones: queue.c). With SIM_CUDA_HIDDEN
 * in the environment, cuGetProcAddress_v2() returns the hidden_* functions, which are not exported,
 * for seven names.
 */
#include <stdlib.h>
#include <string.h>

#include "queue.h"

static CUresult launch(SIM_GRID, void **params)
{
	(void)shared;
	if (!gx || !gy || !gz || !bx || !by || !bz)
		return CUDA_ERROR_INVALID_VALUE;
	return params ? sim_submit(params[0]) : CUDA_SUCCESS;
}

static CUresult wait_event(CUevent event)
{
	return event ? sim_wait_for(event->mark, event->flags & CU_EVENT_BLOCKING_SYNC) : sim_synchronise();
}

static CUresult query_event(CUevent event)
{
	return sim_query(event ? event->mark : sim_mark());
}

/*
 * OWN(n) makes the code of a function unique, because a compiler may merge identical functions,
 * which a probe could then not tell apart.
 */
#define OWN(n)	__asm__ volatile("" : : "i"(n))

CUresult cuLaunchKernel(CUfunction f, SIM_GRID, CUstream stream, void **params, void **extra)
{
	(void)f, (void)stream, (void)extra;
	OWN(1);
	return launch(gx, gy, gz, bx, by, bz, shared, params);
}

CUresult cuLaunchKernel_ptsz(CUfunction f, SIM_GRID, CUstream stream, void **params, void **extra)
{
	(void)f, (void)stream, (void)extra;
	OWN(2);
	return launch(gx, gy, gz, bx, by, bz, shared, params);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
	(void)config, (void)f, (void)extra;
	OWN(3);
	return params ? sim_submit(params[0]) : CUDA_SUCCESS;
}

CUresult cuLaunchCooperativeKernel(CUfunction f, SIM_GRID, CUstream stream, void **params)
{
	(void)f, (void)stream;
	OWN(4);
	return launch(gx, gy, gz, bx, by, bz, shared, params);
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
	(void)stream;
	OWN(5);
	return sim_submit((const struct sim_cuda_work *)graph);
}

CUresult cuStreamSynchronize(CUstream stream)
{
	OWN(6);
	return stream == (CUstream)-1 ? CUDA_ERROR_INVALID_VALUE : sim_synchronise();
}

CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
	OWN(7);
	return stream == (CUstream)-1 ? CUDA_ERROR_INVALID_VALUE : sim_synchronise();
}

CUresult cuStreamQuery(CUstream stream)
{
	OWN(8);
	return stream == (CUstream)-1 ? CUDA_ERROR_INVALID_VALUE : sim_query(sim_mark());
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	*event = calloc(1, sizeof(**event));
	if (!*event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*event)->flags = flags;
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	(void)stream;
	event->mark = sim_mark();
	return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event)
{
	OWN(9);
	return event == (CUevent)-1 ? CUDA_ERROR_INVALID_VALUE : wait_event(event);
}

CUresult cuEventQuery(CUevent event)
{
	OWN(10);
	return event == (CUevent)-1 ? CUDA_ERROR_INVALID_VALUE : query_event(event);
}

CUresult cuCtxSynchronize(void)
{
	OWN(11);
	return sim_synchronise();
}

CUresult cuCtxSynchronize_v2(CUcontext context)
{
	(void)context;
	OWN(12);
	return sim_synchronise();
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data)
{
	(void)stream;
	OWN(23);
	return sim_call_back(fn, data);
}

/* The simulated copies move no data, because only the order of calls matters. */
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
	(void)from;
	OWN(13);
	return !to || !size ? CUDA_ERROR_INVALID_VALUE : sim_synchronise();
}

CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t size)
{
	(void)from;
	OWN(14);
	return !to || !size ? CUDA_ERROR_INVALID_VALUE : sim_synchronise();
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
	(void)to;
	OWN(15);
	return !from || !size ? CUDA_ERROR_INVALID_VALUE : sim_synchronise();
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
	(void)from, (void)stream;
	OWN(24);
	if (!to || !size)
		return CUDA_ERROR_INVALID_VALUE;
	return getenv("SIM_CUDA_PAGEABLE") ? sim_synchronise() : CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
	(void)to, (void)stream;
	return !from || !size ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Functions without an exported symbol, which cuGetProcAddress_v2() returns instead of the
 * exported ones if SIM_CUDA_HIDDEN is set: a probe cannot find them by name. */
static CUresult hidden_launch(CUfunction f, SIM_GRID, CUstream stream, void **params, void **extra)
{
	(void)f, (void)stream, (void)extra;
	OWN(16);
	return launch(gx, gy, gz, bx, by, bz, shared, params);
}

static CUresult hidden_graph(CUgraphExec graph, CUstream stream)
{
	(void)stream;
	OWN(17);
	return sim_submit((const struct sim_cuda_work *)graph);
}

static CUresult hidden_stream(CUstream stream)
{
	OWN(18);
	return stream == (CUstream)-1 ? CUDA_ERROR_INVALID_VALUE : sim_synchronise();
}

static CUresult hidden_event(CUevent event)
{
	OWN(19);
	return event == (CUevent)-1 ? CUDA_ERROR_INVALID_VALUE : wait_event(event);
}

static CUresult hidden_query(CUevent event)
{
	OWN(20);
	return event == (CUevent)-1 ? CUDA_ERROR_INVALID_VALUE : query_event(event);
}

static CUresult hidden_context(void)
{
	OWN(21);
	return sim_synchronise();
}

static CUresult hidden_copy(void *to, CUdeviceptr from, size_t size)
{
	(void)from;
	OWN(22);
	return !to || !size ? CUDA_ERROR_INVALID_VALUE : sim_synchronise();
}

/* These are the names without suffixes such as _v2, as cudart requests them. */
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags, int *status)
{
	static const struct { const char *name; void *exported, *hidden; } proc[] = {
		{ "cuLaunchKernel", cuLaunchKernel, hidden_launch },
		{ "cuGraphLaunch", cuGraphLaunch, hidden_graph },
		{ "cuStreamSynchronize", cuStreamSynchronize, hidden_stream },
		{ "cuEventSynchronize", cuEventSynchronize, hidden_event },
		{ "cuEventQuery", cuEventQuery, hidden_query },
		{ "cuCtxSynchronize", cuCtxSynchronize, hidden_context },
		{ "cuMemcpyDtoH", cuMemcpyDtoH_v2, hidden_copy },
		{ "cuMemcpyHtoD", cuMemcpyHtoD_v2, cuMemcpyHtoD_v2 },
		{ "cuMemcpyDtoHAsync", cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2 },
		{ "cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2 },
		{ "cuEventCreate", cuEventCreate, cuEventCreate },
		{ "cuEventRecord", cuEventRecord, cuEventRecord },
		{ "cuInit", cuInit, cuInit },
		{ "cuDevicePrimaryCtxSetFlags", cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags },
	};

	(void)version, (void)flags;
	for (size_t i = 0; i < sizeof(proc) / sizeof(proc[0]); i++)
		if (!strcmp(symbol, proc[i].name)) {
			*pfn = getenv("SIM_CUDA_HIDDEN") ? proc[i].hidden : proc[i].exported;
			if (status)
				*status = 0;
			return CUDA_SUCCESS;
		}
	*pfn = NULL;
	if (status)
		*status = 1;
	return CUDA_ERROR_NOT_FOUND;
}
