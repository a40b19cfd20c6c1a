// SPDX-License-Identifier: GPL-2.0-only
/*
 * The work queue of the simulated libcuda.so.1: work is submitted to the GPU's node; waits use the
 * ways that a Jetson's kernel offers, or spin on mapped memory.
 *
 * There is one work queue, which all CUDA streams share. The node takes one piece of work at a
 * time; the thread that checks whether the GPU has finished submits the next one.
 *
 * On a machine without that node, the GPU is replaced by a clock: a launch is finished when its
 * duration has passed.
 *
 * Environment variables:
 *   SIM_CUDA_BATCH_US   without the node: duration of a minibatch, in us (10000)
 *   SIM_CUDA_LOAD_US    without the node: duration of loading, in us (0)
 *   SIM_CUDA_PAGEABLE=1 the program's memory is not pinned, so asynchronous copies to it wait
 *   SIM_CUDA_HELPER=1   with the node: a thread "cuda-EvtHandlr" does the blocking waits
 *   SIM_CUDA_SLEEP=HOW  with the node: how a blocking wait sleeps: pollfd (default), syncpt (one
 *                       ioctl), or event (of a channel group); through the nodes of JetPack 5 or
 *                       6, whichever exist (jobs/gpu_wait.h). NVIDIA does not publish which of
 *                       these libcuda chooses.
 */
#include "queue.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gpu_uapi.h"
#include "jobs/gpu_wait.h"

#define QUEUE	16
#define CALLS	64	/* maximum number of pending calls of cuLaunchHostFunc() */

static struct {
	int gpu;
	struct gpu_wait waits;
	enum { POLLFD, SYNCPT, EVENT } sleep;
	volatile const __u32 *counter;
	__u32 syncpt, threshold;
	unsigned int flags;
	/* Numbers of pieces: queued by the job, given to the GPU, and finished. @done <= @given <=
	 * @queued; at most one piece is given and not done. */
	struct sim_cuda_work queue[QUEUE];
	uint64_t queued, given, done;
	pthread_mutex_t lock;
	/* For the helper thread: the numbers of waits that were requested, and that it has
	 * finished. */
	pthread_cond_t ask, answer;
	uint64_t asked, answered;
	int helper;
	/* for the clock */
	uint64_t done_ns, batch_ns, load_ns;
} sim = { .gpu = -1, .flags = CU_CTX_SCHED_SPIN,
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
	const char *how = getenv("SIM_CUDA_SLEEP");
	void *page;

	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, sim.gpu, 0);
	if (page == MAP_FAILED || gpu_wait_open(&sim.waits))
		return CUDA_ERROR_NO_DEVICE;
	sim.sleep = !how || !strcmp(how, "pollfd") ? POLLFD : !strcmp(how, "syncpt") ? SYNCPT : EVENT;
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

/* Submit a piece to the GPU. Return: whether it was accepted. */
static int give(const struct sim_cuda_work *w)
{
	struct sim_submit s = { .kind = w->kind, .permille = w->permille, .piece = w->piece,
				.pieces = w->pieces };
	struct sim_kernel k = { .flop = w->flop, .bytes = w->bytes, .alone = 1 };
	int known = w->flop || w->bytes;

	if (known ? ioctl(sim.gpu, SIM_KERNEL, &k) : ioctl(sim.gpu, SIM_SUBMIT, &s))
		return 0;
	sim.syncpt = known ? k.syncpt : s.syncpt;
	sim.threshold = known ? k.threshold : s.threshold;
	return 1;
}

/* Submit the next queued piece to the GPU if the GPU has no piece. Context: lock held. */
static CUresult pump(void)
{

	if (sim.done < sim.given && (__s32)(*sim.counter - sim.threshold) >= 0)
		sim.done = sim.given;
	if (sim.done < sim.given || sim.given == sim.queued)
		return CUDA_SUCCESS;
	if (!give(&sim.queue[sim.given % QUEUE]))
		return CUDA_ERROR_LAUNCH_FAILED;
	sim.given++;
	return CUDA_SUCCESS;
}

CUresult sim_submit(const struct sim_cuda_work *w)
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

uint64_t sim_mark(void)
{
	return sim.gpu < 0 ? sim.done_ns : sim.queued;
}

CUresult sim_query(uint64_t to)
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

/* Sleep until the GPU has finished its present piece. */
static CUresult sleep_piece(void)
{
	__u32 id, threshold;
	int err;

	pthread_mutex_lock(&sim.lock);
	id = sim.syncpt;
	threshold = sim.threshold;
	pthread_mutex_unlock(&sim.lock);
	err = sim.sleep == POLLFD ? gpu_wait_pollfd(&sim.waits, id, threshold) :
	      sim.sleep == SYNCPT ? gpu_wait_syncpt(&sim.waits, id, threshold) :
				    gpu_wait_event(&sim.waits, sim.counter, threshold);
	return err ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

/* Stands for libcuda's thread "cuda-EvtHandlr"; started at the first request. */
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

CUresult sim_wait_for(uint64_t to, int blocking)
{
	CUresult err;

	if (sim.gpu < 0 && blocking) {
		sleep_until(to);
		return CUDA_SUCCESS;
	}
	/* A blocking wait makes a system call even if the GPU has finished already. */
	do {
		err = blocking && sim.given ? getenv("SIM_CUDA_HELPER") ? ask_helper() : sleep_piece() : 0;
		err = err ? err : sim_query(to);
	} while (err == CUDA_ERROR_NOT_READY);
	return err;
}

/* Calls that the thread cuda-EvtHandlr has yet to make: a ring of @asked - @made entries. */
static struct {
	struct { CUhostFn fn; void *data; uint64_t mark; } call[CALLS];
	uint64_t asked, made;
	pthread_mutex_t lock;
	pthread_cond_t ask;
	int started;
} host = { .lock = PTHREAD_MUTEX_INITIALIZER, .ask = PTHREAD_COND_INITIALIZER };

/* This thread sleeps for the end of the work, whatever the flags of the context are: with the driver
 * 580.159 on an H100, a thread of libcuda's polls /dev/nvidia0 also in programs that spin. */
static void *make_calls(void *arg)
{
	pthread_setname_np(pthread_self(), "cuda-EvtHandlr");
	pthread_mutex_lock(&host.lock);
	for (;; host.made++) {
		CUhostFn fn;
		void *data;
		uint64_t mark;

		while (host.asked == host.made)
			pthread_cond_wait(&host.ask, &host.lock);
		fn = host.call[host.made % CALLS].fn;
		data = host.call[host.made % CALLS].data;
		mark = host.call[host.made % CALLS].mark;
		pthread_mutex_unlock(&host.lock);
		if (sim_query(mark) == CUDA_ERROR_NOT_READY && sim_wait_for(mark, 1))
			abort();
		fn(data);
		pthread_mutex_lock(&host.lock);
	}
	return arg;
}

CUresult sim_call_back(CUhostFn fn, void *data)
{
	CUresult err = CUDA_SUCCESS;
	pthread_t thread;

	pthread_mutex_lock(&host.lock);
	if (!host.started++ && pthread_create(&thread, NULL, make_calls, NULL))
		abort();
	if (host.asked - host.made == CALLS) {
		err = CUDA_ERROR_OUT_OF_MEMORY;
	} else {
		host.call[host.asked % CALLS].fn = fn;
		host.call[host.asked % CALLS].data = data;
		host.call[host.asked++ % CALLS].mark = sim_mark();
		pthread_cond_signal(&host.ask);
	}
	pthread_mutex_unlock(&host.lock);
	return err;
}

CUresult sim_synchronise(void)
{
	return sim_wait_for(sim_mark(), sim.flags == CU_CTX_SCHED_BLOCKING_SYNC);
}
