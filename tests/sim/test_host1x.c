// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 modules="governor_simpleondemand;jetwatt-sim"
/*
 * Self-test of the device nodes on which a job waits for the GPU with JetPack 6, and of the
 * programs that simulate jobs.
 */
#include <poll.h>
#include <sys/mman.h>

#include "gpu_uapi.h"
#include "test_board.h"

#include "kselftest_harness.h"

FIXTURE(host1x) { int gpu, fence, render, pollfd; };

FIXTURE_SETUP(host1x)
{
	struct sim_create_pollfd create = { .fd = -1 };

	self->gpu = open("/dev/jetwatt-sim-gpu", O_RDWR | O_CLOEXEC);
	self->fence = open("/dev/host1x-fence", O_RDWR | O_CLOEXEC);
	self->render = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	ASSERT_GE(self->gpu, 0);
	ASSERT_GE(self->fence, 0);
	ASSERT_GE(self->render, 0);
	ASSERT_EQ(0, ioctl(self->fence, SIM_CREATE_POLLFD, &create));
	self->pollfd = create.fd;
	ASSERT_GE(self->pollfd, 0);
}

FIXTURE_TEARDOWN(host1x)
{
	close(self->pollfd);
	close(self->render);
	close(self->fence);
	close(self->gpu);
}

static int submit(int gpu, struct sim_submit *s)
{
	*s = (struct sim_submit){ .permille = 1000, .piece = 1, .pieces = 1 };
	return ioctl(gpu, SIM_SUBMIT, s);
}

TEST_F(host1x, numbers_are_those_of_the_board)
{
	EXPECT_EQ(0xC0085810UL, SIM_CREATE_POLLFD);
	EXPECT_EQ(0xC0105811UL, SIM_TRIGGER_POLLFD);
	EXPECT_EQ(0xC0206462UL, SIM_SYNCPOINT_WAIT);
}

TEST_F(host1x, a_poll_descriptor_is_named_as_on_the_board)
{
	char path[64], name[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->pollfd);
	ASSERT_GT(readlink(path, name, sizeof(name) - 1), 0);
	EXPECT_STREQ("anon_inode:host1x_pollfd", name);
}

TEST_F(host1x, poll_ends_when_the_work_does)
{
	struct pollfd p = { .fd = self->pollfd, .events = POLLIN | POLLPRI };
	double want = truth("mode_time_ns") / 1e6;
	struct sim_submit s;
	uint64_t begin;
	int i;

	EXPECT_EQ(0, poll(&p, 1, 0));
	for (i = 0; i < 3; i++) {
		struct sim_trigger_pollfd t = { .fd = self->pollfd };

		begin = now_ns();
		ASSERT_EQ(0, submit(self->gpu, &s));
		t.id = s.syncpt;
		t.threshold = s.threshold;
		ASSERT_EQ(0, ioctl(self->fence, SIM_TRIGGER_POLLFD, &t));
		EXPECT_EQ(0, poll(&p, 1, 0));
		EXPECT_EQ(1, poll(&p, 1, 5000));
		EXPECT_NE(0, p.revents & POLLIN);
		EXPECT_GT((now_ns() - begin) / 1e6, 0.7 * want);
		EXPECT_LT((now_ns() - begin) / 1e6, 1.3 * want);
		/* A fence is reported once. */
		EXPECT_EQ(0, poll(&p, 1, 0));
		sleep_us(100000);	/* the job becomes idle */
	}
}

/* A poll() must report all fences of a descriptor that have passed together, and only once. */
TEST_F(host1x, several_fences_on_one_descriptor)
{
	struct sim_trigger_pollfd t = { .fd = self->pollfd };
	struct pollfd p = { .fd = self->pollfd, .events = POLLIN };
	struct sim_submit s;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, submit(self->gpu, &s));
		t.id = s.syncpt;
		t.threshold = s.threshold;
		ASSERT_EQ(0, ioctl(self->fence, SIM_TRIGGER_POLLFD, &t));
		t.threshold = s.threshold + 1;
		ASSERT_EQ(0, ioctl(self->fence, SIM_TRIGGER_POLLFD, &t));
		EXPECT_EQ(1, poll(&p, 1, 5000));
		EXPECT_EQ(0, poll(&p, 1, 0));
	}
	/* The syncpoint has reached this threshold before, so poll() must report the descriptor at
	 * once. */
	t.threshold = s.threshold;
	ASSERT_EQ(0, ioctl(self->fence, SIM_TRIGGER_POLLFD, &t));
	EXPECT_EQ(1, poll(&p, 1, 0));
}

/*
 * The event of a channel group is posted when any GPU work ends, and stays posted until a poll()
 * has reported it.
 */
TEST_F(host1x, event_of_a_channel_group)
{
	struct sim_event_id_ctrl e = { .cmd = SIM_EVENT_ID_ENABLE,
				       .event_id = SIM_EVENT_BLOCKING_SYNC };
	int tsg = open("/dev/nvgpu/igpu0/tsg", O_RDWR);
	char path[64], name[64] = "", want[64];
	struct pollfd p = { .events = POLLIN };
	struct sim_submit s;

	ASSERT_LE(0, tsg);
	EXPECT_EQ(0xC0105407UL, SIM_EVENT_ID_CTRL);
	ASSERT_EQ(0, ioctl(tsg, SIM_EVENT_ID_CTRL, &e));
	p.fd = e.event_fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p.fd);
	snprintf(want, sizeof(want), "anon_inode:nvgpu-event2-fd%d", p.fd);
	ASSERT_GT(readlink(path, name, sizeof(name) - 1), 0);
	EXPECT_STREQ(want, name);
	EXPECT_EQ(0, poll(&p, 1, 0));
	ASSERT_EQ(0, submit(self->gpu, &s));
	EXPECT_EQ(1, poll(&p, 1, 5000));
	EXPECT_EQ(0, poll(&p, 1, 0));
	sleep_us(100000);
	ASSERT_EQ(0, submit(self->gpu, &s));
	sleep_us(truth("mode_time_ns") / 1000 * 1.4);
	EXPECT_EQ(1, poll(&p, 1, 0));
	e.event_id = 6;
	EXPECT_EQ(-1, ioctl(tsg, SIM_EVENT_ID_CTRL, &e));
	EXPECT_EQ(EINVAL, errno);
	close(p.fd);
	close(tsg);
}

TEST_F(host1x, no_other_release_has_its_node_here)
{
	EXPECT_EQ(-1, access("/dev/nvhost-ctrl", F_OK));
}

TEST_F(host1x, syncpoint_wait_ends_times_out_and_returns_the_time)
{
	struct sim_syncpoint_wait w = { 0 };
	struct sim_submit s;

	ASSERT_EQ(0, submit(self->gpu, &s));
	w.id = s.syncpt;
	w.threshold = s.threshold;
	w.timeout_ns = now_ns() + 2000000;
	EXPECT_EQ(-1, ioctl(self->render, SIM_SYNCPOINT_WAIT, &w));
	EXPECT_EQ(ETIMEDOUT, errno);
	w.timeout_ns = now_ns() + 5000000000ULL;
	EXPECT_EQ(0, ioctl(self->render, SIM_SYNCPOINT_WAIT, &w));
	EXPECT_EQ(s.threshold, w.value);
	EXPECT_LE((uint64_t)w.timestamp, now_ns());
	EXPECT_GT((uint64_t)w.timestamp, now_ns() - 50000000);
}

TEST_F(host1x, mapped_memory_has_the_counter)
{
	const volatile uint32_t *counter = mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->gpu, 0);
	struct sim_submit s;

	ASSERT_NE(MAP_FAILED, (void *)counter);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->gpu, 0));
	ASSERT_EQ(0, submit(self->gpu, &s));
	EXPECT_EQ(s.threshold - 1, *counter);
	sleep_us(truth("mode_time_ns") / 1000 * 1.4);
	EXPECT_EQ(s.threshold, *counter);
}

TEST_F(host1x, invalid_arguments_are_refused)
{
	struct sim_trigger_pollfd t = { .fd = self->gpu, .id = 1 };
	struct sim_syncpoint_wait w = { .id = 999, .timeout_ns = INT64_MAX };

	EXPECT_EQ(-1, ioctl(self->fence, SIM_TRIGGER_POLLFD, &t));
	EXPECT_EQ(EINVAL, errno);
	t.fd = 1000;
	EXPECT_EQ(-1, ioctl(self->fence, SIM_TRIGGER_POLLFD, &t));
	EXPECT_EQ(EINVAL, errno);
	t.fd = self->pollfd;
	t.id = 999;
	EXPECT_EQ(-1, ioctl(self->fence, SIM_TRIGGER_POLLFD, &t));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(self->render, SIM_SYNCPOINT_WAIT, &w));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(self->render, SIM_TRIGGER_POLLFD, &t));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(-1, ioctl(self->fence, SIM_TRIGGER_POLLFD, NULL));
	EXPECT_EQ(EFAULT, errno);
}

/*
 * The poll descriptor must stay valid after the job has ended; the job's fence is not reported any
 * more.
 */
TEST_F(host1x, mapping_and_descriptor_outlive_the_job)
{
	struct sim_trigger_pollfd t = { .fd = self->pollfd };
	struct pollfd p = { .fd = self->pollfd, .events = POLLIN };
	struct sim_submit s;

	ASSERT_EQ(0, submit(self->gpu, &s));
	t.id = s.syncpt;
	t.threshold = s.threshold;
	ASSERT_EQ(0, ioctl(self->fence, SIM_TRIGGER_POLLFD, &t));
	close(self->gpu);
	EXPECT_EQ(0, poll(&p, 1, 300));
	close(self->pollfd);
	self->gpu = open("/dev/null", O_RDONLY);
	self->pollfd = open("/dev/null", O_RDONLY);
}

TEST_F(host1x, options_of_the_job_programs)
{
	char *const runs[][10] = {
		{ "/bin/train", "--minibatches", "12", "--syncs", "3", "--wait", "pollfd", NULL },
		{ "/bin/train", "--minibatches", "12", "--wait", "syncpt", NULL },
		{ "/bin/train", "--minibatches", "12", "--wait", "spin", NULL },
		{ "/bin/train", "--minibatches", "12", "--wait", "event", "--syncs", "2", NULL },
		{ "/bin/train", "--minibatches", "12", "--wait", "helper", NULL },
		{ "/bin/train", "--minibatches", "12", "--eval-every", "6", "--eval", "4", NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		double t = truth("t_ns");
		struct minibatches m;
		int status;
		pid_t pid = start((char *const *)runs[i]);

		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		m = minibatches_since(t);
		EXPECT_EQ(12, m.n);
		EXPECT_EQ(i == 5 ? 8 : 0, m.eval);
	}
}

TEST_F(host1x, jobs_end_at_a_signal)
{
	char *train[] = { "/bin/train", NULL }, *nogpu[] = { "/bin/nogpu", NULL };
	char *bad[] = { "/bin/train", "--frobnicate", "1", NULL };
	long n = minibatches_since(0).n;
	int status;
	pid_t pid = start(train);

	sleep_us(1500000);
	EXPECT_EQ(0, end(pid, SIGTERM));
	EXPECT_GT(minibatches_since(0).n, n);
	n = minibatches_since(0).n;
	pid = start(nogpu);
	sleep_us(500000);
	EXPECT_EQ(0, end(pid, SIGINT));
	EXPECT_EQ(n, minibatches_since(0).n);
	pid = start(bad);
	waitpid(pid, &status, 0);
	EXPECT_EQ(2, WEXITSTATUS(status));
}

TEST_HARNESS_MAIN
