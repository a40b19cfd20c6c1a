// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sampling costs and how well it is done, in a guest: one figure a run,
 * "KEY VALUE" lines on stdout, which tests/bench/kmod.sh puts together.
 *
 *   kmod idle SECONDS             CPU time a second with nobody sampling
 *   kmod ours HZ SECONDS          and while a subscriber takes every sample
 *   kmod sysfs HZ SECONDS         and while this reads the same rails from hwmon
 *   kmod other HZ SECONDS CMD...  and while CMD does, which prints how often it did
 *   kmod lateness SECONDS         how late at 1 kHz
 *   kmod crowd SUBSCRIBERS SECONDS  loss at the highest rate there is
 *   kmod ceiling SECONDS          samples that can be taken out of the ring a second
 *   kmod energy SECONDS           a load in bursts, against the plant's own account
 *
 * CPU time is what a task of the lowest priority that never sleeps does not
 * get: interrupts, kernel threads and work items are in it. What the simulated
 * sensors compute to have a value is not: on a board that is hardware. The
 * guest has one CPU and virtual time.
 */
#include <jetwatt.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kmod/family.h"
#include "sim/gpu_uapi.h"

static void die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ------------------------------------------------------------------ */
/* CPU time of everything                                              */

static pid_t spinner;
static clockid_t spinner_clock;

static void start_spinner(void)
{
	struct sched_param none = { 0 };

	spinner = fork();
	if (!spinner) {
		sched_setscheduler(0, SCHED_IDLE, &none);
		for (;;)
			;
	}
	if (spinner < 0 || clock_getcpuclockid(spinner, &spinner_clock))
		die("spinner");
}

struct mark {
	uint64_t wall, spun, sensors;
};

/* A number that the plant knows. */
static unsigned long long truth(const char *key)
{
	FILE *f = fopen("/sys/kernel/debug/jetwatt-sim/truth/now", "r");
	unsigned long long value = 0, v;
	char name[64], line[128];

	if (!f)
		die("truth");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %llu", name, &v) == 2 && !strcmp(name, key))
			value = v;
	fclose(f);
	return value;
}

static struct mark mark(void)
{
	struct timespec t;
	struct mark m;

	m.sensors = truth("sensors_ns");
	clock_gettime(spinner_clock, &t);
	m.spun = t.tv_sec * 1000000000ULL + t.tv_nsec;
	m.wall = now_ns();
	return m;
}

/* Share of the CPU that others have taken since @m. */
static double share_since(struct mark m)
{
	struct mark n = mark();

	return 1.0 - (double)(n.spun - m.spun + n.sensors - m.sensors) / (n.wall - m.wall);
}

static void print_cost(double share, double seconds, double samples)
{
	printf("share %.6f\nsamples_per_s %.2f\n", share, samples / seconds);
}

/* ------------------------------------------------------------------ */
/* Ours                                                                */

static struct jetwatt *open_module(void)
{
	struct jetwatt *jw;

	if (jetwatt_open(&jw)) {
		fprintf(stderr, "bench: %s\n", jetwatt_error(NULL));
		exit(1);
	}
	return jw;
}

static void configure(struct jetwatt *jw, uint32_t hz, uint32_t share_pct)
{
	struct jetwatt_config c = { hz, UINT32_MAX, UINT32_MAX, share_pct, 0, 0 };

	if (jetwatt_config_set(jw, &c)) {
		fprintf(stderr, "bench: %s\n", jetwatt_error(jw));
		exit(1);
	}
}

struct tally {
	uint64_t samples, gaps, sum;
};

static void take(const struct jetwatt_samples *s, void *arg)
{
	struct tally *t = arg;
	uint32_t i, k;

	t->samples += s->count;
	t->gaps += s->gap;
	for (i = 0; i < s->nr_series; i++)
		for (k = 0; k < s->count; k++)
			t->sum += s->series[i].value[k];
}

static void dispatch_until(struct jetwatt *jw, uint64_t end)
{
	struct pollfd p = { .fd = jetwatt_fd(jw), .events = POLLIN };
	uint64_t now;

	while ((now = now_ns()) < end)
		if (poll(&p, 1, (end - now) / 1000000 + 1) > 0 && jetwatt_dispatch(jw) < 0)
			die("dispatch");
}

static void ours(uint32_t hz, unsigned int seconds)
{
	struct jetwatt *jw = open_module();
	struct tally t = { 0 };
	struct mark m;
	uint64_t begun;

	configure(jw, hz, 50);
	if (jetwatt_subscribe(jw, take, &t))
		die("subscribe");
	dispatch_until(jw, now_ns() + 1000000000ULL);
	start_spinner();
	t.samples = 0;
	begun = now_ns();
	m = mark();
	dispatch_until(jw, begun + seconds * 1000000000ULL);
	print_cost(share_since(m), (now_ns() - begun) / 1e9, t.samples);
	jetwatt_close(jw);
}

/* ------------------------------------------------------------------ */
/* The same rails from hwmon: opened once, shunt and bus voltage each   */

static void sysfs(uint32_t hz, unsigned int seconds)
{
	static const struct {
		unsigned int addr;
		const char *name;
	} files[] = {
		{ 0x40, "in1_input" }, { 0x40, "curr1_input" }, { 0x40, "in2_input" },
		{ 0x40, "curr2_input" }, { 0x40, "in3_input" }, { 0x40, "curr3_input" },
		{ 0x41, "in2_input" }, { 0x41, "curr2_input" },
	};
	int fd[8], i;
	uint64_t period = 1000000000ULL / hz, begun, next, samples = 0, sum = 0;
	char path[192], text[32];
	struct timespec at;
	struct mark m;

	for (i = 0; i < 8; i++) {
		if (!hwmon(files[i].addr, path, 128))
			die("hwmon");
		strcat(path, "/");
		strcat(path, files[i].name);
		fd[i] = open(path, O_RDONLY);
		if (fd[i] < 0)
			die(path);
	}
	start_spinner();
	sleep_ms(100);
	begun = next = now_ns();
	m = mark();
	while (now_ns() < begun + seconds * 1000000000ULL) {
		for (i = 0; i < 8; i++) {
			ssize_t n = pread(fd[i], text, sizeof(text) - 1, 0);

			if (n <= 0)
				die("pread");
			text[n] = '\0';
			sum += strtol(text, NULL, 10);
		}
		samples++;
		next += period;
		at.tv_sec = next / 1000000000;
		at.tv_nsec = next % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	print_cost(share_since(m), (now_ns() - begun) / 1e9, samples);
	fprintf(stderr, "bench: sum %llu\n", (unsigned long long)sum);
}

/* CMD gets rate and duration as its last arguments, and prints how often it read. */
static void other(uint32_t hz, unsigned int seconds, char **cmd, int n)
{
	char rate[16], duration[16], text[32] = "";
	char *argv[16] = { NULL };
	uint64_t begun;
	struct mark m;
	int fd[2], i;

	for (i = 0; i < n && i < 12; i++)
		argv[i] = cmd[i];
	snprintf(rate, sizeof(rate), "%u", hz);
	snprintf(duration, sizeof(duration), "%u", seconds);
	argv[i++] = rate;
	argv[i++] = duration;
	if (pipe(fd))
		die("pipe");
	if (!fork()) {
		dup2(fd[1], STDOUT_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	close(fd[1]);
	/* It says "ready" once it has started, so that starting is not counted. */
	if (read(fd[0], text, 6) != 6)
		die(cmd[0]);
	start_spinner();
	begun = now_ns();
	m = mark();
	i = read(fd[0], text, sizeof(text) - 1);
	if (i <= 0)
		die(cmd[0]);
	print_cost(share_since(m), (now_ns() - begun) / 1e9, atof(text));
}

static void idle(unsigned int seconds)
{
	struct mark m;

	start_spinner();
	sleep_ms(100);
	m = mark();
	sleep_ms(seconds * 1000);
	print_cost(share_since(m), seconds, 0);
}

/* ------------------------------------------------------------------ */

/* Short conversions, as JetPack's own tools would set them: through hwmon. */
static void convert_fast(void)
{
	static const unsigned int addr[] = { 0x40, 0x41 };
	char dir[128], path[192];
	int i;

	for (i = 0; i < 2; i++) {
		if (!hwmon(addr[i], dir, sizeof(dir)))
			die("hwmon");
		snprintf(path, sizeof(path), "%s/samples", dir);
		if (write_number(path, 1))
			die(path);
		snprintf(path, sizeof(path), "%s/update_interval", dir);
		if (write_number(path, i ? 0 : 1))
			die(path);
	}
}

static void lateness(unsigned int seconds)
{
	struct jetwatt *jw = open_module();
	struct jetwatt_stats before, after;
	struct tally t = { 0 };

	convert_fast();
	configure(jw, 1000, 90);
	if (jetwatt_subscribe(jw, take, &t))
		die("subscribe");
	dispatch_until(jw, now_ns() + 1000000000ULL);
	jetwatt_stats(jw, &before);
	dispatch_until(jw, now_ns() + seconds * 1000000000ULL);
	jetwatt_stats(jw, &after);
	printf("late_p50_us %.1f\nlate_p99_us %.1f\nlate_max_us %.1f\n", after.late_p50_ns / 1e3,
	       after.late_p99_ns / 1e3, after.late_max_ns / 1e3);
	printf("missed_pct %.4f\nticks %llu\n",
	       100.0 * (after.missed - before.missed) /
	       (after.missed - before.missed + after.ticks - before.ticks),
	       (unsigned long long)(after.ticks - before.ticks));
	jetwatt_close(jw);
}

/*
 * The module's own count is read while all of them are still there: what it
 * could not hand to one that has just gone is no loss of anybody's.
 */
static void crowd(unsigned int n, unsigned int seconds)
{
	struct jetwatt *jw = open_module();
	struct jetwatt_config c;
	struct jetwatt_stats s;
	unsigned long long samples = 0, gaps = 0, got[2];
	int fd[2], status;
	unsigned int i;

	convert_fast();
	/* The module looks at the chips' settings once a second. */
	configure(jw, 0, 90);
	sleep_ms(3000);
	if (jetwatt_config_get(jw, &c))
		die("config");
	configure(jw, c.rate_max_hz, 90);
	if (pipe(fd))
		die("pipe");
	for (i = 0; i < n; i++) {
		if (fork())
			continue;
		struct tally t = { 0 };
		struct jetwatt *mine = open_module();

		if (jetwatt_subscribe(mine, take, &t))
			die("subscribe");
		dispatch_until(mine, now_ns() + (seconds + 2) * 1000000000ULL);
		got[0] = t.samples;
		got[1] = t.gaps;
		if (write(fd[1], got, sizeof(got)) != sizeof(got))
			die("write");
		_exit(0);
	}
	sleep_ms(seconds * 1000);
	jetwatt_stats(jw, &s);
	for (i = 0; i < n; i++) {
		if (wait(&status) < 0 || status || read(fd[0], got, sizeof(got)) != sizeof(got))
			die("subscriber");
		samples += got[0];
		gaps += got[1];
	}
	printf("rate_hz %u\nlost %llu\ngaps %llu\nsamples_each %.0f\nmissed %llu\nseconds %u\n",
	       c.rate_max_hz, (unsigned long long)s.lost, gaps, (double)samples / n,
	       (unsigned long long)s.missed, seconds);
	jetwatt_close(jw);
}

static void ceiling(unsigned int seconds)
{
	struct jetwatt *jw = open_module();
	struct tally t = { 0 };
	uint64_t begun, ns;

	convert_fast();
	configure(jw, 1000, 90);
	sleep_ms(10000);
	begun = now_ns();
	while ((ns = now_ns() - begun) < seconds * 1000000000ULL)
		if (jetwatt_samples_since(jw, 0, take, &t) < 0)
			die("dump");
	/* The sampler runs meanwhile, and its time is in it. */
	printf("sps %.0f\nns_per_sample %.1f\n", t.samples / (ns / 1e9), (double)ns / t.samples);
	jetwatt_close(jw);
}

/* ------------------------------------------------------------------ */
/* Energy                                                              */

#define MODULE_RAILS	3	/* the first three are the module's inputs, jetson.md's sum */

struct account {
	uint64_t every, next, last_ns, from, to;
	double last_w, joules;
};

static struct account accounts[3];	/* every tick, 10 Hz, 1 Hz */

/* Trapezoid, cut at the ends of the window in which the plant's account is known. */
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

/* Work of 5 to 500 ms, pauses of as much, log-uniform. */
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

/* Time and energy of one moment; @joules grows by it. */
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
	/* Until every one of them has a sample beyond the end. */
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
	const char *what = argc > 1 ? argv[1] : "";
	long a = argc > 2 ? atol(argv[2]) : 0, b = argc > 3 ? atol(argv[3]) : 0;

	signal(SIGPIPE, SIG_IGN);
	if (!strcmp(what, "idle"))
		idle(a);
	else if (!strcmp(what, "ours"))
		ours(a, b);
	else if (!strcmp(what, "sysfs"))
		sysfs(a, b);
	else if (!strcmp(what, "other"))
		other(a, b, argv + 4, argc - 4);
	else if (!strcmp(what, "lateness"))
		lateness(a);
	else if (!strcmp(what, "crowd"))
		crowd(a, b);
	else if (!strcmp(what, "ceiling"))
		ceiling(a);
	else if (!strcmp(what, "energy"))
		energy(a);
	else
		return 2;
	if (spinner > 0)
		kill(spinner, SIGKILL);
	return 0;
}
