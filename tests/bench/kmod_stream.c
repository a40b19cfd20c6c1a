// SPDX-License-Identifier: GPL-2.0-only
/*
 * How well the module samples and delivers, in a guest: "KEY VALUE" lines on
 * stdout, which tests/bench/kmod.sh puts together.
 *
 *   kmod_stream lateness SECONDS             how late at 1 kHz
 *   kmod_stream crowd SUBSCRIBERS SECONDS    loss at the highest rate there is
 *   kmod_stream ceiling SECONDS              samples that can be taken out of the ring a second
 */
#include <sys/wait.h>

#include "bench/kmod.h"

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
	uint32_t granted;
	int fd[2], status;
	unsigned int i;

	convert_fast();
	/* The module looks at the chips' settings once a second. */
	configure(jw, 0, 90);
	sleep_ms(3000);
	/* What is possible is measured, and may be a little less the next moment. */
	for (i = 0; i < 10; i++) {
		if (jetwatt_config_get(jw, &c))
			die("config");
		c.rate_hz = c.rate_max_hz;
		c.batch = c.batch_age_ms = UINT32_MAX;
		if (!jetwatt_config_set(jw, &c))
			break;
	}
	if (i == 10) {
		fprintf(stderr, "bench: %s\n", jetwatt_error(jw));
		exit(1);
	}
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
	granted = c.rate_hz;
	sleep_ms(seconds * 1000);
	if (jetwatt_stats(jw, &s) || jetwatt_config_get(jw, &c))
		die("stats");
	for (i = 0; i < n; i++) {
		if (wait(&status) < 0 || status || read(fd[0], got, sizeof(got)) != sizeof(got))
			die("subscriber");
		samples += got[0];
		gaps += got[1];
	}
	printf("granted_hz %u\nrate_hz %u\nlost %llu\ngaps %llu\nsamples_each %.0f\nmissed %llu\nseconds %u\n",
	       granted, c.active_hz, (unsigned long long)s.lost, gaps, (double)samples / n,
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

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long a = argc > 2 ? atol(argv[2]) : 0, b = argc > 3 ? atol(argv[3]) : 0;

	if (!strcmp(what, "lateness"))
		lateness(a);
	else if (!strcmp(what, "crowd"))
		crowd(a, b);
	else if (!strcmp(what, "ceiling"))
		ceiling(a);
	else
		return 2;
	return 0;
}
