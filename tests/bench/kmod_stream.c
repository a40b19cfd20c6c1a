// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures how precisely the module samples and how fast it delivers, in a guest. Prints lines
 * "KEY VALUE", which tests/bench/kmod.sh collects.
 *
 *   kmod_stream lateness SECONDS             lateness of samples at 1 kHz
 *   kmod_stream crowd SUBSCRIBERS SECONDS    lost samples at the highest possible rate
 *   kmod_stream ceiling SECONDS              samples per second that can be read from the ring
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
 * The module's counter of lost samples is read while all subscribers are still connected, because
 * samples that it cannot deliver to a subscriber that has left are no loss.
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
	/* The module reads the settings of the chips once a second. */
	configure(jw, 0, 90);
	sleep_ms(3000);
	/* The module measures the highest rate, which may have decreased since it was read: retry. */
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
	/* The sampler runs at the same time, so the result includes its CPU time. */
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
