// SPDX-License-Identifier: GPL-2.0-only
/*
 * A job that does not use the GPU, but computes and sleeps alternately.
 *
 *   nogpu [SECONDS]     SECONDS: duration; default: until SIGTERM or SIGINT
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	struct sigaction sa = { .sa_handler = on_signal };
	double seconds = argc > 1 ? atof(argv[1]) : 0, begin = now();
	volatile double x = 1;
	int i;

	if (argc > 2 || (argc == 2 && seconds <= 0)) {
		fprintf(stderr, "usage: nogpu [SECONDS]\n");
		return 2;
	}
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	while (!stop && (!seconds || now() - begin < seconds)) {
		for (i = 0; i < 20000; i++)
			x = x * 1.0000001 + 1e-9;
		nanosleep(&nap, NULL);
	}
	return 0;
}
