// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the error of the energy, in percent of the true energy of the simulated board, for a
 * load in bursts of 5 to 500 ms. Runs in a guest and prints lines "KEY VALUE", which
 * tests/bench/kmod.sh collects.
 *
 *   kmod_energy SECONDS
 */
#include <math.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "bench/kmod.h"
#include "sim/gpu_uapi.h"

#define MODULE_RAILS	3	/* the first three rails: the module's inputs, whose sum is the total */

struct account {
	uint64_t every, next, last_ns, from, to;
	double last_w, joules;
};

static struct account accounts[3];	/* every tick, 10 Hz, 1 Hz */

/* Trapezoidal rule, cut at the ends of the window in which the true energy is known. */
static void add(struct account *a, uint64_t t, double w)
{
	if (t < a->next)
		return;
	a->next = (a->next ? a->next : t) + a->every;
	if (a->last_ns) {
		double t0 = fmax(a->last_ns, a->from), t1 = fmin(t, a->to ? a->to : 9e18);
		double slope = (w - a->last_w) / (double)(t - a->last_ns);

		if (t1 > t0)
			a->joules += (a->last_w + slope * ((t0 + t1) / 2 - a->last_ns)) *
				     (t1 - t0) * 1e-9;
	}
	a->last_ns = t;
	a->last_w = w;
}

static void power(const struct jetwatt_power *p, void *arg)
{
	double w = 0;
	int i;

	(void)arg;
	for (i = 0; i < MODULE_RAILS; i++)
		w += p->uw[i] * 1e-6;
	for (i = 0; i < 3; i++)
		add(&accounts[i], p->time_ns, w);
}

/* Run work of 5 to 500 ms (log-uniform), with pauses from the same distribution. */
static void bursts(double mode_ms)
{
	struct sim_create_pollfd create = { .fd = -1 };
	int gpu = open("/dev/jetwatt-sim-gpu", O_RDWR), fence = open("/dev/host1x-fence", O_RDWR);
	struct pollfd p = { .events = POLLIN | POLLPRI };

	if (gpu < 0 || fence < 0 || ioctl(fence, SIM_CREATE_POLLFD, &create))
		die("gpu");
	p.fd = create.fd;
	srand48(7);
	for (;;) {
		struct sim_submit s = { .piece = 1, .pieces = 1 };
		struct sim_trigger_pollfd t = { .fd = create.fd };

		s.permille = fmax(1, 5 * pow(100, drand48()) / mode_ms * 1000);
		if (ioctl(gpu, SIM_SUBMIT, &s))
			die("submit");
		t.id = s.syncpt;
		t.threshold = s.threshold;
		if (ioctl(fence, SIM_TRIGGER_POLLFD, &t))
			die("trigger");
		poll(&p, 1, -1);
		usleep(5000 * pow(100, drand48()));
	}
}

/* Read the present time and the true cumulative energy, which is added to @joules. */
static void read_account(uint64_t *ns, double *joules)
{
	char line[2][128] = { "", "" };
	unsigned long long t, uj;
	FILE *f = fopen("/sys/kernel/debug/jetwatt-sim/truth/now", "r");

	if (!f || !fgets(line[0], 128, f) || !fgets(line[1], 128, f) ||
	    sscanf(line[0], "t_ns %llu", &t) != 1 || sscanf(line[1], "energy_uj %llu", &uj) != 1)
		die("truth");
	fclose(f);
	*ns = t;
	*joules += uj * 1e-6;
}

static void account_over(struct jetwatt *jw, struct jetwatt_join *join, unsigned int seconds,
			 double error_pct[3])
{
	static const uint64_t every[] = { 0, 100000000, 1000000000 };
	uint64_t from, to;
	double joules = 0;
	int i;

	read_account(&from, &joules);
	joules = -joules;
	for (i = 0; i < 3; i++) {
		accounts[i].every = every[i];
		accounts[i].from = from;
		accounts[i].to = 0;
		accounts[i].joules = 0;
	}
	dispatch_until(jw, from + seconds * 1000000000ULL);
	read_account(&to, &joules);
	for (i = 0; i < 3; i++)
		accounts[i].to = to;
	/* Continue until each account has a sample after the end. */
	dispatch_until(jw, to + 1500000000ULL);
	jetwatt_join_flush(join);
	for (i = 0; i < 3; i++)
		error_pct[i] = 100 * (accounts[i].joules - joules) / joules;
}

static void energy(unsigned int seconds)
{
	struct jetwatt *jw = open_module();
	struct jetwatt_join *join;
	double quiet[3], bursty[3];
	pid_t pid;

	convert_fast();
	configure(jw, 1000, 90);
	if (jetwatt_join_new(&join, jw, 200))
		die("join");
	jetwatt_join_set(join, power, NULL, NULL);
	if (jetwatt_subscribe(jw, jetwatt_join_samples, join))
		die("subscribe");
	dispatch_until(jw, now_ns() + 2000000000ULL);
	account_over(jw, join, 10, quiet);
	pid = fork();
	if (!pid)
		bursts(truth("mode_time_ns") * 1e-6);
	dispatch_until(jw, now_ns() + 2000000000ULL);
	account_over(jw, join, seconds, bursty);
	kill(pid, SIGKILL);
	printf("error_1khz %.4f\nerror_10hz %.4f\nerror_1hz %.4f\nbias_quiet %.4f\n", bursty[0],
	       bursty[1], bursty[2], quiet[0]);
	jetwatt_join_free(join);
	jetwatt_close(jw);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	energy(atoi(argv[1]));
	return 0;
}
