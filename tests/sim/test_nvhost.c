// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 modules="governor_simpleondemand;jetwatt-sim waits=jp5"
/* Self-test of the device node on which a job waits for the GPU with JetPack 5. */
#include <poll.h>

#include "gpu_uapi.h"
#include "test_board.h"

#include "kselftest_harness.h"

FIXTURE(nvhost) { int gpu, ctrl, pollfd; };

FIXTURE_SETUP(nvhost)
{
	struct sim_nvhost_poll_fd create = { .fd = -1 };

	self->gpu = open("/dev/jetwatt-sim-gpu", O_RDWR | O_CLOEXEC);
	self->ctrl = open("/dev/nvhost-ctrl", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->gpu);
	ASSERT_LE(0, self->ctrl);
	ASSERT_EQ(0, ioctl(self->ctrl, SIM_NVHOST_POLL_FD_CREATE, &create));
	self->pollfd = create.fd;
}

FIXTURE_TEARDOWN(nvhost)
{
	close(self->pollfd);
	close(self->ctrl);
	close(self->gpu);
}

static int submit(int gpu, struct sim_submit *s)
{
	*s = (struct sim_submit){ .permille = 1000, .piece = 1, .pieces = 1 };
	return ioctl(gpu, SIM_SUBMIT, s);
}

TEST_F(nvhost, numbers_are_those_of_the_board)
{
	EXPECT_EQ(0x400C4803UL, SIM_NVHOST_WAIT);
	EXPECT_EQ(0xC0104806UL, SIM_NVHOST_WAITEX);
	EXPECT_EQ(0xC0204809UL, SIM_NVHOST_WAITMEX);
	EXPECT_EQ(0x80084810UL, SIM_NVHOST_POLL_FD_CREATE);
	EXPECT_EQ(0x40104811UL, SIM_NVHOST_POLL_FD_TRIGGER);
}

TEST_F(nvhost, nodes_of_later_releases_are_not_there)
{
	EXPECT_EQ(-1, access("/dev/host1x-fence", F_OK));
	EXPECT_EQ(-1, access("/dev/dri/renderD128", F_OK));
}

TEST_F(nvhost, poll_ends_with_the_work_and_reports_it_once)
{
	struct sim_nvhost_trigger t = { .fd = self->pollfd };
	struct pollfd p = { .fd = self->pollfd, .events = POLLIN | POLLPRI };
	char path[64], name[64] = "";
	struct sim_submit s;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->pollfd);
	ASSERT_GT(readlink(path, name, sizeof(name) - 1), 0);
	EXPECT_STREQ("anon_inode:nvhost-event-poll-fd", name);
	ASSERT_EQ(0, submit(self->gpu, &s));
	t.id = s.syncpt;
	t.threshold = s.threshold;
	ASSERT_EQ(0, ioctl(self->ctrl, SIM_NVHOST_POLL_FD_TRIGGER, &t));
	EXPECT_EQ(0, poll(&p, 1, 0));
	EXPECT_EQ(1, poll(&p, 1, 5000));
	EXPECT_EQ(0, poll(&p, 1, 0));
	t.fd = self->gpu;
	EXPECT_EQ(-1, ioctl(self->ctrl, SIM_NVHOST_POLL_FD_TRIGGER, &t));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(nvhost, waits_time_out_as_the_driver_says)
{
	static const unsigned long cmd[] = { SIM_NVHOST_WAIT, SIM_NVHOST_WAITEX,
					     SIM_NVHOST_WAITMEX };
	struct sim_nvhost_wait w;
	struct sim_submit s;
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, submit(self->gpu, &s));
		w = (struct sim_nvhost_wait){ .id = s.syncpt, .threshold = s.threshold,
					      .timeout_ms = 4 };
		EXPECT_EQ(-1, ioctl(self->ctrl, cmd[i], &w));
		EXPECT_EQ(EAGAIN, errno);
		w.timeout_ms = -1;
		EXPECT_EQ(0, ioctl(self->ctrl, cmd[i], &w));
		EXPECT_EQ(i ? s.threshold : 0, w.value);
		EXPECT_EQ(i == 2, w.clock_id);
		sleep_us(100000);
	}
	w.id = 0;
	EXPECT_EQ(-1, ioctl(self->ctrl, SIM_NVHOST_WAITMEX, &w));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(self->ctrl, SIM_SYNCPOINT_WAIT, &w));
	EXPECT_EQ(ENOTTY, errno);
}

TEST_F(nvhost, jobs_wait_there)
{
	static const char *const how[] = { "pollfd", "syncpt", "event", "helper" };
	size_t i;

	for (i = 0; i < 4; i++) {
		char *run[] = { "/bin/train", "--minibatches", "12", "--wait", (char *)how[i], NULL };
		double t = truth("t_ns");
		int status;
		pid_t pid = start(run);

		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		EXPECT_EQ(12, minibatches_since(t).n);
	}
}

TEST_HARNESS_MAIN
