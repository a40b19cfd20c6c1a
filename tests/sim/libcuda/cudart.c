// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CUDA runtime: loads the library of the driver by its name and asks it for addresses, like
 * NVIDIA's since CUDA 11.3 (cuGetProcAddress, "Driver Entry Point Access" in the CUDA programming
 * guide). The runtime is not linked with the driver's library.
 */
#include "cudart.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	CUresult (*init)(unsigned int flags);
	CUresult (*set_flags)(CUdevice dev, unsigned int flags);
	CUresult (*launch)(CUfunction f, SIM_GRID, CUstream stream, void **params, void **extra);
	CUresult (*graph)(CUgraphExec graph, CUstream stream);
	CUresult (*stream)(CUstream stream);
	CUresult (*context)(void);
	CUresult (*create)(CUevent *event, unsigned int flags);
	CUresult (*record)(CUevent event, CUstream stream);
	CUresult (*event)(CUevent event), (*query)(CUevent event);
	CUresult (*to_host)(void *to, CUdeviceptr from, size_t size);
	CUresult (*to_device)(CUdeviceptr to, const void *from, size_t size);
	CUresult (*to_host_async)(void *to, CUdeviceptr from, size_t size, CUstream stream);
	CUresult (*to_device_async)(CUdeviceptr to, const void *from, size_t size, CUstream stream);
} driver;

static void find(void)
{
	static const char *const name[] = {
		"cuInit", "cuDevicePrimaryCtxSetFlags", "cuLaunchKernel", "cuGraphLaunch",
		"cuStreamSynchronize", "cuCtxSynchronize", "cuEventCreate", "cuEventRecord",
		"cuEventSynchronize", "cuEventQuery", "cuMemcpyDtoH", "cuMemcpyHtoD",
		"cuMemcpyDtoHAsync", "cuMemcpyHtoDAsync",
	};
	CUresult (*get)(const char *symbol, void **pfn, int version, uint64_t flags, int *status);
	void *library, **to = (void **)&driver;

	if (driver.init)
		return;
	library = dlopen("libcuda.so.1", RTLD_NOW);
	get = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
	_Static_assert(sizeof(driver) == sizeof(name) / sizeof(name[0]) * sizeof(void *), "in order");
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (!get || get(name[i], &to[i], 12000, 0, NULL)) {
			fprintf(stderr, "cudart: no %s in libcuda.so.1\n", name[i]);
			exit(1);
		}
}

int cudaSetDeviceFlags(unsigned int flags)
{
	find();
	return driver.set_flags(0, flags);
}

/* Programs begin with cudaFree(0), which creates a context. */
int cudaFree(void *p)
{
	find();
	return p ? CUDA_ERROR_INVALID_VALUE : driver.init(0);
}

int cudaLaunchKernel(const void *f, struct dim3 grid, struct dim3 block, void **args, size_t shared,
		     CUstream stream)
{
	find();
	return driver.launch((CUfunction)f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
			     (unsigned int)shared, stream, args, NULL);
}

int cudaGraphLaunch(CUgraphExec graph, CUstream stream)
{
	find();
	return driver.graph(graph, stream);
}

int cudaStreamSynchronize(CUstream stream)
{
	int err;

	find();
	err = driver.stream(stream);
	/* prevents a tail call, so that the frame of this function stays on the stack */
	__asm__ volatile("" : "+r"(err));
	return err;
}

/*
 * The compiler makes this a tail call, so the stack frame of the driver's function replaces that of
 * the runtime function.
 */
int cudaDeviceSynchronize(void)
{
	find();
	return driver.context();
}

int cudaEventCreateWithFlags(CUevent *event, unsigned int flags)
{
	find();
	return driver.create(event, flags);
}

int cudaEventRecord(CUevent event, CUstream stream)
{
	return driver.record(event, stream);
}

int cudaEventSynchronize(CUevent event)
{
	return driver.event(event);
}

int cudaEventQuery(CUevent event)
{
	int err = driver.query(event);

	__asm__ volatile("" : "+r"(err));
	return err;
}

int cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
	find();
	return kind == cudaMemcpyDeviceToHost ? driver.to_host(to, (CUdeviceptr)(uintptr_t)from, size) :
						driver.to_device((CUdeviceptr)(uintptr_t)to, from, size);
}

int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, CUstream stream)
{
	find();
	return kind == cudaMemcpyDeviceToHost ?
	       driver.to_host_async(to, (CUdeviceptr)(uintptr_t)from, size, stream) :
	       driver.to_device_async((CUdeviceptr)(uintptr_t)to, from, size, stream);
}
