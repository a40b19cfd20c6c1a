// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generates the trace of an artificial run, for tests of programs that read traces. The power of
 * each minibatch is a square wave, so the true energy is known.
 *
 *   make-trace OUT [ms=80] [n=300] [busy=0.7] [idle_w=9] [gpu_w=10] [cpu_w=3] [jitter=0.02]
 *              [rate=1000] [gap_at=S] [gap=MS] [slow_at=S] [slow=FACTOR] [eval_every=N]
 *              [syncs=1] [seed=1] [open=0] [drift=0] [noise=0.3] [extra_every=N]
 *              [marks=0] [units=0] [prefill_every=N] [prefill=10] [together=0] [orphan=0]
 *              [others=0] [odd=0] [empty=0]
 *
 * extra_every: each Nth minibatch has an additional wait of 1 ms at its end.
 * marks: the program marks the end of each minibatch, 1 ms after the last wait.
 * units: the program counts this many work units, named token, per minibatch; the count is read once a
 * second, at the end of a minibatch.
 *
 * prefill_every: each Nth minibatch is a prefill. Its duration is that of the other minibatches,
 * times prefill, times a random number from 0.5 to 1.5. It has 3 waits and 48 launches of GPU work;
 * the other minibatches have 1 launch per wait. Without prefill_every, launches are not traced.
 *
 * together: the first samples are in the block that describes the run.
 *
 * others: a child process also has a wait in each minibatch, at its middle, so that the minibatches of
 * the two processes overlap.
 *
 * odd: the command has a line break, a byte that is not UTF-8, and characters of several bytes, in all
 * more than 200 bytes.
 *
 * empty: the trace has no samples.
 *
 * orphan: the rail that is not part of the total has no known parent.
 *
 * Prints the true values as JSON: minibatches, seconds, joules; and the bytes of the trace.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/jetwatt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jetwatt.h"

#define RAILS	4
#define SERIES	(2 * RAILS + 5)
#define BATCH	32
#define START_NS	100000000000ull
#define EXTRA_NS	2000000
#define MARK_NS		1000000
#define COUNT_NS	1000000
#define JOB_PID		4711
#define OTHER_PID	4712
#define EUROS		"\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac"

static const struct {
	const char *label;
	double volts, idle, gpu, cpu;	/* volts; shares of idle_w, gpu_w, cpu_w */
	uint32_t parent;
} rails[RAILS] = {
	{ "VDD_GPU_SOC", 19, .45, .8, 0, UINT32_MAX },
	{ "VDD_CPU_CV", 19, .2, 0, .8, UINT32_MAX },
	{ "VIN_SYS_5V0", 5, .35, .2, .2, UINT32_MAX },
	{ "VDDQ_VDD2_1V8AO", 5, .1, .08, .05, 2 },
};

static struct {
	double ms, n, busy, idle_w, gpu_w, cpu_w, jitter, rate, gap_at, gap, slow_at, slow, eval_every;
	double syncs, seed, open, drift, noise, extra_every, marks, units, prefill_every, prefill, together;
	double orphan, others, odd, empty;
} opt = { .ms = 80, .n = 300, .busy = .7, .idle_w = 9, .gpu_w = 10, .cpu_w = 3, .jitter = .02,
	  .prefill = 10, .rate = 1000, .gap_at = -1, .slow_at = -1, .slow = 1, .syncs = 1, .seed = 1, .noise = .3 };

static const struct {
	const char *name;
	double *value;
} options[] = {
	{ "ms", &opt.ms }, { "n", &opt.n }, { "busy", &opt.busy }, { "idle_w", &opt.idle_w },
	{ "gpu_w", &opt.gpu_w }, { "cpu_w", &opt.cpu_w }, { "jitter", &opt.jitter },
	{ "rate", &opt.rate }, { "gap_at", &opt.gap_at }, { "gap", &opt.gap },
	{ "slow_at", &opt.slow_at }, { "slow", &opt.slow }, { "eval_every", &opt.eval_every },
	{ "syncs", &opt.syncs }, { "seed", &opt.seed }, { "open", &opt.open },
	{ "drift", &opt.drift }, { "noise", &opt.noise },
	{ "extra_every", &opt.extra_every }, { "marks", &opt.marks },
	{ "units", &opt.units }, { "prefill_every", &opt.prefill_every }, { "prefill", &opt.prefill },
	{ "together", &opt.together }, { "orphan", &opt.orphan }, { "others", &opt.others },
	{ "odd", &opt.odd }, { "empty", &opt.empty },
};

static void parse(const char *arg)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		size_t len = strlen(options[i].name);

		if (!strncmp(arg, options[i].name, len) && arg[len] == '=') {
			*options[i].value = atof(arg + len + 1);
			return;
		}
	}
	errx(2, "no such option: %s", arg);
}

static double normal(void)
{
	double u = drand48() + 1e-12, v = drand48();

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* One minibatch: the loader works until @work_ns, then the GPU until @end_ns. */
struct step {
	uint64_t begin_ns, work_ns, end_ns;
	int eval, prefill;
};

static double watts(int r, const struct step *s, uint64_t t, double at_s)
{
	int gpu = t >= s->work_ns && t < s->end_ns, slow = opt.slow_at >= 0 && at_s >= opt.slow_at;
	double f = slow ? 1 / opt.slow : 1;

	return rails[r].idle * (opt.idle_w + opt.drift * at_s / 60) + gpu * f * rails[r].gpu * opt.gpu_w +
	       !gpu * rails[r].cpu * opt.cpu_w;
}

/* Byte 200, at which an export may cut the command, is within a character. */
static const char odd_command[] = "tr\xe9in\n" EUROS EUROS EUROS EUROS EUROS EUROS EUROS EUROS EUROS EUROS;

static void describe(struct jetwatt_trace_writer *w)
{
	struct jetwatt_trace_job job = { START_NS, JOB_PID };

	jetwatt_trace_write_text(w, "board", "Jetson AGX Orin <made up>");
	jetwatt_trace_write_text(w, "kernel", "6.1.0-test");
	jetwatt_trace_write_text(w, "version", "test");
	jetwatt_trace_write_text(w, "command", opt.odd ? odd_command : "train --made \"up\"");
	jetwatt_trace_write_text(w, "scope", "module");
	for (uint32_t r = 0; r < RAILS; r++) {
		struct jetwatt_chip chip = { .id = r / 3, .bus = 1, .addr = 0x40 + r / 3,
			.bus_hz = 400000, .config = 0x7127, .refresh_mhz = 1190000, .model = "ina3221" };
		struct jetwatt_rail rail = { .id = r, .chip = r / 3, .channel = r % 3,
			.shunt_uohm = 2000, .enabled = 1, .requested_mhz = opt.rate * 1000,
			.read_mhz = opt.rate * 1000, .fresh_mhz = opt.rate * 1000,
			.in_total = r < 3, .parent = opt.orphan ? UINT32_MAX : rails[r].parent };

		snprintf(rail.label, sizeof(rail.label), "%s", rails[r].label);
		jetwatt_trace_write_rail(w, &rail);
		if (r % 3 == 0)
			jetwatt_trace_write_chip(w, &chip);
	}
	if (opt.units > 0) {
		jetwatt_trace_write_text(w, "unit.0", "token");
		jetwatt_trace_write_text(w, "unit.0.source", "http://127.0.0.1:8000/metrics");
		jetwatt_trace_write_text(w, "unit.0.metric", "tokens_total");
	}
	jetwatt_trace_write_job(w, &job);
	/* Otherwise the first samples are in the block of the description. */
	if (!opt.together)
		jetwatt_trace_flush(w, 0, 1);
}

/* Samples of the next batch. */
static struct {
	uint64_t t[BATCH], seq;
	int32_t v[SERIES][BATCH];
	uint32_t n;
} pending = { .seq = 1 };

static void send(struct jetwatt_trace_writer *w)
{
	static const uint32_t kind[] = { JETWATT_SERIES_CPU_KHZ, JETWATT_SERIES_GPU_KHZ,
		JETWATT_SERIES_EMC_KHZ, JETWATT_SERIES_CORES, JETWATT_SERIES_TEMP_MC };
	struct jetwatt_series_view view[SERIES];
	struct jetwatt_samples s = { .seq = pending.seq, .count = pending.n, .nr_series = SERIES,
				     .time_ns = pending.t, .series = view };

	for (int k = 0; k < SERIES; k++)
		view[k] = (struct jetwatt_series_view){ k < RAILS ? JETWATT_SERIES_SHUNT_UV :
			k < 2 * RAILS ? JETWATT_SERIES_BUS_UV : kind[k - 2 * RAILS],
			k < 2 * RAILS ? k % RAILS : 0, pending.v[k] };
	if (pending.n)
		jetwatt_trace_write_samples(&s, w);
	pending.seq += pending.n;
	pending.n = 0;
}

static void sample(struct jetwatt_trace_writer *w, const struct step *s, uint64_t t)
{
	double at_s = ((double)t - START_NS) * 1e-9;
	uint32_t i = pending.n, tick = pending.seq + i;
	int slow = opt.slow_at >= 0 && at_s >= opt.slow_at;

	if (opt.empty)
		return;
	pending.n++;
	pending.t[i] = t;
	for (int r = 0; r < RAILS; r++) {
		double ua = (watts(r, s, t, at_s) + opt.noise * normal()) / rails[r].volts * 1e6;

		pending.v[r][i] = lround(ua * .002 / 40) * 40;	/* 2 mOhm, LSB 40 uV */
		pending.v[RAILS + r][i] = tick % RAILS == (uint32_t)r || pending.seq == 1 ?
			(int32_t)(rails[r].volts * 1e6) : JETWATT_VALUE_NONE;
	}
	pending.v[8][i] = 2201600;
	pending.v[9][i] = slow ? 612000 : 1300500;
	pending.v[10][i] = 3199000;
	pending.v[11][i] = 12;
	pending.v[12][i] = tick % 100 ? JETWATT_VALUE_NONE : 48000 + at_s * 100;
	if (pending.n == BATCH)
		send(w);
}

/* @launches: number of launches of GPU work before the wait; 0: launches are not traced */
static void write_wait_of(struct jetwatt_trace_writer *w, uint32_t pid, uint64_t enter_ns, uint64_t exit_ns,
			  uint32_t call, uint32_t launches)
{
	struct jetwatt_sync sync = { .enter_ns = enter_ns, .exit_ns = exit_ns, .cgroup = 7, .tgid = pid,
				     .tid = pid, .call = call, .ret = call == JETWATT_SYNC_POLLFD,
				     .launches = launches, .launch_ns = launches ? enter_ns - 100000 : 0 };

	jetwatt_trace_write_sync(&sync, w);
}

static void write_wait(struct jetwatt_trace_writer *w, uint64_t enter_ns, uint64_t exit_ns, uint32_t call,
		       uint32_t launches)
{
	write_wait_of(w, JOB_PID, enter_ns, exit_ns, call, launches);
}

static void wait_for(struct jetwatt_trace_writer *w, const struct step *s, int more)
{
	int k = s->prefill ? 3 : opt.syncs;
	uint32_t launches = !opt.prefill_every ? 0 : s->prefill ? 16 : 1;
	uint64_t end_ns = s->end_ns - (more ? EXTRA_NS : 0), middle_ns = s->begin_ns / 2 + s->end_ns / 2;

	if (opt.others)
		write_wait_of(w, OTHER_PID, s->begin_ns, middle_ns, JETWATT_SYNC_POLLFD, 0);
	for (int i = 0; i < k; i++) {
		uint64_t part = (end_ns - s->work_ns) / k, from = s->work_ns + i * part;

		write_wait(w, from + part / 10, from + part, JETWATT_SYNC_POLLFD,
			   launches);
	}
	if (more)
		write_wait(w, s->end_ns - EXTRA_NS / 2, s->end_ns, JETWATT_SYNC_POLLFD, 0);
	if (opt.marks)
		write_wait(w, s->end_ns + MARK_NS, s->end_ns + MARK_NS, JETWATT_SYNC_MARK, 0);
}

/* Write the count after @n minibatches, at the time @t_ns. */
static void count(struct jetwatt_trace_writer *w, int n, uint64_t t_ns)
{
	static uint64_t last_ns;
	struct jetwatt_trace_counts c = { .begin_ns = t_ns - COUNT_NS, .end_ns = t_ns + COUNT_NS, .nr = 1 };

	if (!(opt.units > 0) || (last_ns && t_ns - last_ns < 1000000000))
		return;
	last_ns = t_ns;
	c.count[0].value = opt.units * n;
	jetwatt_trace_write_counts(&c, w);
}

int main(int argc, char **argv)
{
	uint64_t t = START_NS - 50000000, gap0, gap1, tick;
	struct step s = { .begin_ns = START_NS };
	struct jetwatt_trace_writer *w;
	double joule = 0, wait = 0;
	int fd;

	if (argc < 2)
		errx(2, "usage: make-trace OUT [NAME=VALUE]...");
	for (int i = 2; i < argc; i++)
		parse(argv[i]);
	srand48(opt.seed);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0 || jetwatt_trace_writer_new(&w, fd))
		err(1, "%s", argv[1]);
	describe(w);
	tick = 1e9 / opt.rate;
	gap0 = opt.gap_at < 0 ? UINT64_MAX : START_NS + opt.gap_at * 1e9;
	gap1 = opt.gap_at < 0 ? UINT64_MAX : gap0 + opt.gap * 1e6;
	for (int i = 0; i < opt.n; i++) {
		double at_s = (s.begin_ns - START_NS) * 1e-9;
		double f = opt.slow_at >= 0 && at_s >= opt.slow_at ? opt.slow : 1, ms;

		s.eval = opt.eval_every && i % (int)(opt.eval_every + 4) >= opt.eval_every;
		ms = opt.ms * (1 + opt.jitter * normal()) * f * (s.eval ? .3 : 1);
		s.prefill = opt.prefill_every && i % (int)opt.prefill_every == opt.prefill_every - 1;
		if (s.prefill)
			ms *= opt.prefill * (0.5 + drand48());
		s.work_ns = s.begin_ns + ms * 1e6 * (1 - opt.busy);
		s.end_ns = s.begin_ns + ms * 1e6;
		for (; t < s.end_ns; t += tick + lrand48() % 20000 - 10000) {
			/* Write the batch at the gap, as a batch has no gaps. */
			if (t >= gap0 && t < gap1) {
				send(w);
				pending.seq++;
				continue;
			}
			sample(w, &s, t);
		}
		for (int r = 0; r < 3; r++)
			joule += (watts(r, &s, s.begin_ns, at_s) * (s.work_ns - s.begin_ns) +
				  watts(r, &s, s.work_ns, at_s) * (s.end_ns - s.work_ns)) * 1e-9;
		wait += (s.end_ns - s.work_ns) * 1e-9;
		wait_for(w, &s, opt.extra_every && i % (int)opt.extra_every == opt.extra_every - 1);
		count(w, i + 1, s.end_ns);
		jetwatt_trace_flush(w, 0, i % 12 == 11);
		s.begin_ns = s.end_ns;
	}
	for (int i = 0; i < 20; i++, t += tick)
		if (t < gap0 || t >= gap1)
			sample(w, &s, t);
	send(w);
	if (!opt.open)
		jetwatt_trace_finish(w, &(struct jetwatt_trace_end){ s.end_ns, 0, 0, 0 });
	else
		jetwatt_trace_flush(w, 0, 1);
	printf("{\"minibatches\":%.0f,\"seconds\":%.6f,\"joules\":%.6f,\"bytes\":%llu}\n", opt.n,
	       (s.end_ns - START_NS) * 1e-9, joule, (unsigned long long)jetwatt_trace_written(w));
	jetwatt_trace_writer_free(w);
	return close(fd) != 0;
}
