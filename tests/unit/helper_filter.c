// SPDX-License-Identifier: GPL-2.0-only
/* The helper filter, which decides whether the waits of a job's own threads or those of libcuda's
 * helper thread are reported. Also tested: the recognition of descriptors. */
#include <string.h>

#include "kselftest_harness.h"
#include "lib/fdname.h"
#include "lib/helper_filter.h"

#define MS	1000000ull

FIXTURE(own) {
	struct jetwatt_helper_filter own;
	struct jetwatt_sync told[1024];
	size_t nr;
};
FIXTURE_SETUP(own) { memset(self, 0, sizeof(*self)); }
FIXTURE_TEARDOWN(own) { }

static void tell(const struct jetwatt_sync *s, void *arg)
{
	FIXTURE_DATA(own) *self = arg;

	self->told[self->nr++ % 1024] = *s;
}

/* Pass a wait of one millisecond to the filter. Return: number of waits that the filter reports
 * during this call. */
static size_t wait_at(FIXTURE_DATA(own) *self, uint32_t tgid, uint32_t call, uint64_t exit_ns)
{
	struct jetwatt_sync s = { .enter_ns = exit_ns - MS, .exit_ns = exit_ns, .tgid = tgid,
				  .tid = tgid + (call == JETWATT_SYNC_HELPER), .call = call };
	size_t before = self->nr;

	jetwatt_helper_filter_add(&self->own, &s, tell, self);
	return self->nr - before;
}

static size_t add(FIXTURE_DATA(own) *self, uint32_t tgid, uint32_t call, int n)
{
	size_t told = 0;

	while (n--)
		told += wait_at(self, tgid, call, 100 * MS);
	return told;
}

/* Pass the time @now to the filter. Return: number of waits that the filter reports during this
 * call. */
static size_t until(FIXTURE_DATA(own) *self, uint64_t now)
{
	size_t before = self->nr;

	jetwatt_helper_filter_release(&self->own, now, tell, self);
	return self->nr - before;
}

TEST_F(own, helper_waits_count_if_there_are_no_others)
{
	EXPECT_EQ(0, add(self, 7, JETWATT_SYNC_HELPER, 100));
	EXPECT_EQ(100, until(self, UINT64_MAX));
	EXPECT_EQ(10000, add(self, 7, JETWATT_SYNC_HELPER, 10000));
	EXPECT_EQ(0, self->own.dropped);
}

/* If the job's own threads wait, the waits of the helper thread are dropped, also those before the
 * first wait of the job. */
TEST_F(own, own_waits_suppress_helper_waits)
{
	int i;

	EXPECT_EQ(0, add(self, 7, JETWATT_SYNC_HELPER, 20));
	for (i = 0; i < 5000; i++) {
		ASSERT_EQ(1, add(self, 7, i % 2 ? JETWATT_SYNC_POLLFD : JETWATT_SYNC_STREAM, 1));
		ASSERT_EQ(0, add(self, 7, JETWATT_SYNC_HELPER, 20));
	}
	EXPECT_EQ(0, until(self, UINT64_MAX));
	EXPECT_EQ(5001 * 20, self->own.dropped);
	/* Process 8 has only had waits of the helper thread so far, which the filter holds back and
	 * does not drop. */
	EXPECT_EQ(0, add(self, 8, JETWATT_SYNC_HELPER, 20));
	EXPECT_EQ(20, until(self, UINT64_MAX));
}

/* A job's own wait at its start does not suppress helper waits for ever: after 64 helper waits in a
 * row, helper waits are reported again. */
TEST_F(own, helper_waits_count_again_when_own_waits_cease)
{
	EXPECT_EQ(1, add(self, 7, JETWATT_SYNC_SYNCPT, 1));
	EXPECT_EQ(0, add(self, 7, JETWATT_SYNC_HELPER, 64));
	EXPECT_EQ(1000, add(self, 7, JETWATT_SYNC_HELPER, 1000));
	EXPECT_EQ(1, add(self, 7, JETWATT_SYNC_MARK, 1));
	EXPECT_EQ(64, self->own.dropped);
}

/* JAX waits more than a thousand times while it compiles, and then leaves all waits to the helper. */
TEST_F(own, many_own_waits_do_not_suppress_helper_waits_for_long)
{
	EXPECT_EQ(1272, add(self, 7, JETWATT_SYNC_STREAM, 1272));
	EXPECT_EQ(0, add(self, 7, JETWATT_SYNC_HELPER, 960));
	EXPECT_EQ(936, add(self, 7, JETWATT_SYNC_HELPER, 1000));
}

/* If no wait of the process's own threads arrives within JETWATT_HELPER_FILTER_HOLD_NS, the waits of
 * its helper thread are reported, unchanged and in order. */
TEST_F(own, helper_waits_are_released_after_a_delay)
{
	uint64_t hold = JETWATT_HELPER_FILTER_HOLD_NS, t;

	for (t = 10; t <= 50; t += 10)
		EXPECT_EQ(0, wait_at(self, 7, JETWATT_SYNC_HELPER, t * MS));
	EXPECT_EQ(0, wait_at(self, 8, JETWATT_SYNC_HELPER, 60 * MS));
	EXPECT_EQ(10 * MS + hold, jetwatt_helper_filter_release(&self->own, 10 * MS + hold - 1, tell, self));
	EXPECT_EQ(0, self->nr);
	/* When the hold time of a process's first helper wait is over, all its helper waits are
	 * reported. */
	EXPECT_EQ(60 * MS + hold, jetwatt_helper_filter_release(&self->own, 10 * MS + hold, tell, self));
	ASSERT_EQ(5, self->nr);
	for (t = 0; t < 5; t++) {
		EXPECT_EQ((t + 1) * 10 * MS, self->told[t].exit_ns);
		EXPECT_EQ(t * 10 * MS + 9 * MS, self->told[t].enter_ns);
	}
	EXPECT_EQ(1, wait_at(self, 7, JETWATT_SYNC_HELPER, 700 * MS));
	EXPECT_EQ(1, wait_at(self, 8, JETWATT_SYNC_POLLFD, 700 * MS));
	EXPECT_EQ(0, jetwatt_helper_filter_release(&self->own, UINT64_MAX, tell, self));
	EXPECT_EQ(7, self->nr);
	EXPECT_EQ(1, self->own.dropped);
}

/* When JETWATT_HELPER_FILTER_HELD waits are held back, the held waits of the process with the
 * oldest one are reported. */
TEST_F(own, number_of_delayed_waits_is_bounded)
{
	size_t i;

	EXPECT_EQ(0, wait_at(self, 7, JETWATT_SYNC_HELPER, MS));
	for (i = 1; i < JETWATT_HELPER_FILTER_HELD; i++)
		ASSERT_EQ(0, wait_at(self, 8, JETWATT_SYNC_HELPER, (1 + i) * MS));
	EXPECT_EQ(1, wait_at(self, 8, JETWATT_SYNC_HELPER, 300 * MS));
	EXPECT_EQ(7, self->told[0].tgid);
	EXPECT_EQ(JETWATT_HELPER_FILTER_HELD + 1, wait_at(self, 8, JETWATT_SYNC_HELPER, 301 * MS));
	EXPECT_EQ(301 * MS, self->told[JETWATT_HELPER_FILTER_HELD + 1].exit_ns);
	EXPECT_EQ(0, until(self, UINT64_MAX));
	/* The process with this TGID has the same slot in the filter's table as process 7. */
	EXPECT_EQ(0, wait_at(self, 7 + JETWATT_HELPER_FILTER_PROCESSES, JETWATT_SYNC_HELPER, 302 * MS));
	EXPECT_EQ(0, wait_at(self, 7, JETWATT_SYNC_HELPER, 303 * MS));
	EXPECT_EQ(2, until(self, UINT64_MAX));
	EXPECT_EQ(0, self->own.dropped);
}

/* The number of lost events in a suppressed wait is added to that of the next reported wait. */
TEST_F(own, losses_are_reported_with_the_next_wait)
{
	struct jetwatt_sync s = { .tgid = 7, .tid = 8, .call = JETWATT_SYNC_HELPER, .lost = 3 };

	jetwatt_helper_filter_add(&self->own, &s, tell, self);
	EXPECT_EQ(1, add(self, 7, JETWATT_SYNC_SYNCPT, 1));
	EXPECT_EQ(3, self->told[0].lost);
	EXPECT_EQ(1, add(self, 7, JETWATT_SYNC_SYNCPT, 1));
	EXPECT_EQ(0, self->told[1].lost);
}

TEST(descriptors_are_recognised_by_name)
{
	static const struct { const char *path; int what; } d[] = {
		{ "anon_inode:host1x_pollfd", JETWATT_FDNAME_POLLFD },
		{ "anon_inode:[host1x_pollfd]", JETWATT_FDNAME_OTHER },
		{ "anon_inode:nvhost-event-poll-fd", JETWATT_FDNAME_POLLFD },
		{ "anon_inode:nvgpu-event2-fd43", JETWATT_FDNAME_EVENT },
		{ "anon_inode:nvgpu-event0-fd43", JETWATT_FDNAME_OTHER },
		{ "anon_inode:[eventpoll]", JETWATT_FDNAME_OTHER },
		{ "/dev/host1x-fence", JETWATT_FDNAME_FENCE },
		{ "/dev/nvhost-ctrl", JETWATT_FDNAME_NVHOST },
		{ "/dev/nvhost-ctrl-gpu", JETWATT_FDNAME_OTHER },
		{ "/dev/dri/renderD129", JETWATT_FDNAME_RENDER },
		{ "/dev/nvidia0", JETWATT_FDNAME_EVENT },
		{ "/dev/nvidiactl", JETWATT_FDNAME_EVENT },
		{ "/dev/nvidia-uvm", JETWATT_FDNAME_OTHER },
		{ "/dev/nvidia-modeset", JETWATT_FDNAME_OTHER },
		{ "/dev/nvidia", JETWATT_FDNAME_OTHER },
		{ "/home/x/dev/nvidia0", JETWATT_FDNAME_OTHER },
	};
	size_t i;

	for (i = 0; i < sizeof(d) / sizeof(d[0]); i++)
		EXPECT_EQ(d[i].what, jetwatt_fdname_classify(d[i].path)) TH_LOG("%s", d[i].path);
}

TEST_HARNESS_MAIN
