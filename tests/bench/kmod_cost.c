// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the CPU time of sampling, in a guest with one CPU and virtual time. Prints lines
 * "KEY VALUE", which tests/bench/kmod.sh collects.
 *
 *   kmod_cost idle SECONDS             no process samples
 *   kmod_cost ours HZ SECONDS [MS]     jetwatt.ko samples; one subscriber gets a message every MS
 *                                      milliseconds or 256 samples (default: 100, 32)
 *   kmod_cost sysfs HZ SECONDS         this program reads the same rails from hwmon
 *   kmod_cost other HZ SECONDS CMD...  CMD reads them, and prints the number of samples it took
 *
 * The CPU time is the time that an endless loop of the lowest priority does not get, so it includes
 * interrupts, kernel threads and work items. The CPU time of the simulated adapter and sensors is
 * subtracted, because on a board they use none. The simulated adapter takes one interrupt per
 * transfer, for every reader. i2c-tegra takes one per message, so on a board each register costs
 * every reader more.
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "bench/kmod.h"

/* ------------------------------------------------------------------ */
/* CPU time of the whole guest                                         */

static pid_t spinner;
static volatile uint64_t *rounds;	/* rounds of the spinner's loop */
static double round_ns;

static __attribute__((noinline)) void spin(uint64_t n)
{
	while (n--)
		++*rounds;
}

/* Shortest of 50 runs, which no interrupt has prolonged. */
static uint64_t spin_ns(uint64_t n)
{
	uint64_t best = UINT64_MAX, begun, ns;
	int i;

	for (i = 0; i < 50; i++) {
		begun = now_ns();
		spin(n);
		ns = now_ns() - begun;
		best = ns < best ? ns : best;
	}
	return best;
}

static void start_spinner(void)
{
	struct sched_param none = { 0 };

	rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rounds == MAP_FAILED)
		die("mmap");
	/* The difference of two runs cancels the time to read the clock. */
	round_ns = (spin_ns(20000) - spin_ns(10000)) / 10000.0;
	spinner = fork();
	if (!spinner) {
		sched_setscheduler(0, SCHED_IDLE, &none);
		spin(UINT64_MAX);
	}
	if (spinner < 0)
		die("spinner");
}

struct mark {
	uint64_t wall, rounds, hardware;
};

static struct mark mark(void)
{
	struct mark m;

	m.hardware = truth("sensors_ns");
	m.rounds = *rounds;
	m.wall = now_ns();
	return m;
}

/* Share of the CPU that other processes and the kernel have used since @m. */
static double share_since(struct mark m)
{
	struct mark n = mark();

	return 1.0 - ((n.rounds - m.rounds) * round_ns + n.hardware - m.hardware) /
		     (double)(n.wall - m.wall);
}

static void print_cost(double share, double seconds, double samples)
{
	printf("share %.6f\nsamples_per_s %.2f\n", share, samples / seconds);
}

static void ours(uint32_t hz, unsigned int seconds, uint32_t age_ms)
{
	struct jetwatt *jw = open_module();
	struct jetwatt_stats before, after;
	struct tally t = { 0 };
	struct mark m;
	uint64_t begun;
	double share;

	configure_age(jw, hz, 50, age_ms);
	if (jetwatt_subscribe(jw, take, &t))
		die("subscribe");
	dispatch_until(jw, now_ns() + 1000000000ULL);
	start_spinner();
	/*
	 * Count ticks, not received samples: the first batch may contain earlier samples, and the
	 * last one has not arrived yet.
	 */
	if (jetwatt_stats(jw, &before))
		die("stats");
	begun = now_ns();
	m = mark();
	dispatch_until(jw, begun + seconds * 1000000000ULL);
	share = share_since(m);
	begun = now_ns() - begun;
	if (jetwatt_stats(jw, &after))
		die("stats");
	print_cost(share, begun / 1e9, after.ticks - before.ticks);
	if (t.gaps || !t.samples)
		die("samples are missing");
	jetwatt_close(jw);
}

/* ------------------------------------------------------------------ */
/* The same rails from hwmon: files opened once, bus voltage and current */

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

/* CMD gets rate and duration as its last arguments, and prints the number of samples it took. */
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
	/* CMD prints "ready" when it has started, so that its start is not measured. */
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

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long a = argc > 2 ? atol(argv[2]) : 0, b = argc > 3 ? atol(argv[3]) : 0;

	signal(SIGPIPE, SIG_IGN);
	if (!strcmp(what, "idle"))
		idle(a);
	else if (!strcmp(what, "ours"))
		ours(a, b, argc > 4 ? atol(argv[4]) : UINT32_MAX);
	else if (!strcmp(what, "sysfs"))
		sysfs(a, b);
	else if (!strcmp(what, "other"))
		other(a, b, argv + 4, argc - 4);
	else
		return 2;
	kill(spinner, SIGKILL);
	return 0;
}
