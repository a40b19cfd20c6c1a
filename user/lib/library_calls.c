// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The table of entry points of libcuda and the CUDA runtime that wait for the GPU, query it, launch
 * work, or request a callback.
 *
 * Names are those that the libraries export. Sources for the driver: names and versions are those
 * of cudaTypedefs.h in CUDA 11.6 (the version is the suffix in PFN_cuMemcpyDtoH_v7000_ptds). The
 * versions of cuLaunchKernelEx (11060) and cuCtxSynchronize_v2 (13000) were determined from
 * programs that were built with several CUDA releases. The names and versions of the CUDA runtime's
 * functions (cuda_runtime_api.h) are unverified. No code depends on a version.
 *
 * Suffixes of the names: _v2 marks the current one of several signatures of a function. Programs
 * that are compiled with one default stream per thread (CUDA_API_PER_THREAD_DEFAULT_STREAM) call
 * the names with _ptsz if the function has a stream argument, and with _ptds if it has none.
 * cuEventSynchronize and cuEventQuery have no such variant.
 *
 * A synchronous copy waits for the work that was submitted to its stream before the copy. Among
 * others, the table does not contain:
 * - copies within device memory and cuMemcpyPeer: they are not synchronous with the host
 *   ("API synchronization behavior" in the CUDA manuals);
 * - asynchronous copies of rectangles and of several ranges, and cuMemcpyHtoDAsync;
 * - cuMemFree, cuModuleUnload and others that synchronise as a side effect.
 */
#include "lib/library.h"

#include <string.h>

#define STREAM	JETWATT_LIBRARY_STREAM
#define EVENT	JETWATT_LIBRARY_EVENT
#define CONTEXT	JETWATT_LIBRARY_CONTEXT
#define COPY	JETWATT_LIBRARY_COPY
#define ASYNC	JETWATT_LIBRARY_COPY_ASYNC
#define QUERY	JETWATT_LIBRARY_QUERY
#define LAUNCH	JETWATT_LIBRARY_LAUNCH
#define CALLBACK JETWATT_LIBRARY_CALLBACK

/* The third column is CUDA_VERSION of the first release that exports the name. */
static const struct jetwatt_library_entry entry[] = {
	/* cuda.h: "Stream Management", "Event Management", "Context Management" */
	{ "cuStreamSynchronize", STREAM, 2000 },
	{ "cuStreamSynchronize_ptsz", STREAM, 7000 },
	{ "cuEventSynchronize", EVENT, 2000 },
	{ "cuCtxSynchronize", CONTEXT, 2000 },
	{ "cuCtxSynchronize_v2", CONTEXT, 13000 },
	{ "cuStreamQuery", QUERY, 2000 },
	{ "cuStreamQuery_ptsz", QUERY, 7000 },
	{ "cuEventQuery", QUERY, 2000 },
	/* cuda.h: "Memory Management" */
	{ "cuMemcpy", COPY, 4000 },
	{ "cuMemcpy_ptds", COPY, 7000 },
	{ "cuMemcpyDtoH_v2", COPY, 3020 },
	{ "cuMemcpyDtoH_v2_ptds", COPY, 7000 },
	{ "cuMemcpyDtoHAsync_v2", ASYNC, 3020 },
	{ "cuMemcpyDtoHAsync_v2_ptsz", ASYNC, 7000 },
	{ "cuMemcpyAsync", ASYNC, 4000 },
	{ "cuMemcpyAsync_ptsz", ASYNC, 7000 },
	{ "cuMemcpyHtoD_v2", COPY, 3020 },
	{ "cuMemcpyHtoD_v2_ptds", COPY, 7000 },
	{ "cuMemcpyAtoH_v2", COPY, 3020 },
	{ "cuMemcpyAtoH_v2_ptds", COPY, 7000 },
	{ "cuMemcpy2D_v2", COPY, 3020 },
	{ "cuMemcpy2D_v2_ptds", COPY, 7000 },
	{ "cuMemcpy2DUnaligned_v2", COPY, 3020 },
	{ "cuMemcpy2DUnaligned_v2_ptds", COPY, 7000 },
	{ "cuMemcpy3D_v2", COPY, 3020 },
	{ "cuMemcpy3D_v2_ptds", COPY, 7000 },
	/* cuda.h: "Execution Control", "Graph Management" */
	{ "cuLaunchKernel", LAUNCH, 4000 },
	{ "cuLaunchKernel_ptsz", LAUNCH, 7000 },
	{ "cuLaunchKernelEx", LAUNCH, 11060 },
	{ "cuLaunchKernelEx_ptsz", LAUNCH, 11060 },
	{ "cuLaunchCooperativeKernel", LAUNCH, 9000 },
	{ "cuLaunchCooperativeKernel_ptsz", LAUNCH, 9000 },
	{ "cuLaunchCooperativeKernelMultiDevice", LAUNCH, 9000 },
	{ "cuGraphLaunch", LAUNCH, 10000 },
	{ "cuGraphLaunch_ptsz", LAUNCH, 10000 },
	{ "cuLaunchHostFunc", CALLBACK, 10000 },
	{ "cuLaunchHostFunc_ptsz", CALLBACK, 10000 },
	{ "cuStreamAddCallback", CALLBACK, 5000 },
	{ "cuStreamAddCallback_ptsz", CALLBACK, 7000 },
	/*
	 * cuda_runtime_api.h. If a function of the runtime calls the driver, the call of the
	 * runtime and the call of the driver are nested, and count once. Since CUDA 11.3 the
	 * runtime gets the driver's addresses from cuGetProcAddress(); depending on the version,
	 * these are the addresses of the exported functions or others.
	 */
	{ "cudaStreamSynchronize", STREAM, 2000 },
	{ "cudaStreamSynchronize_ptsz", STREAM, 7000 },
	{ "cudaEventSynchronize", EVENT, 2000 },
	{ "cudaDeviceSynchronize", CONTEXT, 4000 },
	{ "cudaStreamQuery", QUERY, 2000 },
	{ "cudaStreamQuery_ptsz", QUERY, 7000 },
	{ "cudaEventQuery", QUERY, 2000 },
	{ "cudaMemcpy", COPY, 2000 },
	{ "cudaMemcpy_ptds", COPY, 7000 },
	{ "cudaMemcpy2D", COPY, 2000 },
	{ "cudaMemcpy2D_ptds", COPY, 7000 },
	{ "cudaMemcpy3D", COPY, 2000 },
	{ "cudaMemcpy3D_ptds", COPY, 7000 },
	{ "cudaMemcpyFromSymbol", COPY, 2000 },
	{ "cudaMemcpyFromSymbol_ptds", COPY, 7000 },
	{ "cudaLaunchKernel", LAUNCH, 7000 },
	{ "cudaLaunchKernel_ptsz", LAUNCH, 7000 },
	{ "cudaLaunchKernelExC", LAUNCH, 11060 },
	{ "cudaLaunchKernelExC_ptsz", LAUNCH, 11060 },
	{ "cudaLaunchCooperativeKernel", LAUNCH, 9000 },
	{ "cudaLaunchCooperativeKernel_ptsz", LAUNCH, 9000 },
	{ "cudaGraphLaunch", LAUNCH, 10000 },
	{ "cudaGraphLaunch_ptsz", LAUNCH, 10000 },
};

#define NR_ENTRIES	(sizeof(entry) / sizeof(entry[0]))
_Static_assert(NR_ENTRIES <= JETWATT_LIBRARY_CALLS_MAX,
	       "a library may export all entry points of the table");

const struct jetwatt_library_entry *jetwatt_library_entry(const char *name)
{
	for (size_t i = 0; i < NR_ENTRIES; i++)
		if (!strcmp(name, entry[i].name))
			return &entry[i];
	return NULL;
}
