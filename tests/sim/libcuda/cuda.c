// SPDX-License-Identifier: GPL-2.0-only
/*
 * libcuda.so.1 of the simulated board: work goes to its GPU's node, waits go
 * the ways that a Jetson's kernel offers, or spin on mapped memory.
 *
 * There is one queue, so all streams are one. The node takes one piece of work at a time:
 * the next one is handed over by the thread that looks whether the GPU is done.
 *
 * On a machine without that node the GPU is a clock: a launch is done when the
 * time has passed that it would take. In the environment:
 *   SIM_CUDA_BATCH_US, SIM_CUDA_LOAD_US   how long that is (10000, 0)
 *   SIM_CUDA_HELPER=1   blocking waits are made by a thread "cuda-EvtHandlr"
 *   SIM_CUDA_HIDDEN=1   cuGetProcAddress() gives addresses of functions that are not exported
 */
#include "cuda.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gpu_uapi.h"

#define QUEUE	16

/* @mark: what was queued when it was recorded: see mark() */
struct CUevent_st {
	uint64_t mark;
	unsigned int flags;
};

static struct {
	int gpu, fence, pollfd;
	volatile const __u32 *counter;
	__u32 syncpt, threshold;
	unsigned int flags;
	/* pieces of work: @done <= @given <= @queued; those given but not done: 0 or 1 */
	struct sim_cuda_work queue[QUEUE];
	uint64_t queued, given, done;
	pthread_mutex_t lock;
	/* the helper's: a wait that was asked for, and the last that has ended */
	pthread_cond_t ask, answer;
	uint64_t asked, answered;
	int helper;
	/* of the clock */
	uint64_t done_ns, batch_ns, load_ns;
} sim = { .gpu = -1, .fence = -1, .pollfd = -1, .flags = CU_CTX_SCHED_SPIN,
	  .lock = PTHREAD_MUTEX_INITIALIZER, .ask = PTHREAD_COND_INITIALIZER,
	  .answer = PTHREAD_COND_INITIALIZER };

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static uint64_t microseconds(const char *name, uint64_t otherwise)
{
	const char *v = getenv(name);

	return (v ? strtoull(v, NULL, 10) : otherwise) * 1000;
}

static CUresult open_nodes(void)
{
	struct sim_create_pollfd create = { .fd = -1 };
	void *page;

	sim.fence = open("/dev/host1x-fence", O_RDWR | O_CLOEXEC);
	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, sim.gpu, 0);
	if (sim.fence < 0 || page == MAP_FAILED || ioctl(sim.fence, SIM_CREATE_POLLFD, &create))
		return CUDA_ERROR_NO_DEVICE;
	sim.pollfd = create.fd;
	sim.counter = page;
	return CUDA_SUCCESS;
}

CUresult cuInit(unsigned int flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	sim.gpu = open("/dev/jetwatt-sim-gpu", O_RDWR | O_CLOEXEC);
	sim.batch_ns = microseconds("SIM_CUDA_BATCH_US", 10000);
	sim.load_ns = microseconds("SIM_CUDA_LOAD_US", 0);
	return sim.gpu < 0 ? CUDA_SUCCESS : open_nodes();
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
	if (dev || (flags != CU_CTX_SCHED_SPIN && flags != CU_CTX_SCHED_BLOCKING_SYNC))
		return CUDA_ERROR_INVALID_VALUE;
	sim.flags = flags;
	return CUDA_SUCCESS;
}

CUresult simLoad(unsigned int kind, unsigned int permille)
{
	struct sim_load load = { .kind = kind, .permille = permille };

	if (sim.gpu < 0) {
		if (sim.load_ns)
			sleep_until(now() + sim.load_ns * permille / 1000);
		return CUDA_SUCCESS;
	}
	while (ioctl(sim.gpu, SIM_LOAD, &load))
		if (errno != EINTR)
			return CUDA_ERROR_LAUNCH_FAILED;
	return CUDA_SUCCESS;
}

/* Hand the next piece to the GPU if it has none. The lock is held. */
static CUresult pump(void)
{
	struct sim_submit s;
	struct sim_cuda_work *w;

	if (sim.done < sim.given && (__s32)(*sim.counter - sim.threshold) >= 0)
		sim.done = sim.given;
	if (sim.done < sim.given || sim.given == sim.queued)
		return CUDA_SUCCESS;
	w = &sim.queue[sim.given % QUEUE];
	s = (struct sim_submit){ .kind = w->kind, .permille = w->permille, .piece = w->piece,
				 .pieces = w->pieces };
	if (ioctl(sim.gpu, SIM_SUBMIT, &s))
		return CUDA_ERROR_LAUNCH_FAILED;
	sim.syncpt = s.syncpt;
	sim.threshold = s.threshold;
	sim.given++;
	return CUDA_SUCCESS;
}

static CUresult submit(const struct sim_cuda_work *w)
{
	CUresult err = CUDA_ERROR_OUT_OF_MEMORY;

	if (!w)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&sim.lock);
	if (sim.gpu < 0) {
		uint64_t begin = now();

		if (begin < sim.done_ns)
			begin = sim.done_ns;
		sim.done_ns = begin + sim.batch_ns * w->permille / 1000 / w->pieces;
		err = CUDA_SUCCESS;
	} else if (sim.queued - sim.done < QUEUE) {
		sim.queue[sim.queued++ % QUEUE] = *w;
		err = pump();
	}
	pthread_mutex_unlock(&sim.lock);
	return err;
}

/* All that is queued now: a time of the clock, or a number of pieces. */
static uint64_t mark(void)
{
	return sim.gpu < 0 ? sim.done_ns : sim.queued;
}

/* Return: CUDA_SUCCESS: all up to the mark is done; CUDA_ERROR_NOT_READY. */
static CUresult query(uint64_t to)
{
	CUresult err;

	if (sim.gpu < 0)
		return now() >= to ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
	pthread_mutex_lock(&sim.lock);
	err = pump();
	if (!err && sim.done < to)
		err = CUDA_ERROR_NOT_READY;
	pthread_mutex_unlock(&sim.lock);
	return err;
}

/* Sleep until the piece that the GPU has is done. */
static CUresult sleep_piece(void)
{
	struct pollfd p = { .fd = sim.pollfd, .events = POLLIN | POLLPRI };
	struct sim_trigger_pollfd t = { .fd = sim.pollfd };

	pthread_mutex_lock(&sim.lock);
	t.id = sim.syncpt;
	t.threshold = sim.threshold;
	pthread_mutex_unlock(&sim.lock);
	if (ioctl(sim.fence, SIM_TRIGGER_POLLFD, &t))
		return CUDA_ERROR_LAUNCH_FAILED;
	while (ppoll(&p, 1, NULL, NULL) < 0)
		if (errno != EINTR)
			return CUDA_ERROR_LAUNCH_FAILED;
	return CUDA_SUCCESS;
}

/* A thread of that name is seen in every CUDA process on a Jetson. */
static void *help(void *arg)
{
	uint64_t todo;

	pthread_setname_np(pthread_self(), "cuda-EvtHandlr");
	for (;;) {
		pthread_mutex_lock(&sim.lock);
		while (sim.asked == sim.answered)
			pthread_cond_wait(&sim.ask, &sim.lock);
		todo = sim.asked;
		pthread_mutex_unlock(&sim.lock);
		if (sleep_piece())
			abort();
		pthread_mutex_lock(&sim.lock);
		sim.answered = todo;
		pthread_cond_broadcast(&sim.answer);
		pthread_mutex_unlock(&sim.lock);
	}
	return arg;
}

static CUresult ask_helper(void)
{
	pthread_t thread;
	uint64_t mine;

	pthread_mutex_lock(&sim.lock);
	if (!sim.helper) {
		sim.helper = 1;
		if (pthread_create(&thread, NULL, help, NULL))
			abort();
	}
	mine = ++sim.asked;
	pthread_cond_signal(&sim.ask);
	while (sim.answered < mine)
		pthread_cond_wait(&sim.answer, &sim.lock);
	pthread_mutex_unlock(&sim.lock);
	return CUDA_SUCCESS;
}

static CUresult wait_for(uint64_t to, int blocking)
{
	CUresult err;

	if (sim.gpu < 0 && blocking) {
		sleep_until(to);
		return CUDA_SUCCESS;
	}
	/* A wait that blocks asks the driver even where the GPU is done already. */
	do {
		err = blocking && sim.given ? getenv("SIM_CUDA_HELPER") ? ask_helper() : sleep_piece() : 0;
		err = err ? err : query(to);
	} while (err == CUDA_ERROR_NOT_READY);
	return err;
}

static CUresult synchronise(void)
{
	return wait_for(mark(), sim.flags == CU_CTX_SCHED_BLOCKING_SYNC);
}

static CUresult launch(SIM_GRID, void **params)
{
	(void)shared;
	if (!gx || !gy || !gz || !bx || !by || !bz)
		return CUDA_ERROR_INVALID_VALUE;
	return params ? submit(params[0]) : CUDA_SUCCESS;
}

static CUresult wait_event(CUevent event)
{
	return event ? wait_for(event->mark, event->flags & CU_EVENT_BLOCKING_SYNC) : synchronise();
}

static CUresult query_event(CUevent event)
{
	return query(event ? event->mark : mark());
}

/* Each its own code: a compiler would make one of two that are alike. */
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
	return params ? submit(params[0]) : CUDA_SUCCESS;
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
	return submit((const struct sim_cuda_work *)graph);
}

CUresult cuStreamSynchronize(CUstream stream)
{
	OWN(6);
	return stream == (CUstream)-1 ? CUDA_ERROR_INVALID_VALUE : synchronise();
}

CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
	OWN(7);
	return stream == (CUstream)-1 ? CUDA_ERROR_INVALID_VALUE : synchronise();
}

CUresult cuStreamQuery(CUstream stream)
{
	OWN(8);
	return stream == (CUstream)-1 ? CUDA_ERROR_INVALID_VALUE : query(mark());
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
	event->mark = mark();
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
	return synchronise();
}

CUresult cuCtxSynchronize_v2(CUcontext context)
{
	(void)context;
	OWN(12);
	return synchronise();
}

/* Copies are of nothing: it is the order that counts. */
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
	(void)from;
	OWN(13);
	return !to || !size ? CUDA_ERROR_INVALID_VALUE : synchronise();
}

CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t size)
{
	(void)from;
	OWN(14);
	return !to || !size ? CUDA_ERROR_INVALID_VALUE : synchronise();
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
	(void)to;
	OWN(15);
	return !from || !size ? CUDA_ERROR_INVALID_VALUE : synchronise();
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
	(void)from, (void)stream;
	return !to || !size ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
	(void)to, (void)stream;
	return !from || !size ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* The same calls at addresses that no table of symbols names. */
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
	return submit((const struct sim_cuda_work *)graph);
}

static CUresult hidden_stream(CUstream stream)
{
	OWN(18);
	return stream == (CUstream)-1 ? CUDA_ERROR_INVALID_VALUE : synchronise();
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
	return synchronise();
}

static CUresult hidden_copy(void *to, CUdeviceptr from, size_t size)
{
	(void)from;
	OWN(22);
	return !to || !size ? CUDA_ERROR_INVALID_VALUE : synchronise();
}

/* As cudart asks for them: without suffixes. */
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
