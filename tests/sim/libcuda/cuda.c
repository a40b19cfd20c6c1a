// SPDX-License-Identifier: GPL-2.0-only
/*
 * libcuda.so.1 of the simulated board: work goes to its GPU's node, waits go
 * the ways that a Jetson's kernel offers, or spin on mapped memory.
 *
 * On a machine without that node the GPU is a clock: a launch is done when the
 * time has passed that it would take. SIM_CUDA_BATCH_US and SIM_CUDA_LOAD_US
 * say how long (10000, 0).
 */
#include "cuda.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gpu_uapi.h"

static struct {
	int gpu, fence, pollfd;
	volatile const __u32 *counter;
	__u32 syncpt, threshold;
	unsigned int flags;
	/* of the clock */
	uint64_t done_ns, batch_ns, load_ns;
} sim = { .gpu = -1, .fence = -1, .pollfd = -1, .flags = CU_CTX_SCHED_SPIN };

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

static CUresult submit(const struct sim_cuda_work *w)
{
	struct sim_submit s = { .kind = w->kind, .permille = w->permille, .piece = w->piece,
				.pieces = w->pieces };

	if (sim.gpu < 0) {
		uint64_t begin = now();

		if (begin < sim.done_ns)
			begin = sim.done_ns;
		sim.done_ns = begin + sim.batch_ns * w->permille / 1000 / w->pieces;
		return CUDA_SUCCESS;
	}
	if (ioctl(sim.gpu, SIM_SUBMIT, &s))
		return CUDA_ERROR_LAUNCH_FAILED;
	sim.syncpt = s.syncpt;
	sim.threshold = s.threshold;
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			CUstream stream, void **params, void **extra)
{
	(void)f, (void)shared, (void)stream, (void)extra;
	if (!gx || !gy || !gz || !bx || !by || !bz)
		return CUDA_ERROR_INVALID_VALUE;
	return params ? submit(params[0]) : CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
	(void)stream;
	return submit((const struct sim_cuda_work *)graph);
}

static int done(void)
{
	return sim.gpu < 0 ? now() >= sim.done_ns : (__s32)(*sim.counter - sim.threshold) >= 0;
}

static CUresult block(void)
{
	struct sim_trigger_pollfd t = { .fd = sim.pollfd, .id = sim.syncpt,
					.threshold = sim.threshold };
	struct pollfd p = { .fd = sim.pollfd, .events = POLLIN | POLLPRI };

	if (sim.gpu < 0) {
		sleep_until(sim.done_ns);
		return CUDA_SUCCESS;
	}
	if (ioctl(sim.fence, SIM_TRIGGER_POLLFD, &t))
		return CUDA_ERROR_LAUNCH_FAILED;
	while (ppoll(&p, 1, NULL, NULL) < 0)
		if (errno != EINTR)
			return CUDA_ERROR_LAUNCH_FAILED;
	return CUDA_SUCCESS;
}

static CUresult synchronise(void)
{
	if (sim.flags == CU_CTX_SCHED_BLOCKING_SYNC)
		return block();
	while (!done())
		;
	return CUDA_SUCCESS;
}

/* Each its own code: a compiler would make one of the two. */
CUresult cuStreamSynchronize(CUstream stream)
{
	return stream == (CUstream)-1 ? CUDA_ERROR_INVALID_VALUE : synchronise();
}

CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
	return stream == (CUstream)-2 ? CUDA_ERROR_INVALID_VALUE : synchronise();
}

CUresult cuEventSynchronize(CUevent event)
{
	return event == (CUevent)-1 ? CUDA_ERROR_INVALID_VALUE : synchronise();
}

CUresult cuCtxSynchronize(void)
{
	return synchronise();
}
