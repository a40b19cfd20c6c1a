// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace file: records read back unchanged; truncation or damage costs only the affected block;
 * a reader may follow the writer.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/jetwatt.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "../fuzz/trace.c"
#include "lib/trace_writer.h"
#include "kselftest_harness.h"

#define NONE	JETWATT_VALUE_NONE

static int file(void)
{
	return memfd_create("jwt", MFD_CLOEXEC);
}

TEST(checksum_is_that_of_rfc_3720)
{
	/* RFC 3720, appendix B.4 */
	uint8_t zeros[32] = { 0 }, count[32];

	for (int i = 0; i < 32; i++)
		count[i] = i;
	EXPECT_EQ(0x8a9136aau, jetwatt_crc32c(0, zeros, 32));
	EXPECT_EQ(0x46dd794eu, jetwatt_crc32c(0, count, 32));
	EXPECT_EQ(0xe3069283u, jetwatt_crc32c(0, "123456789", 9));
	EXPECT_EQ(0xe3069283u, jetwatt_crc32c(jetwatt_crc32c(0, "1234", 4), "56789", 5));
}

static int comes_back(const int32_t *v, uint32_t n)
{
	struct jetwatt_trace_buf b = { 0 };
	struct jetwatt_trace_view view;
	int32_t out[JETWATT_TRACE_SAMPLES];
	int good;

	jetwatt_trace_put_column(&b, v, n);
	view = (struct jetwatt_trace_view){ b.byte, b.byte + b.len, 0 };
	jetwatt_trace_get_column(&view, out, n);
	good = !view.bad && view.at == view.end && !memcmp(out, v, n * sizeof(*v));
	free(b.byte);
	return good;
}

TEST(columns_read_back_unchanged)
{
	static const int32_t extreme[] = { INT32_MAX, NONE + 1, 0, INT32_MAX, NONE, NONE + 1 };
	int32_t v[300];

	EXPECT_TRUE(comes_back(extreme, 6));
	srand(1);
	for (int round = 0; round < 3000; round++) {
		uint32_t n = 1 + rand() % 300, step = 1 + rand() % 6, first = rand() % 6;
		int how = rand() % 6, unit = 1 << rand() % 12;

		for (uint32_t i = 0; i < n; i++) {
			v[i] = (rand() % 200 - 100) * unit;
			if ((how == 1 && (i + first) % step) || (how == 2 && rand() % 2) || how == 3)
				v[i] = NONE;
			if (how == 4)
				v[i] = 1300500000;
			if (how == 5)
				v[i] = (int32_t)((uint32_t)rand() << 1 ^ rand());
		}
		ASSERT_TRUE(comes_back(v, n)) TH_LOG("round %d: %u values, kind %d", round, n, how);
	}
}

TEST(times_read_back_unchanged)
{
	uint64_t t[5] = { 7, 1000, 0, UINT64_MAX, 5 }, out[5];
	struct jetwatt_trace_buf b = { 0 };
	struct jetwatt_trace_view v;

	jetwatt_trace_put_times(&b, 999, t, 5);
	v = (struct jetwatt_trace_view){ b.byte, b.byte + b.len, 0 };
	jetwatt_trace_get_times(&v, 999, out, 5);
	EXPECT_FALSE(v.bad);
	EXPECT_EQ(0, memcmp(t, out, sizeof(t)));
	free(b.byte);
}

/* --- a run ------------------------------------------------------------------ */

#define RAILS	4
#define SERIES	(2 * RAILS + 5)
#define BATCH	32

static uint32_t kind_of(int k)
{
	static const uint32_t clock[] = { JETWATT_SERIES_CPU_KHZ, JETWATT_SERIES_GPU_KHZ,
		JETWATT_SERIES_EMC_KHZ, JETWATT_SERIES_CORES, JETWATT_SERIES_TEMP_MC };

	return k < RAILS ? JETWATT_SERIES_SHUNT_UV : k < 2 * RAILS ? JETWATT_SERIES_BUS_UV :
	       clock[k - 2 * RAILS];
}

/* Create batch @nr of samples of a board with four rails at 1 kHz: power bursts, noise of up to
 * two LSBs, one bus voltage per sample in rotation, CPU clock and cores in every sample, and the
 * other clocks and the temperature every 100 ms. */
static void make(struct jetwatt_samples *s, struct jetwatt_series_view *view, int32_t *value,
		 uint64_t *t, uint32_t nr)
{
	unsigned int seed = nr;

	*s = (struct jetwatt_samples){ .seq = 1 + nr * BATCH, .count = BATCH, .nr_series = SERIES,
				       .time_ns = t, .series = view };
	for (int k = 0; k < SERIES; k++)
		view[k] = (struct jetwatt_series_view){ kind_of(k),
			k < 2 * RAILS ? k % RAILS : 0, value + k * BATCH };
	for (int i = 0; i < BATCH; i++) {
		uint32_t tick = nr * BATCH + i;

		t[i] = 5000000000ull + tick * 1000000ull + rand_r(&seed) % 60000;
		for (int k = 0; k < SERIES; k++) {
			int32_t *v = &value[k * BATCH + i];
			int noise = rand_r(&seed) % 5 - 2, busy = tick % 90 < 60;

			if (k < RAILS)
				*v = 40 * (100 + 30 * k + busy * 80 + noise);
			else if (k < 2 * RAILS)
				*v = tick % RAILS == (uint32_t)k % RAILS ? 19000000 + 8000 * noise : NONE;
			else if (kind_of(k) == JETWATT_SERIES_CPU_KHZ || kind_of(k) == JETWATT_SERIES_CORES)
				*v = 2201600;
			else
				*v = tick % 100 ? NONE : 48000 + 100 * noise;
		}
	}
}

static void write_batch(struct jetwatt_trace_writer *w, uint32_t nr)
{
	struct jetwatt_series_view view[SERIES];
	int32_t value[SERIES * BATCH];
	struct jetwatt_samples s;
	uint64_t t[BATCH];

	make(&s, view, value, t, nr);
	jetwatt_trace_write_samples(&s, w);
}

static void wait_of(struct jetwatt_sync *s, uint32_t nr)
{
	*s = (struct jetwatt_sync){ .enter_ns = 5000000000ull + nr * 32000000ull,
		.exit_ns = 5000000000ull + nr * 32000000ull + 9000000 + nr % 7, .cgroup = 77,
		.tgid = 100 + nr % 2, .tid = 101, .call = nr & 1, .ret = nr % 3 ? 1 : -110,
		.lost = nr % 5 == 4 };
	if (nr % 4 == 2) {
		s->launch_ns = s->enter_ns - 3000000;
		s->launches = nr;
	}
}

static void head(struct jetwatt_trace_writer *w)
{
	struct jetwatt_trace_job job = { 5000000001ull, 4711 };
	struct jetwatt_chip chip = { .id = 1, .bus = 1, .addr = 0x40, .bus_hz = 400000,
				     .config = 0x7127, .model = "ina3221",
				     .shunt_us = 332, .averages = 16, .filter = 1,
				     .step_pv = 40000000, .bus_step_pv = 8000000000,
				     .offset_nv = 80000, .gain_ppm = 2500,
				     .bus_offset_uv = 16000, .bus_gain_ppm = 2501, .clipped = 7 };

	jetwatt_trace_write_text(w, "board", "Jetson AGX Orin");
	jetwatt_trace_write_chip(w, &chip);
	for (uint32_t i = 0; i < RAILS; i++) {
		struct jetwatt_rail r = { .id = i, .chip = 1, .channel = i,
			.shunt_uohm = 2000, .enabled = 1, .fresh_mhz = 151000, .in_total = i < 3,
			.parent = i < 3 ? UINT32_MAX : 2 };

		snprintf(r.label, sizeof(r.label), "RAIL_%u", i);
		jetwatt_trace_write_rail(w, &r);
	}
	jetwatt_trace_write_job(w, &job);
}

/* The counters of a program: the first one grows, the second one is missing at first. */
static void counts_of(struct jetwatt_trace_counts *c, uint32_t nr)
{
	*c = (struct jetwatt_trace_counts){
		.begin_ns = 5000000000ull + nr * 32000000ull - 1000, .nr = 2,
		.count = { { 0, 0, nr + 0.25 }, { JETWATT_TRACE_COUNTERS - 1, nr < 3, nr < 3 ? 0 : 1e18 } },
	};
	c->end_ns = c->begin_ns + 500000;
}

static void write_counts(struct jetwatt_trace_writer *w, uint32_t nr)
{
	struct jetwatt_trace_counts c;

	counts_of(&c, nr);
	jetwatt_trace_write_counts(&c, w);
}

/* Write batches and waits @from to @to - 1; a new block begins every @block of them. */
static void write_some(struct jetwatt_trace_writer *w, uint32_t from, uint32_t to, uint32_t block)
{
	struct jetwatt_sync s;

	for (uint32_t nr = from; nr < to; nr++) {
		struct jetwatt_reading r = { .time_ns = 5000000000ull + nr * 32000000ull };

		/* A telemetry reading precedes each batch. A reader without a callback for readings
		 * skips the readings. The telemetry readings and the batches of a damaged block are
		 * lost. */
		jetwatt_each_slot(slot)
			r.of.value[slot] = slot % 2 ? JETWATT_TELEMETRY_NONE : 100 + slot;
		jetwatt_trace_write_reading(&r, w);
		write_counts(w, nr);
		write_batch(w, nr);
		wait_of(&s, nr);
		jetwatt_trace_write_sync(&s, w);
		jetwatt_trace_flush(w, 0, nr % block == block - 1);
	}
}

/* struct got - what a reader has received, and the number of differences from the original */
struct got {
	uint32_t batches, waits, rails, chips, texts, jobs, events, clocks, wrong;
	uint64_t gap;
	struct jetwatt_trace_end end;
};

static void got_samples(const struct jetwatt_samples *s, void *arg)
{
	struct jetwatt_series_view view[SERIES];
	int32_t value[SERIES * BATCH];
	struct jetwatt_samples want;
	struct got *g = arg;
	uint64_t t[BATCH];

	make(&want, view, value, t, (s->seq - 1) / BATCH);
	g->gap += s->gap;
	g->batches++;
	if (s->seq != want.seq || s->count != want.count || s->nr_series != want.nr_series ||
	    memcmp(s->time_ns, t, sizeof(t))) {
		g->wrong++;
		return;
	}
	for (int k = 0; k < SERIES; k++)
		g->wrong += s->series[k].kind != view[k].kind || s->series[k].index != view[k].index ||
			    memcmp(s->series[k].value, view[k].value, BATCH * sizeof(int32_t));
}

static void got_sync(const struct jetwatt_sync *s, void *arg)
{
	struct jetwatt_sync want;
	struct got *g = arg;

	wait_of(&want, (s->enter_ns - 5000000000ull) / 32000000ull);
	g->wrong += memcmp(s, &want, sizeof(want)) != 0;
	g->waits++;
}

static void got_event(const struct jetwatt_event *e, void *arg)
{
	struct got *g = arg;

	g->wrong += e->kind != JETWATT_EVENT_OVERRUN || e->chip != 1 || e->time_ns != 5000000777ull ||
		    e->value != 9;
	g->events++;
}

static void got_text(const char *key, const char *text, void *arg)
{
	struct got *g = arg;

	g->wrong += strcmp(key, "board") || strcmp(text, "Jetson AGX Orin");
	g->texts++;
}

static void got_chip(const struct jetwatt_chip *c, void *arg)
{
	struct got *g = arg;

	g->wrong += c->addr != 0x40 || strcmp(c->model, "ina3221") || c->config != 0x7127;
	g->wrong += c->shunt_us != 332 || c->averages != 16 || c->filter != 1 ||
		    c->step_pv != 40000000 || c->bus_step_pv != 8000000000 ||
		    c->offset_nv != 80000 || c->gain_ppm != 2500 || c->bus_offset_uv != 16000 ||
		    c->bus_gain_ppm != 2501 || c->clipped != 7;
	g->chips++;
}

static void got_rail(const struct jetwatt_rail *r, void *arg)
{
	struct got *g = arg;

	g->wrong += r->shunt_uohm != 2000 || r->fresh_mhz != 151000 ||
		    r->in_total != (r->id < 3) || strncmp(r->label, "RAIL_", 5) ||
		    r->parent != (r->id < 3 ? UINT32_MAX : 2);
	g->rails++;
}

static void got_clocks(const struct jetwatt_trace_clocks *c, void *arg)
{
	struct got *g = arg;

	g->wrong += !c->monotonic_ns || c->boottime_ns < c->monotonic_ns;
	g->clocks++;
}

static void got_job(const struct jetwatt_trace_job *j, void *arg)
{
	struct got *g = arg;

	g->wrong += j->pid != 4711 || j->begun_ns != 5000000001ull;
	g->jobs++;
}

static void got_end(const struct jetwatt_trace_end *e, void *arg)
{
	((struct got *)arg)->end = *e;
}

static const struct jetwatt_trace_calls calls = {
	got_samples, got_sync, got_event, got_text, got_chip, got_rail, got_clocks, got_job, got_end,
};

static int read_all(int fd, struct got *g, struct jetwatt_trace_state *st)
{
	struct jetwatt_trace_reader *r;
	int err;

	memset(g, 0, sizeof(*g));
	lseek(fd, 0, SEEK_SET);
	jetwatt_trace_reader_new(&r, fd, &calls, g);
	do
		err = jetwatt_trace_read(r);
	while (err > 0);
	jetwatt_trace_state(r, st);
	jetwatt_trace_reader_free(r);
	return err;
}

static const struct jetwatt_trace_end ended = { 9000000000ull, 3, 4, 256 };

TEST(records_read_back_unchanged)
{
	struct jetwatt_event e = { JETWATT_EVENT_OVERRUN, 1, 5000000777ull, 9 };
	struct jetwatt_trace_writer *w;
	struct jetwatt_trace_state st;
	int fd = file();
	struct got g;

	jetwatt_trace_writer_new(&w, fd);
	head(w);
	write_some(w, 0, 50, 7);
	jetwatt_trace_write_event(&e, w);
	write_some(w, 53, 60, 7);
	EXPECT_EQ(0, jetwatt_trace_finish(w, &ended));
	EXPECT_EQ(lseek(fd, 0, SEEK_END), (off_t)jetwatt_trace_written(w));
	jetwatt_trace_writer_free(w);

	EXPECT_EQ(0, read_all(fd, &g, &st));
	EXPECT_EQ(0, g.wrong);
	EXPECT_EQ(57, g.batches);
	EXPECT_EQ(57, g.waits);
	EXPECT_EQ(3 * BATCH, g.gap);
	EXPECT_EQ(RAILS, g.rails);
	EXPECT_EQ(1, g.chips);
	EXPECT_EQ(1, g.texts);
	EXPECT_EQ(1, g.jobs);
	EXPECT_EQ(1, g.events);
	EXPECT_EQ(1, g.clocks);
	/* Compare the end records member by member, because their padding may differ. */
	EXPECT_EQ(ended.ended_ns, g.end.ended_ns);
	EXPECT_EQ(ended.waits_lost, g.end.waits_lost);
	EXPECT_EQ(ended.missed, g.end.missed);
	EXPECT_EQ(ended.status, g.end.status);
	EXPECT_EQ(1, st.ended);
	EXPECT_EQ(0, st.damaged + st.missing + st.skipped + st.tail + st.unknown);
	EXPECT_EQ(57, st.waits);
	EXPECT_EQ(3, st.waits_lost);
	EXPECT_EQ(0, st.waits_missing);
	close(fd);
}

/* Write a trace of five blocks with four batches and four waits each. @end: set to the file offset
 * of the end of each block. */
static int five(off_t *end)
{
	struct jetwatt_trace_writer *w;
	int fd = file();

	jetwatt_trace_writer_new(&w, fd);
	head(w);
	for (int i = 0; i < 5; i++) {
		write_some(w, 4 * i, 4 * i + 4, 4);
		end[i] = jetwatt_trace_written(w);
	}
	jetwatt_trace_writer_free(w);
	return fd;
}

TEST(truncated_trace_is_read_up_to_the_last_block)
{
	struct jetwatt_trace_state st;
	off_t end[5];
	int fd = five(end);
	struct got g;

	for (off_t len = end[4]; len >= 0; len -= len > 2 * end[0] ? 7 : 1) {
		uint32_t whole = 0;

		while (whole < 5 && end[whole] <= len)
			whole++;
		ASSERT_EQ(0, ftruncate(fd, len));
		ASSERT_EQ(0, read_all(fd, &g, &st));
		ASSERT_EQ(0, g.wrong);
		ASSERT_EQ(whole, st.blocks);
		ASSERT_EQ(4 * whole, g.batches);
		ASSERT_EQ(4 * whole, g.waits);
		ASSERT_EQ(len - (whole ? end[whole - 1] : 0), (off_t)st.tail);
		ASSERT_EQ(0, st.damaged + st.skipped + st.ended);
	}
	close(fd);
}

TEST(one_wrong_byte_loses_one_block)
{
	struct jetwatt_trace_state st;
	off_t end[5];
	int fd = five(end);
	struct got g;

	for (off_t at = 0; at < end[4]; at += at < 40 || (at > end[1] && at < end[1] + 40) ? 1 : 13) {
		uint32_t hit = 0;
		uint8_t byte, bad;

		while (end[hit] <= at)
			hit++;
		ASSERT_EQ(1, pread(fd, &byte, 1, at));
		bad = byte ^ 1 << at % 8;
		ASSERT_EQ(1, pwrite(fd, &bad, 1, at));
		ASSERT_EQ(0, read_all(fd, &g, &st));
		ASSERT_EQ(0, g.wrong) TH_LOG("byte %ld", (long)at);
		ASSERT_EQ(4, st.blocks) TH_LOG("byte %ld", (long)at);
		ASSERT_EQ(16, g.batches);
		/* Damage in the first or the last block is not counted as missing, because a gap
		 * shows only between two blocks that were read. */
		ASSERT_EQ(hit > 0 && hit < 4, st.missing);
		ASSERT_EQ(hit < 4 ? 4 : 0, st.waits_missing);
		ASSERT_EQ(hit > 0 && hit < 4 ? 4 * BATCH : 0, g.gap);
		ASSERT_EQ(1, pwrite(fd, &byte, 1, at));
	}
	close(fd);
}

/* A reader that receives the file byte by byte passes on the records of each block as soon as the
 * block is complete. */
TEST(reader_follows_the_writer)
{
	struct jetwatt_trace_reader *r;
	uint8_t byte[65536];
	int p[2], err;
	off_t end[5];
	int fd = five(end);
	struct got g = { 0 };

	ASSERT_EQ(0, pipe2(p, O_NONBLOCK));
	jetwatt_trace_reader_new(&r, p[0], &calls, &g);
	ASSERT_EQ(end[4], pread(fd, byte, sizeof(byte), 0));
	for (off_t at = 0; at < end[4]; at++) {
		uint32_t whole = 0;

		while (end[whole] <= at + 1 && ++whole < 5)
			;
		ASSERT_EQ(1, write(p[1], byte + at, 1));
		while ((err = jetwatt_trace_read(r)) > 0)
			;
		ASSERT_EQ(0, err);
		ASSERT_EQ(4 * whole, g.batches);
	}
	ASSERT_EQ(0, g.wrong);
	jetwatt_trace_reader_free(r);
	close(p[0]);
	close(p[1]);
	close(fd);
}

/* The writer buffers data for one second at most, so that a reader can follow a run. */
TEST(writer_flushes_every_second)
{
	struct jetwatt_trace_writer *w;
	struct jetwatt_trace_state st;
	int fd = file();
	uint64_t first;
	struct got g;

	jetwatt_trace_writer_new(&w, fd);
	head(w);
	EXPECT_EQ(0, jetwatt_trace_flush(w, 0, 0));
	first = jetwatt_trace_written(w);
	EXPECT_LT(0, first);
	write_batch(w, 0);
	EXPECT_EQ(0, jetwatt_trace_flush(w, 0, 0));
	EXPECT_EQ(first, jetwatt_trace_written(w));
	w->opened_ns -= JETWATT_TRACE_AGE_NS;
	EXPECT_EQ(0, jetwatt_trace_flush(w, 5, 0));
	read_all(dup(fd), &g, &st);
	EXPECT_EQ(1, g.batches);
	EXPECT_EQ(5, st.waits_lost);
	lseek(fd, 0, SEEK_END);
	/* The writer repeats the header of the trace every minute. */
	w->head_ns -= 60000000000ull;
	write_batch(w, 1);
	EXPECT_EQ(0, jetwatt_trace_flush(w, 5, 1));
	read_all(dup(fd), &g, &st);
	EXPECT_EQ(2 * RAILS, g.rails);
	EXPECT_EQ(2, g.jobs);
	EXPECT_EQ(0, g.wrong);
	jetwatt_trace_writer_free(w);
	close(fd);
}

static void count_event(const struct jetwatt_event *e, void *arg)
{
	(void)e;
	++*(uint32_t *)arg;
}

/* A recording that waits for a trigger receives events for days and does not flush. The blocks stay short
 * enough for a reader, whatever kind of record fills them. */
TEST(events_and_texts_fill_several_blocks)
{
	static const struct jetwatt_trace_calls count = { .event = count_event };
	const uint32_t nr = JETWATT_TRACE_MAX / 10, texts = JETWATT_TRACE_MAX / 500;
	char text[JETWATT_TRACE_TEXT_LEN / 2];
	struct jetwatt_trace_writer *w;
	struct jetwatt_trace_reader *r;
	struct jetwatt_trace_state st;
	uint32_t events = 0;
	int fd = file();

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	jetwatt_trace_writer_new(&w, fd);
	EXPECT_EQ(0, jetwatt_trace_flush(w, 0, 1));
	for (uint32_t i = 0; i < nr; i++) {
		struct jetwatt_event e = { .kind = JETWATT_EVENT_OVERRUN, .time_ns = i * 1000000000ull, .value = 9 };

		jetwatt_trace_write_event(&e, w);
	}
	EXPECT_EQ(0, jetwatt_trace_flush(w, 0, 1));
	for (uint32_t i = 0; i < texts; i++)
		ASSERT_EQ(0, jetwatt_trace_write_text(w, "progress", text));
	EXPECT_EQ(0, jetwatt_trace_flush(w, 0, 1));
	jetwatt_trace_writer_free(w);
	lseek(fd, 0, SEEK_SET);
	ASSERT_EQ(0, jetwatt_trace_reader_new(&r, fd, &count, &events));
	while (jetwatt_trace_read(r) > 0)
		;
	jetwatt_trace_state(r, &st);
	EXPECT_EQ(nr, events);
	EXPECT_EQ(0, st.damaged + st.missing + st.skipped + st.tail);
	jetwatt_trace_reader_free(r);
	close(fd);
}

TEST(full_disk_is_reported)
{
	struct jetwatt_trace_writer *w;
	struct jetwatt_trace_state st;
	struct rlimit most, less;
	char name[] = "/tmp/trace-XXXXXX";
	int fd = open("/dev/full", O_WRONLY), err = 0;
	struct got g;

	jetwatt_trace_writer_new(&w, fd);
	head(w);
	EXPECT_EQ(-ENOSPC, jetwatt_trace_flush(w, 0, 1));
	EXPECT_EQ(-ENOSPC, jetwatt_trace_flush(w, 0, 1));
	EXPECT_EQ(-ENOSPC, jetwatt_trace_write_text(w, "scope", "module"));
	EXPECT_EQ(-ENOSPC, jetwatt_trace_finish(w, &ended));
	jetwatt_trace_writer_free(w);
	close(fd);

	/* A limit of the file size cuts the trace off in the middle of a block. */
	signal(SIGXFSZ, SIG_IGN);
	fd = mkstemp(name);
	ASSERT_LE(0, fd);
	unlink(name);
	getrlimit(RLIMIT_FSIZE, &most);
	less = (struct rlimit){ 5000, most.rlim_max };
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &less));
	jetwatt_trace_writer_new(&w, fd);
	head(w);
	for (uint32_t nr = 0; nr < 100 && !err; nr++) {
		write_batch(w, nr);
		err = jetwatt_trace_flush(w, 0, nr % 4 == 3);
	}
	setrlimit(RLIMIT_FSIZE, &most);
	EXPECT_EQ(-EFBIG, err);
	EXPECT_EQ(lseek(fd, 0, SEEK_END), (off_t)jetwatt_trace_written(w));
	read_all(fd, &g, &st);
	EXPECT_LE(1, st.blocks);
	EXPECT_EQ(0, st.tail + st.damaged);
	jetwatt_trace_writer_free(w);
	close(fd);
}

TEST(failed_write_keeps_the_file_to_which_a_trace_is_appended)
{
	char name[] = "/tmp/jetwatt-trace.XXXXXX";
	struct jetwatt_trace_writer *w;
	struct rlimit most, less;
	int fd = mkstemp(name), err = 0;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, 5000));
	close(fd);
	fd = open(name, O_RDWR | O_APPEND);
	unlink(name);
	ASSERT_LE(0, fd);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &most);
	less = (struct rlimit){ 10000, most.rlim_max };
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &less));
	jetwatt_trace_writer_new(&w, fd);
	head(w);
	for (uint32_t nr = 0; nr < 100 && !err; nr++) {
		write_batch(w, nr);
		err = jetwatt_trace_flush(w, 0, nr % 4 == 3);
	}
	setrlimit(RLIMIT_FSIZE, &most);
	EXPECT_EQ(-EFBIG, err);
	EXPECT_EQ(5000 + (off_t)jetwatt_trace_written(w), lseek(fd, 0, SEEK_END));
	jetwatt_trace_writer_free(w);
	close(fd);
}

TEST(trace_is_small_with_blocks_of_equal_size)
{
	struct jetwatt_trace_writer *w;
	struct jetwatt_trace_state st;
	size_t block = 0;
	int fd = file();
	double mib;
	struct got g;

	jetwatt_trace_writer_new(&w, fd);
	head(w);
	/* a trace of ten minutes with one block per second, as in a real session */
	for (uint32_t nr = 0; nr < 600000 / BATCH; nr++) {
		write_some(w, nr, nr + 1, 1000 / BATCH);
		if (nr == 1000)
			block = w->block.max;
	}
	jetwatt_trace_finish(w, &ended);
	EXPECT_EQ(block, w->block.max);
	mib = jetwatt_trace_written(w) * 6.0 / (1 << 20);
	EXPECT_GT(45, mib);
	TH_LOG("%.1f MiB an hour, %.2f bytes a sample", mib,
	       jetwatt_trace_written(w) / (600000 / BATCH * (double)BATCH));
	jetwatt_trace_writer_free(w);
	read_all(fd, &g, &st);
	EXPECT_EQ(0, g.wrong);
	EXPECT_EQ(600000 / BATCH, g.batches);
	close(fd);
}

TEST(invalid_records_are_refused)
{
	char longer[JETWATT_TRACE_TEXT_LEN + 1];
	struct jetwatt_trace_writer *w;
	int err = 0;

	memset(longer, 'x', sizeof(longer));
	longer[JETWATT_TRACE_TEXT_LEN] = '\0';
	jetwatt_trace_writer_new(&w, -1);
	EXPECT_EQ(-EINVAL, jetwatt_trace_write_text(w, "key", longer));
	EXPECT_EQ(-EINVAL, jetwatt_trace_write_text(w, "", "text"));
	EXPECT_EQ(-EINVAL, jetwatt_trace_write_text(w, longer, "text"));
	for (int i = 0; i < 1000 && !err; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		err = jetwatt_trace_write_text(w, key, "text");
	}
	EXPECT_EQ(-ENOSPC, err);
	EXPECT_EQ(-EBADF, jetwatt_trace_flush(w, 0, 1));
	jetwatt_trace_writer_free(w);
}

static void got_counts(const struct jetwatt_trace_counts *c, void *arg)
{
	uint32_t *n = arg;
	struct jetwatt_trace_counts want;

	counts_of(&want, *n);
	*n += !memcmp(&want, c, sizeof(want));
}

TEST(counters_of_work_units_are_checked)
{
	static const struct jetwatt_trace_calls none;
	/* Begin and duration are 0. The number of counters exceeds the limit, the index of a
	 * counter exceeds the limit, or the value is infinite. */
	static const uint8_t bad[][16] = {
		{ JETWATT_TRACE_COUNTS, 3, 0, 0, JETWATT_TRACE_COUNTERS + 1 },
		{ JETWATT_TRACE_COUNTS, 6, 0, 0, 1, JETWATT_TRACE_COUNTERS, 0, 0 },
		{ JETWATT_TRACE_COUNTS, 14, 0, 0, 1, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xf8, 0x7f },
	};
	struct jetwatt_trace_writer *w;
	struct jetwatt_trace_reader *r;
	struct jetwatt_trace_state st;
	int fd = file();
	uint32_t n = 0;
	struct got g;

	ASSERT_EQ(0, jetwatt_trace_writer_new(&w, fd));
	head(w);
	write_some(w, 0, 40, 8);
	jetwatt_trace_writer_free(w);
	ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
	ASSERT_EQ(0, jetwatt_trace_reader_new(&r, fd, &none, &n));
	jetwatt_trace_reader_counts(r, got_counts);
	while (jetwatt_trace_read(r) > 0)
		;
	jetwatt_trace_reader_free(r);
	close(fd);
	EXPECT_EQ(40, n);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct jetwatt_trace_block b = { .version = 1, .length = bad[i][1] + 2,
						 .crc = jetwatt_crc32c(0, bad[i], bad[i][1] + 2) };
		uint8_t header[JETWATT_TRACE_HEADER];

		fd = file();
		jetwatt_trace_block_put(header, &b);
		ASSERT_EQ(sizeof(header), write(fd, header, sizeof(header)));
		ASSERT_EQ(b.length, write(fd, bad[i], b.length));
		EXPECT_EQ(0, read_all(fd, &g, &st));
		EXPECT_EQ(1, st.damaged);
		close(fd);
	}
}

/* A block of a newer format version is refused; records of an unknown kind in a block are
 * skipped. */
TEST(newer_format_is_refused)
{
	static const uint8_t record[] = { 99, 2, 1, 2, JETWATT_TRACE_LOST, 2, 8, 9 };
	struct jetwatt_trace_block b = { .version = 1, .length = sizeof(record),
					 .crc = jetwatt_crc32c(0, record, sizeof(record)) };
	uint8_t header[JETWATT_TRACE_HEADER];
	struct jetwatt_trace_state st;
	int fd = file();
	struct got g;

	jetwatt_trace_block_put(header, &b);
	ASSERT_EQ(sizeof(header), write(fd, header, sizeof(header)));
	ASSERT_EQ(sizeof(record), write(fd, record, sizeof(record)));
	EXPECT_EQ(0, read_all(fd, &g, &st));
	EXPECT_EQ(1, st.unknown);
	EXPECT_EQ(8, st.waits_missing);
	EXPECT_EQ(9, st.waits_lost);
	b.version = 2;
	jetwatt_trace_block_put(header, &b);
	ASSERT_EQ(sizeof(header), pwrite(fd, header, sizeof(header), 0));
	EXPECT_EQ(-EPROTO, read_all(fd, &g, &st));
	close(fd);
}

/* Read traces with flipped bits, bytes set to critical values, or a cut-off end. The damage is
 * drawn from a fixed seed, and is applied to files and to records whose checksum is then
 * corrected. */
TEST(damaged_traces_never_crash)
{
	static const uint8_t telling[] = { 0, 1, 0x7f, 0x80, 0xff };
	static uint8_t seed[65536], buf[65536];
	off_t end[5];
	int fd = five(end);
	size_t len[2];

	ASSERT_EQ(end[1], pread(fd, seed, end[1], 0));
	srand(1);
	len[0] = end[1];
	len[1] = end[0] - JETWATT_TRACE_HEADER;
	for (int round = 0; round < 6000; round++) {
		int one = round & 1;
		size_t n = len[one];

		buf[0] = one;
		memcpy(buf + 1, seed + one * JETWATT_TRACE_HEADER, n);
		for (int k = rand() % 6; k > 0; k--) {
			size_t at = 1 + (rand() % 2 ? rand() % n : rand() % 64 % n);

			if (rand() % 2)
				buf[at] ^= 1 << rand() % 8;
			else
				buf[at] = telling[rand() % sizeof(telling)];
		}
		if (rand() % 4 == 0)
			n = rand() % (n + 1);
		LLVMFuzzerTestOneInput(buf, n + 1);
	}
	close(fd);
}

TEST_HARNESS_MAIN
