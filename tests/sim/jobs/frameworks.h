/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common parts of the programs of frameworks.c and llmserve.c: options, access to CUDA, and parts of
 * their sequences of calls.
 */
#ifndef SIM_JOBS_FRAMEWORKS_H
#define SIM_JOBS_FRAMEWORKS_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libcuda/cudart.h"

static struct {
	long minibatches;
	const char *times;
	double linger;
	int block;
} opt = { .minibatches = 60, .block = 1 };

#define DRIVER(X)	X(cuInit) X(cuDevicePrimaryCtxSetFlags) X(cuLaunchKernel) X(cuLaunchKernelEx)	\
			X(cuGraphLaunch) X(cuStreamSynchronize) X(cuEventCreate) X(cuEventRecord)	\
			X(cuEventQuery) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoHAsync_v2)			\
			X(cuLaunchHostFunc) X(simLoad)
#define RUNTIME(X)	X(cudaSetDeviceFlags) X(cudaFree) X(cudaLaunchKernel) X(cudaGraphLaunch)		\
			X(cudaStreamSynchronize) X(cudaEventCreateWithFlags) X(cudaEventRecord)		\
			X(cudaEventSynchronize) X(cudaEventQuery) X(cudaMemcpy) X(cudaMemcpyAsync)
#define MEMBER(name)	__typeof__(&name) name;
#define NAME(name)	#name,

static struct { DRIVER(MEMBER) } cu;
static struct { RUNTIME(MEMBER) } rt;

static char host[64];
static CUevent event[2];
static FILE *times;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "frameworks: %s: %s\n", what, why);
	exit(1);
}

static void ok(CUresult err)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", err);
	if (err)
		fail("CUDA error", number);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Record the end of a minibatch; a program calls this after its last wait of the minibatch. */
static inline void done(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (times)
		fprintf(times, "%llu\n", t.tv_sec * 1000000000ull + t.tv_nsec);
}

static void load(const char *library, const char *const *name, size_t n, void **to)
{
	void *handle = dlopen(library, RTLD_NOW);

	if (!handle)
		fail(library, dlerror());
	for (size_t i = 0; i < n; i++) {
		to[i] = dlsym(handle, name[i]);
		if (!to[i])
			fail(name[i], dlerror());
	}
}

static void load_driver(void)
{
	static const char *const name[] = { DRIVER(NAME) };

	load("libcuda.so.1", name, sizeof(name) / sizeof(name[0]), (void **)&cu);
}

static unsigned int context_flags(void)
{
	return opt.block ? CU_CTX_SCHED_BLOCKING_SYNC : CU_CTX_SCHED_SPIN;
}

static inline void begin_driver(void)
{
	load_driver();
	ok(cu.cuDevicePrimaryCtxSetFlags(0, context_flags()));
	ok(cu.cuInit(0));
}

static void begin_runtime(void)
{
	static const char *const name[] = { RUNTIME(NAME) };

	load_driver();
	load("libcudart.so.12", name, sizeof(name) / sizeof(name[0]), (void **)&rt);
	ok(rt.cudaSetDeviceFlags(context_flags()));
	ok(rt.cudaFree(NULL));
	for (int i = 0; i < 2; i++)
		ok(rt.cudaEventCreateWithFlags(&event[i], opt.block ? CU_EVENT_BLOCKING_SYNC : 0));
}

/* Start the program with the CUDA runtime that is linked into the executable. */
static inline void begin_static(void)
{
	load_driver();
	ok(cudaSetDeviceFlags(context_flags()));
	ok(cudaFree(NULL));
}

static const struct dim3 one = { 1, 1, 1 };

/*
 * Launch @n kernels for the piece of work @w; the first kernel takes the whole duration of the
 * piece.
 */
static void kernels(__typeof__(&cudaLaunchKernel) launch, struct sim_cuda_work *w, int n)
{
	void *params[] = { w };

	for (int i = 0; i < n; i++)
		ok(launch(NULL, one, one, i ? NULL : params, 0, NULL));
}

static inline void driver_kernels(struct sim_cuda_work *w, int n)
{
	void *params[] = { w };

	for (int i = 0; i < n; i++)
		ok(i % 2 ? cu.cuLaunchKernelEx(NULL, NULL, NULL, NULL) :
			   cu.cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, i ? NULL : params, NULL));
}

static inline struct sim_cuda_work piece(unsigned int permille, unsigned int k, unsigned int of)
{
	return (struct sim_cuda_work){ .permille = permille, .piece = k, .pieces = of };
}

static inline void wait_event(long n)
{
	ok(rt.cudaEventSynchronize(event[n % 2]));
	done();
}

/*
 * Make the CUDA calls of PyTorch's .item(): an asynchronous copy, then a wait for the stream
 * (memcpy_and_sync).
 */
static inline void item(void)
{
	ok(rt.cudaMemcpyAsync(host, NULL, sizeof(host), cudaMemcpyDeviceToHost, NULL));
	ok(rt.cudaStreamSynchronize(NULL));
}

#endif
