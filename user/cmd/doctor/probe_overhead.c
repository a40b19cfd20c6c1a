// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the overhead of the probe on system calls of other processes: getppid() in a loop, with
 * and without the probe.
 */
#include "cmd/doctor/probe_overhead.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jetwatt.h"
#include "model/order.h"

#define ROUNDS	5
/* Number of system calls in a measurement: enough to resolve tens of nanoseconds per call, few
 * enough that doctor stays fast. */
#define CALLS	3000

static double round_ns(void)
{
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / CALLS;
}

int jetwatt_probe_overhead_measure(uint32_t backends, double *plain_ns, double *extra_ns)
{
	/* The probe watches process 1, so this process is not watched, like the processes whose
	 * overhead is to be measured. */
	struct jetwatt_probe_opts opts = { .tgid = 1, .backends = backends };
	double with[ROUNDS], without[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		struct jetwatt_probe *p;
		int err = jetwatt_probe_open(&p, &opts, NULL, NULL);

		if (err)
			return err;
		with[i] = round_ns();
		jetwatt_probe_close(p);
		without[i] = round_ns();
	}
	qsort(with, ROUNDS, sizeof(*with), jetwatt_order_doubles);
	qsort(without, ROUNDS, sizeof(*without), jetwatt_order_doubles);
	*plain_ns = without[ROUNDS / 2];
	*extra_ns = with[ROUNDS / 2] - without[ROUNDS / 2];
	return 0;
}
