// SPDX-License-Identifier: GPL-2.0-only
/*
 * A training job that uses the GPU through libcuda.so.1, like a real program. The job loads this
 * library when it first needs CUDA.
 *
 *   cutrain [--minibatches N] [--seconds S] [--syncs K] [--launches N]
 *           [--sync stream|ptsz|event|context|context_v2|copy|copy_ptds|query|stream_query|
 *                   graph|ex|cooperative|runtime|device|allocator|host_func|copy_async|pageable]
 *           [--wait block|spin] [--times FILE] [--marks 1] [--idle S]
 *
 *   --syncs K     number of waits for the GPU per minibatch (1)
 *   --launches N  number of kernels between two waits (4); with "graph": one graph
 *   --sync HOW    call that waits, or that launches; "runtime" and "device" use libcudart
 *   --wait HOW    scheduling flag of the context: block (default) or spin
 *   --times FILE  write "START END" of each wait in ns, measured by this program
 *   --marks 1     mark each minibatch through libjetwatt
 *   --idle S      sleep S seconds before loading the library
 *
 * After SIGTERM or SIGINT, the job finishes the current minibatch and exits with status 0.
 */
#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libcuda/cuda.h"

static struct {
	long minibatches, syncs, launches, marks;
	double seconds, idle;
	const char *sync, *times;
	unsigned int flags;
} opt = { .syncs = 1, .launches = 4, .sync = "stream", .flags = CU_CTX_SCHED_BLOCKING_SYNC };

static struct {
	CUresult (*init)(unsigned int flags);
	CUresult (*set_flags)(CUdevice dev, unsigned int flags);
	CUresult (*launch)(CUfunction f, SIM_GRID, CUstream stream, void **params, void **extra);
	CUresult (*graph)(CUgraphExec graph, CUstream stream);
	CUresult (*stream)(CUstream stream);
	CUresult (*event)(CUevent event);
	CUresult (*context)(void), (*context_v2)(CUcontext context);
	CUresult (*copy)(void *to, CUdeviceptr from, size_t size);
	CUresult (*copy_async)(void *to, CUdeviceptr from, size_t size, CUstream stream);
	CUresult (*to_device)(CUdeviceptr to, const void *from, size_t size);
	CUresult (*event_query)(CUevent event), (*stream_query)(CUstream stream);
	CUresult (*host_func)(CUstream stream, CUhostFn fn, void *data);
	CUresult (*ex)(const CUlaunchConfig *config, CUfunction f, void **params, void **extra);
	CUresult (*cooperative)(CUfunction f, SIM_GRID, CUstream stream, void **params);
	CUresult (*load)(unsigned int kind, unsigned int permille);
	int (*begin)(const char *name), (*end)(const char *name);
} api;

static volatile sig_atomic_t stop;
static sem_t called;
static FILE *times;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "cutrain: %s: %s\n", what, why);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void *need(void *library, const char *name)
{
	void *p = dlsym(library, name);

	if (!p)
		fail(name, dlerror());
	return p;
}

static void options(int argc, char **argv)
{
	for (int i = 1; i < argc; i += 2) {
		const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(name, "--minibatches"))
			opt.minibatches = atol(value);
		else if (!strcmp(name, "--seconds"))
			opt.seconds = atof(value);
		else if (!strcmp(name, "--syncs"))
			opt.syncs = atol(value);
		else if (!strcmp(name, "--launches"))
			opt.launches = atol(value);
		else if (!strcmp(name, "--sync"))
			opt.sync = value;
		else if (!strcmp(name, "--wait"))
			opt.flags = !strcmp(value, "spin") ? CU_CTX_SCHED_SPIN :
							     CU_CTX_SCHED_BLOCKING_SYNC;
		else if (!strcmp(name, "--times"))
			opt.times = value;
		else if (!strcmp(name, "--marks"))
			opt.marks = atol(value);
		else if (!strcmp(name, "--idle"))
			opt.idle = atof(value);
		else
			fail(name, "no such option");
		if (!*value)
			fail(name, "needs a value");
	}
	if (opt.syncs < 1 || opt.launches < 1)
		fail("--syncs, --launches", "at least 1");
}

static void *library(const char *name)
{
	void *p = dlopen(name, RTLD_NOW);

	if (!p)
		fail(name, dlerror());
	return p;
}

static void load_libraries(void)
{
	void *cuda = library("libcuda.so.1"), *jetwatt;

	api.init = need(cuda, "cuInit");
	api.set_flags = need(cuda, "cuDevicePrimaryCtxSetFlags");
	api.launch = need(cuda, "cuLaunchKernel");
	api.graph = need(cuda, "cuGraphLaunch");
	api.stream = need(cuda, strcmp(opt.sync, "ptsz") ? "cuStreamSynchronize" :
							   "cuStreamSynchronize_ptsz");
	api.event = need(cuda, "cuEventSynchronize");
	api.context = need(cuda, "cuCtxSynchronize");
	api.context_v2 = need(cuda, "cuCtxSynchronize_v2");
	api.copy = need(cuda, strcmp(opt.sync, "copy_ptds") ? "cuMemcpyDtoH_v2" : "cuMemcpyDtoH_v2_ptds");
	api.to_device = need(cuda, "cuMemcpyHtoD_v2");
	api.event_query = need(cuda, "cuEventQuery");
	api.copy_async = need(cuda, "cuMemcpyDtoHAsync_v2");
	api.host_func = need(cuda, "cuLaunchHostFunc");
	sem_init(&called, 0, 0);
	api.stream_query = need(cuda, "cuStreamQuery");
	api.ex = need(cuda, "cuLaunchKernelEx");
	api.cooperative = need(cuda, "cuLaunchCooperativeKernel");
	api.load = need(cuda, "simLoad");
	if (api.set_flags(0, opt.flags) || api.init(0))
		fail("cuInit", strerror(errno));
	if (!strcmp(opt.sync, "device"))
		api.context = need(library("libcudart.so.12"), "cudaDeviceSynchronize");
	if (!strcmp(opt.sync, "runtime"))
		api.stream = need(library("libcudart.so.12"), "cudaStreamSynchronize");
	if (!opt.marks)
		return;
	jetwatt = library("libjetwatt.so.1");
	api.begin = need(jetwatt, "jetwatt_mark_begin");
	api.end = need(jetwatt, "jetwatt_mark_end");
}

/* Query an event every 4 ms without waiting for it, as PyTorch's allocator of pinned memory does;
 * then wait for the GPU in another call. */
static CUresult query_seldom(void)
{
	while (api.event_query(NULL) == CUDA_ERROR_NOT_READY)
		usleep(4000);
	return api.stream(NULL);
}

static void call_back(void *data)
{
	sem_post(data);
}

static CUresult sleep_for_callback(void)
{
	CUresult err = api.host_func(NULL, call_back, &called);

	while (!err && sem_wait(&called))
		;
	return err;
}

static void synchronise(void)
{
	uint64_t start = now();
	char memory[16];
	CUresult err;

	if (!strcmp(opt.sync, "event"))
		err = api.event(NULL);
	else if (!strcmp(opt.sync, "context") || !strcmp(opt.sync, "device"))
		err = api.context();
	else if (!strcmp(opt.sync, "context_v2"))
		err = api.context_v2(NULL);
	else if (!strcmp(opt.sync, "copy") || !strcmp(opt.sync, "copy_ptds"))
		err = api.copy(memory, 0, sizeof(memory));
	else if (!strcmp(opt.sync, "pageable"))
		err = api.copy_async(memory, 0, sizeof(memory), NULL) || api.stream(NULL);
	else if (!strcmp(opt.sync, "copy_async"))
		err = api.copy_async(memory, 0, sizeof(memory), NULL) || sleep_for_callback();
	else if (!strcmp(opt.sync, "host_func"))
		err = sleep_for_callback();
	else if (!strcmp(opt.sync, "allocator"))
		err = query_seldom();
	else if (strstr(opt.sync, "query"))
		while ((err = *opt.sync == 'q' ? api.event_query(NULL) : api.stream_query(NULL)) ==
		       CUDA_ERROR_NOT_READY)
			;
	else
		err = api.stream(NULL);
	if (err)
		fail("synchronize", strerror(errno));
	if (times)
		fprintf(times, "%llu %llu\n", (unsigned long long)start,
			(unsigned long long)now());
}

static void piece(struct sim_cuda_work *w)
{
	void *params[] = { w };
	int err = 0;

	/* No kernel was launched since the last wait, so this copy does not wait for the GPU. */
	if (!strcmp(opt.sync, "copy") || !strcmp(opt.sync, "copy_ptds"))
		err = api.to_device(0, w, sizeof(*w));
	if (!strcmp(opt.sync, "graph")) {
		err = api.graph((CUgraphExec)w, NULL);
	} else if (!strcmp(opt.sync, "ex")) {
		for (long i = 0; i < opt.launches; i++)
			err |= api.ex(NULL, NULL, i ? NULL : params, NULL);
	} else if (!strcmp(opt.sync, "cooperative")) {
		for (long i = 0; i < opt.launches; i++)
			err |= api.cooperative(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, i ? NULL : params);
	} else {
		for (long i = 0; i < opt.launches; i++)
			err |= api.launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, i ? NULL : params, NULL);
	}
	if (err)
		fail("launch", strerror(errno));
	synchronise();
}

static void minibatch(unsigned int permille)
{
	struct sim_cuda_work w = { .permille = permille, .pieces = opt.syncs };

	if (opt.marks)
		api.begin("train");
	if (api.load(0, permille))
		fail("load", strerror(errno));
	for (w.piece = 1; w.piece <= w.pieces; w.piece++)
		piece(&w);
	if (opt.marks)
		api.end("train");
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	uint64_t begin;

	options(argc, argv);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	times = opt.times ? fopen(opt.times, "we") : NULL;
	if (opt.times && !times)
		fail(opt.times, strerror(errno));
	usleep(opt.idle * 1e6);
	load_libraries();
	begin = now();
	for (long n = 0; !stop && (!opt.minibatches || n < opt.minibatches); n++) {
		if (opt.seconds > 0 && (now() - begin) * 1e-9 >= opt.seconds)
			break;
		/* The first minibatch takes longer, as in frameworks that tune their kernels during
		 * it. */
		minibatch(n ? 1000 : 3000);
	}
	return times && fclose(times);
}
