// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=6 modules="governor_simpleondemand;jetwatt-sim" timeout=300
/*
 * Self-test of the plant over time: duration and power of a job's minibatches and kernels in a power
 * mode, when the mode changes, when a second job runs, and when the job loads data itself.
 */
#include "test_board.h"

#include "gpu_uapi.h"
#include "kselftest_harness.h"

static pid_t train(void)
{
	char *argv[] = { "/bin/train", NULL };

	return start(argv);
}

/* End the process @job, unless it is 0, and restore the board's defaults. */
static void restore(pid_t job)
{
	if (job > 0)
		end(job, SIGKILL);
	put(GPU "max_freq", "1300500000");
	put(EMC, "9223372036854775807");
	put(PARAM "noise_time", "12");
	put(PARAM "noise_power", "4");
	/* Wait until the power of the board has settled after the end of the job. */
	sleep_us(4000000);
}

/* A board on which a training job has run for 5 s. */
FIXTURE(plant) { pid_t job; };

FIXTURE_SETUP(plant)
{
	self->job = train();
	ASSERT_GT(self->job, 0);
	sleep_us(5000000);	/* until the first minibatch and settling are over */
}

FIXTURE_TEARDOWN(plant) { restore(self->job); }

/*
 * A board without a job, for the cases that start their own work: they save the time until a
 * training job has settled. A case that sets @job has that process ended.
 */
FIXTURE(idle) { pid_t job; };

FIXTURE_SETUP(idle) { self->job = 0; }

FIXTURE_TEARDOWN(idle) { restore(self->job); }

TEST_F_TIMEOUT(plant, minibatches_last_and_draw_what_the_mode_means, 90)
{
	static const struct { const char *gpu, *emc; } modes[] = {
		{ "1300500000", "9223372036854775807" }, { "522750000", "2133000000" },
		{ "930750000", "665600000" },
	};
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		double t, e = 0, t0, w, want_w, want_ns;
		struct minibatches m;

		ASSERT_EQ(0, put(GPU "max_freq", modes[i].gpu));
		ASSERT_EQ(0, put(EMC, modes[i].emc));
		sleep_us(5000000);
		t = 0;
		truth_power(&t, &e);
		t0 = t;
		sleep_us(12000000);
		w = truth_power(&t, &e);
		m = minibatches_since(t0);
		want_ns = truth("mode_time_ns");
		want_w = truth("mode_power_uw") / 1e6;
		EXPECT_GT(m.n, 20);
		EXPECT_LT(fabs(m.mean_ns / want_ns - 1), 0.01) {
			TH_LOG("%.0f ns, should be %.0f", m.mean_ns, want_ns);
		}
		/* The durations must have noise with a standard deviation of about 1.2 %, and not
		 * zero. */
		EXPECT_GT(m.deviation_ns / want_ns, 0.005);
		EXPECT_LT(m.deviation_ns / want_ns, 0.03);
		EXPECT_LT(fabs(w / want_w - 1), 0.01) {
			TH_LOG("%.3f W, should be %.3f W", w, want_w);
		}
	}
}

/*
 * Return: mean power in W of the last 8 s, calculated from the entries of debugfs file truth/energy
 * next to begin and end; NAN if entries are more than 20 ms apart. *span_s gets the time between the
 * first and the last entry.
 */
static double log_power(double *span_s)
{
	double t, e, t0 = 0, e0 = 0, t1 = 0, e1 = 0, gap = 0, begin = truth("t_ns") - 8e9;
	char line[96];
	FILE *f = fopen(SIM "truth/energy", "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lf,%lf", &t, &e) != 2 || t < begin)
			continue;
		if (!t0) {
			t0 = t;
			e0 = e;
		} else {
			gap = fmax(gap, t - t1);
		}
		t1 = t;
		e1 = e;
	}
	if (f)
		fclose(f);
	*span_s = (t1 - t0) / 1e9;
	return gap <= 20e6 ? (e1 - e0) / (t1 - t0) * 1000 : NAN;
}

TEST_F_TIMEOUT(plant, the_energy_log_is_the_integral_of_power, 120)
{
	double sum = 0, t, e = 0, w, span, logged;
	int i, n = 4000;

	t = 0;
	truth_power(&t, &e);
	/* Sample the power for 8 s, at intervals that are not a multiple of a minibatch. */
	for (i = 0; i < n; i++) {
		sum += truth("power_uw_VDD_GPU_SOC") + truth("power_uw_VDD_CPU_CV") +
		       truth("power_uw_VIN_SYS_5V0");
		sleep_us(700 + i * 7 % 600);
	}
	w = truth_power(&t, &e);
	logged = log_power(&span);
	EXPECT_LT(fabs(sum / n / 1e6 / w - 1), 0.01) {
		TH_LOG("sampled %.3f W, energy %.3f W", sum / n / 1e6, w);
	}
	EXPECT_GT(span, 7.5);
	EXPECT_LT(fabs(logged / w - 1), 0.01) {
		TH_LOG("log %.3f W, energy %.3f W", logged, w);
	}
}

TEST_F(plant, stall_draws_less_than_computing)
{
	double stall = 0, busy = 0;
	int i, n_stall = 0, n_busy = 0;

	/* Sample the power more often than the phases of a minibatch change, and not in step with
	 * them. */
	for (i = 0; i < 2000; i++) {
		char line[64] = "", key[16] = "";
		double w = 0;
		FILE *f = fopen(SIM "truth/now", "re");

		ASSERT_NE(NULL, f);
		while (fgets(line, sizeof(line), f)) {
			if (!strncmp(line, "power_uw_V", 10) && !strstr(line, "1V8AO"))
				w += atof(strchr(line, ' '));
			sscanf(line, "phase %15s", key);
		}
		fclose(f);
		if (!strcmp(key, "stall")) {
			stall += w;
			n_stall++;
		} else if (!strcmp(key, "busy")) {
			busy += w;
			n_busy++;
		}
		sleep_us(1100);
	}
	ASSERT_GT(n_stall, 10);
	ASSERT_GT(n_busy, 100);
	EXPECT_LT(stall / n_stall, 0.9 * busy / n_busy);
}

TEST_F(plant, power_settles_after_a_switch)
{
	double t, e = 0, at_once, later, want;

	t = 0;
	ASSERT_EQ(0, put(GPU "max_freq", "216750000"));
	truth_power(&t, &e);
	sleep_us(400000);
	at_once = truth_power(&t, &e);
	sleep_us(4000000);
	truth_power(&t, &e);
	sleep_us(4000000);
	later = truth_power(&t, &e);
	want = truth("mode_power_uw") / 1e6;
	EXPECT_GT(at_once, 1.15 * want);
	EXPECT_LT(fabs(later / want - 1), 0.02);
}

TEST_F(plant, the_first_minibatch_after_a_switch_is_slower_and_only_that)
{
	double first = 0, rest;
	struct minibatches m;
	char line[128];
	FILE *f;
	unsigned long long begin, stop, t;
	int slower = 0;

	put(PARAM "noise_time", "0");
	sleep_us(500000);
	/* Take the time before the write that changes the mode, because a minibatch may begin
	 * before the write returns. */
	t = now_ns();
	ASSERT_EQ(0, put(GPU "max_freq", "930750000"));
	sleep_us(3000000);
	rest = truth("mode_time_ns");
	f = fopen(SIM "truth/minibatches", "re");
	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*d,%llu,%llu", &begin, &stop) == 2 && begin >= t &&
		    stop - begin > 1.1 * rest && !slower++)
			first = stop - begin;
	fclose(f);
	m = minibatches_since(t + 1e9);
	EXPECT_EQ(1, slower);
	EXPECT_LT(fabs(first / rest - 1.2), 0.01);
	EXPECT_LT(fabs(m.mean_ns / rest - 1), 1e-4);
	EXPECT_LT(m.deviation_ns / rest, 1e-4);
}

TEST_F(plant, work_under_way_goes_on_at_the_new_speed)
{
	unsigned long long begin = 0, stop = 0;
	double slow, fast, part;
	char line[128];
	uint64_t t;
	FILE *f;

	put(PARAM "noise_time", "0");
	put(GPU "max_freq", "114750000");
	sleep_us(3000000);
	slow = truth("mode_time_ns");
	/* Change the mode in the middle of a minibatch, which takes more than half a second in this
	 * mode: */
	f = fopen(SIM "truth/minibatches", "re");
	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "%*d,%llu,%llu", &begin, &stop);
	fclose(f);
	t = now_ns();
	while (t > stop)
		stop += slow;
	sleep_us((stop - t) / 1000 + slow / 2000);
	t = now_ns();
	put(GPU "max_freq", "1300500000");
	sleep_us(2000000);
	fast = truth("mode_time_ns");
	f = fopen(SIM "truth/minibatches", "re");
	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*d,%llu,%llu", &begin, &stop) == 2 && begin < t && stop > t)
			break;
	fclose(f);
	part = (t - begin) / slow;
	EXPECT_LT(fabs((stop - t) / ((1 - part) * fast) - 1), 0.06) {
		TH_LOG("%.1f %% of the minibatch done, the rest took %.1f ms, should take %.1f ms", part * 100, (stop - t) / 1e6,
		       (1 - part) * fast / 1e6);
	}
}

TEST_F(plant, two_jobs_share)
{
	double alone = truth("mode_time_ns"), t;
	struct minibatches m;
	pid_t second = train();

	sleep_us(2000000);
	t = truth("t_ns");
	sleep_us(8000000);
	m = minibatches_since(t);
	end(second, SIGTERM);
	EXPECT_LT(fabs(m.mean_ns / alone - 2), 0.2) {
		TH_LOG("two jobs: a minibatch takes %.2f times as long as with one job", m.mean_ns / alone);
	}
}

TEST_F(plant, a_killed_job_leaves_an_idle_board)
{
	double t, e = 0, w;
	long n;

	end(self->job, SIGKILL);
	self->job = 0;
	sleep_us(4000000);
	t = 0;
	truth_power(&t, &e);
	n = minibatches_since(0).n;
	sleep_us(1000000);
	w = truth_power(&t, &e);
	EXPECT_LT(w, 0.75 * truth("mode_power_uw") / 1e6);
	EXPECT_EQ(n, minibatches_since(0).n);
}

TEST_F(idle, delays_of_a_job_do_not_add_up)
{
	struct sim_load load = { .permille = 1000 };
	int i, fd = open("/dev/jetwatt-sim-gpu", O_RDWR | O_CLOEXEC);
	double want, t;
	struct minibatches m;

	put(PARAM "noise_time", "0");
	ASSERT_GE(fd, 0);
	sleep_us(100000);
	t = truth("t_ns");
	want = truth("mode_time_ns");
	for (i = 0; i < 20; i++) {
		struct sim_submit s = { .permille = 1000, .piece = 1, .pieces = 1 };

		ASSERT_EQ(0, ioctl(fd, SIM_LOAD, &load));
		ASSERT_EQ(0, ioctl(fd, SIM_SUBMIT, &s));
		EXPECT_EQ(-1, ioctl(fd, SIM_SUBMIT, &s));	/* one piece at a time */
		EXPECT_EQ(EBUSY, errno);
		sleep_us(want / 1000 + 8000);	/* 8 ms late */
	}
	m = minibatches_since(t);
	close(fd);
	EXPECT_EQ(20, m.n);
	EXPECT_LT(fabs(m.mean_ns / want - 1), 1e-3) {
		TH_LOG("%.3f ms, should be %.3f", m.mean_ns / 1e6, want / 1e6);
	}
}

/*
 * If a job loads its data itself, loading begins only with its request, so the time for loading
 * adds to that of the minibatch.
 */
TEST_F(idle, loading_on_demand_adds_to_the_minibatch)
{
	struct sim_load load = { .permille = 1000, .now = 1 };
	int i, fd = open("/dev/jetwatt-sim-gpu", O_RDWR | O_CLOEXEC);
	double want, t;
	struct minibatches m;

	put(PARAM "noise_time", "0");
	ASSERT_GE(fd, 0);
	sleep_us(100000);
	t = truth("t_ns");
	want = truth("mode_time_ns") + 8e6;
	for (i = 0; i < 20; i++) {
		struct sim_submit s = { .permille = 1000, .piece = 1, .pieces = 1 };

		sleep_us(8000);
		ASSERT_EQ(0, ioctl(fd, SIM_LOAD, &load));
		ASSERT_EQ(0, ioctl(fd, SIM_SUBMIT, &s));
		sleep_us(truth("mode_time_ns") / 1000);
	}
	m = minibatches_since(t);
	load.now = 2;
	EXPECT_EQ(-1, ioctl(fd, SIM_LOAD, &load));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
	EXPECT_EQ(20, m.n);
	/* Permit an error, because nothing precedes the first minibatch, and because sleeps last
	 * longer than requested. */
	EXPECT_LT(want - 1e6, m.mean_ns);
	EXPECT_GT(want + 5e6, m.mean_ns) {
		TH_LOG("%.3f ms, should be %.3f", m.mean_ns / 1e6, want / 1e6);
	}
}

TEST_F(plant, without_workers_loading_hides_behind_nothing)
{
	double with = truth("mode_time_ns"), without, t;
	struct minibatches m;

	ASSERT_EQ(0, put(PARAM "workers", "0"));
	without = truth("mode_time_ns");
	EXPECT_LT(1.5 * with, without);
	sleep_us(1000000);
	t = truth("t_ns");
	sleep_us(8000000);
	m = minibatches_since(t);
	EXPECT_LT(fabs(m.mean_ns / without - 1), 0.01) {
		TH_LOG("%.3f ms, should be %.3f", m.mean_ns / 1e6, without / 1e6);
	}
	EXPECT_NE(0, put(PARAM "workers", "65"));
	EXPECT_NE(0, put(PARAM "workers", "-2"));
	ASSERT_EQ(0, put(PARAM "workers", "-1"));
	EXPECT_EQ(with, truth("mode_time_ns"));
}

TEST_F(plant, workload_can_be_changed_at_run_time)
{
	double resnet = truth("mode_time_ns");

	ASSERT_EQ(0, put(PARAM "workload", "tiny"));
	EXPECT_GT(0.5 * resnet, truth("mode_time_ns"));
	EXPECT_NE(0, put(PARAM "workload", "nothing"));
	EXPECT_GT(0.5 * resnet, truth("mode_time_ns"));
	ASSERT_EQ(0, put(PARAM "workload", "resnet"));
	EXPECT_EQ(resnet, truth("mode_time_ns"));
}

/*
 * Get both rooflines of the present power mode from debugfs: operations and bytes per second,
 * energy per operation and per byte, and constant power.
 */
static int roofs(double *flop_s, double *byte_s, double *eps_flop, double *eps_mem, double *pi0)
{
	unsigned long long cores = truth("cores"), cpu = truth("cpu_khz"), c, p;
	double gpu = truth("gpu_hz"), emc = truth("emc_hz"), g, e;
	FILE *f = fopen(SIM "truth/roofs", "re");
	char line[160];
	int found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%llu,%llu,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &c, &p, &g, &e, flop_s,
			       byte_s, eps_flop, eps_mem, pi0) == 9 &&
			c == cores && p == cpu && g == gpu && e == emc;
	if (f)
		fclose(f);
	*flop_s *= 1e6;
	*byte_s *= 1e3;
	*eps_flop *= 1e-18;
	*eps_mem *= 1e-18;
	*pi0 *= 1e-6;
	return found;
}

/* Return: mean duration in seconds of the GPU kernels that have begun since time @t_ns. */
static double kernels_since(double t_ns)
{
	unsigned long long begin, end;
	double sum = 0;
	char line[128];
	int n = 0, kind;
	FILE *f = fopen(SIM "truth/minibatches", "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*d,%llu,%llu,%d", &begin, &end, &kind) != 3 ||
		    kind != SIM_KIND_KERNEL || begin < t_ns)
			continue;
		sum += (end - begin) * 1e-9;
		n++;
	}
	if (f)
		fclose(f);
	return sum / n;
}

TEST_F_TIMEOUT(idle, kernels_last_and_draw_what_the_roofs_say, 90)
{
	static const struct { char *flop, *bytes; } work[] = {
		{ "1e9", "3e9" }, { "8e10", "1e7" }, { "5e10", "1.5e9" },
	};
	double flop_s, byte_s, eps_flop, eps_mem, pi0;

	ASSERT_EQ(0, put(GPU "max_freq", "930750000"));
	ASSERT_EQ(1, roofs(&flop_s, &byte_s, &eps_flop, &eps_mem, &pi0));
	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++) {
		char *argv[] = { "/bin/kernels", work[i].flop, work[i].bytes, NULL };
		double flop = atof(work[i].flop), bytes = atof(work[i].bytes);
		double t = 0, e = 0, w, t0, want, s;
		pid_t job = start(argv);

		ASSERT_GT(job, 0);
		sleep_us(5000000);
		truth_power(&t, &e);
		t0 = t;
		sleep_us(10000000);
		w = truth_power(&t, &e);
		s = kernels_since(t0);
		want = fmax(flop / flop_s, bytes / byte_s);
		EXPECT_LT(fabs(s / want - 1), 0.01) {
			TH_LOG("%.3f ms, should be %.3f", s * 1e3, want * 1e3);
		}
		want = (eps_flop * flop + eps_mem * bytes) / want + pi0;
		EXPECT_LT(fabs(w / want - 1), 0.01) {
			TH_LOG("%.3f W, should be %.3f", w, want);
		}
		end(job, SIGKILL);
	}
}

TEST_F(idle, many_launches_take_time_of_the_cpu)
{
	static const char *const khz[] = { "2201600", "1113600" };
	char *argv[] = { "/bin/kernels", "2e9", "2e8", "2000", NULL };
	double s[2];

	put(PARAM "noise_time", "0");
	self->job = start(argv);
	ASSERT_GT(self->job, 0);
	for (int i = 0; i < 2; i++) {
		put(CPU "cpufreq/policy0/scaling_max_freq", khz[i]);
		put(CPU "cpufreq/policy4/scaling_max_freq", khz[i]);
		sleep_us(2000000);
		s[i] = kernels_since(now_ns() - 1e9);
	}
	put(CPU "cpufreq/policy0/scaling_max_freq", khz[0]);
	put(CPU "cpufreq/policy4/scaling_max_freq", khz[0]);
	EXPECT_LT(fabs(s[1] / s[0] / (2201.6 / 1113.6) - 1), 0.01) {
		TH_LOG("%.2f ms and %.2f ms", s[0] * 1e3, s[1] * 1e3);
	}
}

TEST(invalid_work_is_refused)
{
	struct sim_kernel nothing = { .flop = 0 }, heavy = { .flop = SIM_KERNEL_MAX + 1 },
			  many = { .flop = 1, .launches = SIM_LAUNCHES_MAX + 1 };

	static const struct sim_submit bad[] = {
		{ .permille = 0, .piece = 1, .pieces = 1 },
		{ .permille = 1000, .piece = 0, .pieces = 1 },
		{ .permille = 1000, .piece = 2, .pieces = 1 },
		{ .permille = 1000, .piece = 1, .pieces = 1, .kind = 7 },
		{ .permille = 100000000, .piece = 1, .pieces = 1 },
	};
	int fd = open("/dev/jetwatt-sim-gpu", O_RDWR | O_CLOEXEC);
	size_t i;

	ASSERT_GE(fd, 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_submit s = bad[i];

		EXPECT_EQ(-1, ioctl(fd, SIM_SUBMIT, &s));
		EXPECT_EQ(EINVAL, errno);
	}
	EXPECT_EQ(-1, ioctl(fd, SIM_KERNEL, &nothing));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(fd, SIM_KERNEL, &heavy));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(fd, SIM_KERNEL, &many));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(fd, _IO('J', 99)));
	EXPECT_EQ(ENOTTY, errno);
	close(fd);
}

TEST_HARNESS_MAIN
