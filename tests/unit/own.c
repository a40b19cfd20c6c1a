// SPDX-License-Identifier: GPL-2.0-only
/* Whose waits are reported: the job's, or those of libcuda's thread. And what descriptors are. */
#include <string.h>

#include "kselftest_harness.h"
#include "lib/fdname.h"
#include "lib/own.h"

FIXTURE(own) { struct jetwatt_own own; };
FIXTURE_SETUP(own) { memset(&self->own, 0, sizeof(self->own)); }
FIXTURE_TEARDOWN(own) { }

static int add(struct jetwatt_own *o, uint32_t tgid, uint32_t call, int n)
{
	struct jetwatt_sync s = { .tgid = tgid, .tid = tgid + (call == JETWATT_SYNC_HELPER),
				  .call = call };
	int counted = 0;

	while (n--)
		counted += jetwatt_own_counts(o, &s);
	return counted;
}

TEST_F(own, helpers_alone_count)
{
	EXPECT_EQ(10000, add(&self->own, 7, JETWATT_SYNC_HELPER, 10000));
}

TEST_F(own, own_waits_come_first)
{
	int i;

	for (i = 0; i < 5000; i++) {
		EXPECT_EQ(1, add(&self->own, 7, i % 2 ? JETWATT_SYNC_POLLFD : JETWATT_SYNC_STREAM, 1));
		ASSERT_EQ(0, add(&self->own, 7, JETWATT_SYNC_HELPER, 20));
	}
	/* of another process nothing is known yet */
	EXPECT_EQ(20, add(&self->own, 8, JETWATT_SYNC_HELPER, 20));
}

/* One wait while it starts is not how it waits later. */
TEST_F(own, helpers_count_again_where_own_ones_cease)
{
	EXPECT_EQ(1, add(&self->own, 7, JETWATT_SYNC_SYNCPT, 1));
	EXPECT_EQ(0, add(&self->own, 7, JETWATT_SYNC_HELPER, 64));
	EXPECT_EQ(1000, add(&self->own, 7, JETWATT_SYNC_HELPER, 1000));
	EXPECT_EQ(1, add(&self->own, 7, JETWATT_SYNC_MARK, 1));
}

TEST(descriptors_by_name)
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
