// SPDX-License-Identifier: GPL-2.0-only
/*
 * A job that launches a kernel of known work repeatedly, and waits for each launch as CUDA does
 * with blocking synchronisation. jetwatt roofline --calibrate runs such a program for the GPU of a
 * board.
 *
 *   kernels FLOP BYTES [LAUNCHES]
 *       LAUNCHES: number of kernels among which the work is divided (1)
 *
 * Exits with status 0 on SIGTERM or SIGINT.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gpu_uapi.h"

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static int fail(const char *what)
{
	fprintf(stderr, "kernels: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct sim_kernel k = { 0 };
	int gpu, render;

	if (argc == 3 || argc == 4) {
		k.flop = strtod(argv[1], NULL);
		k.bytes = strtod(argv[2], NULL);
	}
	if (argc == 4)
		k.launches = strtoul(argv[3], NULL, 10);
	if (!k.flop && !k.bytes) {
		fprintf(stderr, "usage: kernels FLOP BYTES [LAUNCHES]\n");
		return 2;
	}
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	gpu = open("/dev/jetwatt-sim-gpu", O_RDWR | O_CLOEXEC);
	if (gpu < 0)
		return fail("/dev/jetwatt-sim-gpu");
	render = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (render < 0)
		return fail("/dev/dri/renderD128");
	while (!stop) {
		struct sim_syncpoint_wait w = { .timeout_ns = INT64_MAX };

		if (ioctl(gpu, SIM_KERNEL, &k))
			return fail("kernel");
		w.id = k.syncpt;
		w.threshold = k.threshold;
		while (ioctl(render, SIM_SYNCPOINT_WAIT, &w))
			if (errno != EINTR)
				return fail("SYNCPOINT_WAIT");
	}
	return 0;
}
