// SPDX-License-Identifier: GPL-2.0-only
/* A step of a live stream (jetwatt.stream) after the program has been busy for longer than the hold time. */
#include <linux/jetwatt.h>
#include <stdlib.h>

#include "jetwatt.h"

static int test_dispatch(struct jetwatt *jw);
static int test_probe_dispatch(struct jetwatt_probe *p);
static uint64_t test_probe_lost(const struct jetwatt_probe *p);
#define jetwatt_dispatch	test_dispatch
#define jetwatt_probe_dispatch	test_probe_dispatch
#define jetwatt_probe_lost	test_probe_lost
#include "../../user/python/native/collect.c"
#include "../../user/python/native/live.c"

#include "kselftest_harness.h"

#define BEGIN_NS	5000000000ull
#define BUSY_S		4

static struct jetwatt_stream *stream;

/* Deliver the samples of the time during which the program was busy, one a millisecond. */
static int test_dispatch(struct jetwatt *jw)
{
	(void)jw;
	for (uint32_t i = 0; i < BUSY_S * 1000; i += 100) {
		int32_t value[2][100];
		uint64_t time_ns[100];
		struct jetwatt_series_view series[2] = {
			{ JETWATT_SERIES_SHUNT_UV, 0, value[0] }, { JETWATT_SERIES_BUS_UV, 0, value[1] },
		};
		struct jetwatt_samples b = { .seq = 1 + i, .count = 100, .nr_series = 2,
					     .time_ns = time_ns, .series = series };

		for (uint32_t k = 0; k < 100; k++) {
			value[0][k] = 5000;
			value[1][k] = 5000000;
			time_ns[k] = BEGIN_NS + (i + k) * 1000000ull;
		}
		jetwatt_stream_samples(&b, stream);
	}
	return 1;
}

/* Deliver its waits, one each 100 ms. */
static int test_probe_dispatch(struct jetwatt_probe *p)
{
	struct jetwatt_sync w = { .tgid = 100, .tid = 100 };

	(void)p;
	for (uint32_t i = 1; i <= BUSY_S * 10; i++) {
		w.exit_ns = BEGIN_NS + i * 100000000ull - 3000000;
		w.enter_ns = w.exit_ns - 50000000;
		on_wait(&w, stream);
	}
	return BUSY_S * 10;
}

static uint64_t test_probe_lost(const struct jetwatt_probe *p)
{
	(void)p;
	return 0;
}

TEST(busy_program_loses_no_wait)
{
	const struct jetwatt_rail rail = { .id = 0, .shunt_uohm = 5000, .enabled = 1, .in_total = 1 };

	stream = jetwatt_stream_new();
	ASSERT_NE(NULL, stream);
	stream->rail[0] = rail;
	stream->nr_rails = 1;
	jetwatt_stream_find_total(stream);
	ASSERT_EQ(0, jetwatt_join_new_rails(&stream->join, &rail, 1, HOLD_MS));
	jetwatt_stream_join(stream);
	stream->track = jetwatt_batch_track_new();
	/* The step passes the probe only to the functions above; it must not be NULL. */
	stream->probe = (void *)stream;
	stream->sysfs_ns = now_ns();
	ASSERT_EQ(1, jetwatt_stream_step_live(stream));
	jetwatt_join_flush(stream->join);
	EXPECT_EQ(0, jetwatt_join_late(stream->join));
	EXPECT_EQ(BUSY_S * 10, stream->wait.n);
	EXPECT_EQ(BUSY_S * 1000, stream->power.n);
	jetwatt_join_free(stream->join);
	jetwatt_batch_track_free(stream->track);
	free(stream->power.at);
	free(stream->found.at);
	free(stream->wait.at);
	free(stream->at_wait.at);
	free(stream->open.at);
	free(stream);
}

TEST_HARNESS_MAIN
