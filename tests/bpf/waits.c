// SPDX-License-Identifier: GPL-2.0-only
// guest: modules="fuse;jetwatt" timeout=300
/*
 * Test which system calls are reported as waits for the GPU, how often, and with which times, for
 * both backends that see system calls: BPF and the module.
 */
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "node.h"
#include "seen.h"

FIXTURE(gpu) {
	struct node node;
	struct seen seen;
	int timer;
};

FIXTURE_VARIANT(gpu) {
	uint32_t rung;
};

FIXTURE_VARIANT_ADD(gpu, bpf) { JETWATT_BACKEND_TRACEPOINT };
#ifndef WITHOUT_MODULE
FIXTURE_VARIANT_ADD(gpu, module) { JETWATT_BACKEND_MODULE };
#endif

/*
 * Tests with the BPF backend only: it detects reused descriptor numbers, and reports each wait at
 * once.
 */
FIXTURE(bpf) {
	struct node node;
	struct seen seen;
	int timer;
};

/*
 * Time in ns to wait for reports: 0 with BPF; longer with the module, which sends its records every
 * 20 ms.
 */
static uint64_t settle_ns;

/* Process all events that the probe has reported so far. Return: number of waits. */
static int seen_by_now(struct seen *s)
{
	if (settle_ns)
		node_sleep(settle_ns);
	return seen_all(s);
}

static void open_gpu(struct __test_metadata *_metadata, struct node *node, struct seen *seen, int *timer,
		     uint32_t rung)
{
	/* The probe watches system calls only; it does not search for libcuda. */
	struct jetwatt_probe_opts o = { .tgid = getpid(), .backends = rung };
	int err = node_open(node);

	settle_ns = rung == JETWATT_BACKEND_MODULE ? 100000000 : 0;
	if (!settle_ns)
		NEEDS_BPF_EVENTS();
	if (err == -ENODEV)
		SKIP_TEST("needs root and /dev/fuse");
	ASSERT_EQ(0, err);
	*timer = timerfd_create(CLOCK_MONOTONIC, 0);
	ASSERT_LE(0, *timer);
	ASSERT_EQ(0, jetwatt_probe_open(&seen->probe, &o, seen_add, seen)) {
		TH_LOG("%s", jetwatt_probe_error());
	}
}

FIXTURE_SETUP(gpu)
{
	open_gpu(_metadata, &self->node, &self->seen, &self->timer, variant->rung);
}

FIXTURE_SETUP(bpf)
{
	open_gpu(_metadata, &self->node, &self->seen, &self->timer, JETWATT_BACKEND_TRACEPOINT);
}

FIXTURE_TEARDOWN(gpu)
{
	jetwatt_probe_close(self->seen.probe);
	node_close(&self->node);
}

FIXTURE_TEARDOWN(bpf)
{
	jetwatt_probe_close(self->seen.probe);
	node_close(&self->node);
}

static void clear(int timer)
{
	uint64_t n;

	if (read(timer, &n, sizeof(n)) < 0)
		abort();
}

TEST_F(gpu, every_syncpoint_wait_once)
{
	static uint64_t before[1000], after[1000];
	struct jetwatt_sync *s = self->seen.sync;
	int i;

	for (i = 0; i < 1000; i++) {
		before[i] = node_now();
		ASSERT_EQ(0, node_syncpt(self->node.render, i, i % 10 ? 0 : 200000, 0));
		after[i] = node_now();
	}
	ASSERT_EQ(1000, seen_by_now(&self->seen));
	for (i = 0; i < 1000; i++) {
		EXPECT_EQ(JETWATT_SYNC_SYNCPT, s[i].call);
		EXPECT_EQ(getpid(), s[i].tgid);
		EXPECT_EQ(gettid(), s[i].tid);
		EXPECT_EQ(0, s[i].ret);
		EXPECT_LE(before[i], s[i].enter_ns);
		EXPECT_LT(s[i].enter_ns, s[i].exit_ns);
		EXPECT_LE(s[i].exit_ns, after[i]);
		if (!(i % 10))
			EXPECT_LE(200000, s[i].exit_ns - s[i].enter_ns);
	}
	EXPECT_EQ(0, jetwatt_probe_lost(self->seen.probe));
}

#define CLOSE_ON_EXEC	4	/* CLOSE_RANGE_CLOEXEC, since 5.11 */

/*
 * close_range() closes an armed poll descriptor; polling the next file with the same number must
 * not be reported as a wait.
 */
TEST_F(gpu, closed_in_a_range)
{
	/* The descriptors of the probe and of the nodes have lower numbers. */
	static const unsigned int range[][2] = { { 900, 900 }, { 890, ~0U } };
	int event = eventfd(1, 0), i;

	ASSERT_LE(0, event);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(900, dup2(self->timer, 900));
		ASSERT_EQ(0, node_trigger(self->node.fence, 900));
		ASSERT_EQ(0, syscall(SYS_close_range, range[i][0], range[i][1], 0));
		ASSERT_EQ(900, fcntl(event, F_DUPFD, 900));
		ASSERT_EQ(1, node_poll(900, -1));
		EXPECT_EQ(0, seen_by_now(&self->seen));
		close(900);
	}
	/* These calls close nothing. */
	ASSERT_EQ(900, dup2(self->timer, 900));
	ASSERT_EQ(0, node_trigger(self->node.fence, 900));
	syscall(SYS_close_range, 900, 900, CLOSE_ON_EXEC);
	ASSERT_EQ(-1, syscall(SYS_close_range, 900, 899, 0));
	ASSERT_EQ(-1, syscall(SYS_close_range, 0, ~0U, 1 << 20));
	node_signal_in(self->timer, 1000000);
	ASSERT_EQ(1, node_poll(900, -1));
	EXPECT_EQ(1, seen_by_now(&self->seen));
	close(900);
	close(event);
}

TEST_F(gpu, mainline_has_a_shorter_argument)
{
	struct node_wait w = { 0 };

	ASSERT_EQ(0, ioctl(self->node.render, NODE_SYNCPOINT_WAIT_24, &w));
	EXPECT_EQ(1, seen_by_now(&self->seen));
}

/*
 * JetPack 5 has three wait ioctls, whose argument structures agree only in the first three members.
 */
TEST_F(gpu, nvhost_waits)
{
	static const unsigned long cmd[] = { NODE_NVHOST_WAIT, NODE_NVHOST_WAITEX,
					     NODE_NVHOST_WAITMEX };
	struct node_nvhost_wait w = { .id = 3, .threshold = 7 };
	struct jetwatt_sync *s = self->seen.sync;
	uint64_t before, between;
	int i;

	for (i = 0; i < 3; i++) {
		before = node_now();
		w.timeout_ms = 2;
		ASSERT_EQ(-1, ioctl(self->node.nvhost, cmd[i], &w));
		between = node_now();
		/* The second ioctl continues the wait that has timed out; the third goes to another
		 * driver and is no wait. */
		w.timeout_ms = -1;
		ASSERT_EQ(0, ioctl(self->node.nvhost, cmd[i], &w));
		ASSERT_EQ(0, ioctl(self->node.other, cmd[i], &w));
		ASSERT_EQ(i + 1, seen_by_now(&self->seen));
		EXPECT_EQ(JETWATT_SYNC_SYNCPT, s[i].call);
		EXPECT_LE(before, s[i].enter_ns);
		EXPECT_GT(between, s[i].enter_ns);
		EXPECT_LE(between, s[i].exit_ns);
	}
}

TEST_F(gpu, nvhost_poll_descriptor)
{
	struct node_trigger t = { .fd = self->timer };
	int i;

	for (i = 1; i <= 3; i++) {
		node_signal_in(self->timer, 20000000);
		ASSERT_EQ(0, ioctl(self->node.nvhost, NODE_NVHOST_TRIGGER, &t));
		ASSERT_EQ(1, node_poll(self->timer, -1));
		clear(self->timer);
		ASSERT_EQ(i, seen_by_now(&self->seen));
		EXPECT_EQ(JETWATT_SYNC_POLLFD, self->seen.sync[i - 1].call);
	}
	node_signal_in(self->timer, 1000000);
	ASSERT_EQ(0, ioctl(self->node.other, NODE_NVHOST_TRIGGER, &t));
	ASSERT_EQ(1, node_poll(self->timer, -1));
	EXPECT_EQ(3, seen_by_now(&self->seen));
}

static void *as_helper(void *arg)
{
	struct node *n = arg;

	prctl(PR_SET_NAME, "cuda-EvtHandlr");
	node_syncpt(n->render, 1, 0, 0);
	return NULL;
}

/* Waits of the helper thread are not reported if the job itself waits, even if it does so later. */
TEST_F(gpu, helper_waits_are_held_back)
{
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, as_helper, &self->node));
	pthread_join(thread, NULL);
	if (settle_ns)
		node_sleep(settle_ns);
	ASSERT_LE(0, jetwatt_probe_dispatch(self->seen.probe));
	ASSERT_EQ(0, node_syncpt(self->node.render, 2, 0, 0));
	ASSERT_EQ(1, seen_by_now(&self->seen));
	EXPECT_EQ(JETWATT_SYNC_SYNCPT, self->seen.sync[0].call);
	EXPECT_EQ(1, jetwatt_probe_dropped(self->seen.probe));
}

/*
 * If the job itself does not wait, the waits of the helper thread are reported with their times,
 * and the reader of the probe is woken up.
 */
TEST_F(gpu, helper_waits_alone_are_reported)
{
	struct pollfd p = { jetwatt_probe_fd(self->seen.probe), POLLIN, 0 };
	uint64_t end = node_now() + 5000000000ull;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, as_helper, &self->node));
	pthread_join(thread, NULL);
	while (!self->seen.nr && node_now() < end)
		if (poll(&p, 1, 1000) > 0)
			ASSERT_LE(0, jetwatt_probe_dispatch(self->seen.probe));
	ASSERT_EQ(1, self->seen.nr);
	EXPECT_EQ(JETWATT_SYNC_HELPER, self->seen.sync[0].call);
	EXPECT_LT(self->seen.sync[0].exit_ns + 400000000, node_now());
	EXPECT_EQ(0, jetwatt_probe_dropped(self->seen.probe));
}

/* Waits of the helper thread are reported until the job itself has waited, and not afterwards. */
TEST_F(gpu, helper_is_recognised_by_its_name)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, as_helper, &self->node));
		pthread_join(thread, NULL);
		ASSERT_EQ(1 + i, seen_by_now(&self->seen));
		EXPECT_EQ(JETWATT_SYNC_HELPER, self->seen.sync[0].call);
		ASSERT_EQ(0, node_syncpt(self->node.render, 2, 0, 0));
		ASSERT_EQ(2 + i, seen_by_now(&self->seen));
		EXPECT_EQ(JETWATT_SYNC_SYNCPT, self->seen.sync[1 + i].call);
	}
}

TEST_F(gpu, a_number_alone_is_no_wait)
{
	struct node_wait w = { 0 };
	int null = open("/dev/null", O_RDWR), i;

	ASSERT_LE(0, null);
	for (i = 0; i < 300; i++) {
		/* The driver refuses the ioctl. */
		ASSERT_EQ(-1, ioctl(null, NODE_SYNCPOINT_WAIT, &w));
		ASSERT_EQ(-1, ioctl(null, NODE_SYNCPOINT_WAIT_24, &w));
		ASSERT_EQ(-1, ioctl(null, NODE_TRIGGER_POLLFD, &w));
		/* Another driver accepts an ioctl with the number of NODE_SYNCPOINT_WAIT. */
		ASSERT_EQ(0, node_syncpt(self->node.other, 1, 0, 0));
	}
	node_signal_in(self->timer, 1000);
	ASSERT_EQ(0, node_trigger(self->node.other, self->timer));
	ASSERT_EQ(1, node_poll(self->timer, -1));
	EXPECT_EQ(0, seen_by_now(&self->seen));
}

TEST_F(gpu, every_pollfd_wait_once)
{
	static uint64_t before[1000], after[1000];
	struct jetwatt_sync *s = self->seen.sync;
	int i;

	for (i = 0; i < 1000; i++) {
		node_signal_in(self->timer, 100000);
		ASSERT_EQ(0, node_trigger(self->node.fence, self->timer));
		before[i] = node_now();
		ASSERT_EQ(1, node_poll(self->timer, -1));
		after[i] = node_now();
		clear(self->timer);
	}
	ASSERT_EQ(1000, seen_by_now(&self->seen));
	for (i = 0; i < 1000; i++) {
		EXPECT_EQ(JETWATT_SYNC_POLLFD, s[i].call);
		EXPECT_EQ(1, s[i].ret);
		EXPECT_LE(before[i], s[i].enter_ns);
		EXPECT_LE(s[i].exit_ns, after[i]);
	}
}

/* Polls that time out and are repeated are one wait, which begins with the first poll. */
TEST_F(gpu, polls_that_time_out_belong_to_the_wait)
{
	uint64_t before, between;

	node_signal_in(self->timer, 200000000);
	ASSERT_EQ(0, node_trigger(self->node.fence, self->timer));
	before = node_now();
	ASSERT_EQ(0, node_poll(self->timer, 5));
	between = node_now();
	ASSERT_EQ(0, node_poll(self->timer, 5));
	ASSERT_EQ(1, node_poll(self->timer, -1));
	ASSERT_EQ(1, seen_by_now(&self->seen));
	EXPECT_LE(before, self->seen.sync[0].enter_ns);
	EXPECT_GT(between, self->seen.sync[0].enter_ns);
	EXPECT_LE(before + 150000000, self->seen.sync[0].exit_ns);
}

TEST_F(gpu, spinning_is_one_wait)
{
	uint64_t fires = node_now() + 500000000, first = 0, end;
	int polls = 0;

	node_signal_in(self->timer, 500000000);
	ASSERT_EQ(0, node_trigger(self->node.fence, self->timer));
	end = node_now() + 10000000000;
	while (!node_poll(self->timer, 0) && node_now() < end) {
		if (!polls++)
			first = node_now();
	}
	EXPECT_LT(10, polls);
	EXPECT_EQ(1, seen_by_now(&self->seen));
	/* The wait lasts from the first poll to the poll that found the descriptor ready. */
	EXPECT_GE(first, self->seen.sync[0].enter_ns);
	EXPECT_LE(fires, self->seen.sync[0].exit_ns);
}

TEST_F(gpu, polls_of_other_descriptors_are_no_waits)
{
	struct pollfd pfd[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int ready = eventfd(1, 0), i;

	pfd[0].fd = self->timer;
	pfd[1].fd = ready;
	ASSERT_EQ(0, node_trigger(self->node.fence, self->timer));
	for (i = 0; i < 100; i++)
		ASSERT_EQ(1, poll(pfd, 2, -1));
	EXPECT_EQ(0, seen_by_now(&self->seen));
	node_signal_in(self->timer, 1);
	node_sleep(5000000);
	ASSERT_EQ(2, poll(pfd, 2, -1));
	EXPECT_EQ(1, seen_by_now(&self->seen));
	/* The fence was consumed. */
	ASSERT_EQ(2, poll(pfd, 2, -1));
	EXPECT_EQ(1, seen_by_now(&self->seen));
}

/* A new file with the number of a closed poll descriptor is no poll descriptor. */
TEST_F(gpu, close_disarms)
{
	int one = eventfd(1, 0), two;

	ASSERT_EQ(0, node_trigger(self->node.fence, one));
	close(one);
	two = eventfd(1, 0);
	ASSERT_EQ(one, two);
	ASSERT_EQ(1, node_poll(two, -1));
	EXPECT_EQ(0, seen_by_now(&self->seen));
}

/* A fence that is pending on a poll descriptor is pending on its duplicates too. */
TEST_F(gpu, duplicates_have_the_pending_fences)
{
	int two, three = open("/dev/null", O_RDONLY), i;

	/* The probe tracks duplicates only in processes that have armed a descriptor. */
	ASSERT_EQ(0, node_trigger(self->node.fence, 1000));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, node_trigger(self->node.fence, self->timer));
		two = i == 0 ? dup(self->timer) : i == 1 ? dup2(self->timer, three) :
							  fcntl(self->timer, F_DUPFD_CLOEXEC, 0);
		ASSERT_LE(0, two);
		node_signal_in(self->timer, 1000000);
		ASSERT_EQ(1, node_poll(two, -1));
		clear(self->timer);
		close(two);
		EXPECT_EQ(i + 1, seen_by_now(&self->seen));
	}
}

/* dup2() onto an armed descriptor closes it. */
TEST_F(gpu, duplicated_onto_disarms)
{
	int one = eventfd(1, 0), two = eventfd(1, 0);

	ASSERT_EQ(0, node_trigger(self->node.fence, one));
	ASSERT_EQ(one, dup2(two, one));
	ASSERT_EQ(1, node_poll(one, -1));
	EXPECT_EQ(0, seen_by_now(&self->seen));
}

/* The probe looks up a descriptor again after its number was reused. */
TEST_F(bpf, reused_descriptor_is_looked_up_again)
{
	int fd = open("/dev/dri/renderD128", O_RDWR), i;

	ASSERT_LE(0, fd);
	for (i = 1; i <= 20; i++) {
		ASSERT_EQ(0, node_syncpt(fd, i, 0, 0));
		ASSERT_EQ(i, seen_by_now(&self->seen));
		if (i % 2) {
			ASSERT_EQ(fd, dup2(self->node.other, fd));
		} else {
			close(fd);
			ASSERT_EQ(fd, open("/dev/other", O_RDWR));
		}
		ASSERT_EQ(0, node_syncpt(fd, i, 0, 0));
		ASSERT_EQ(i, seen_by_now(&self->seen));
		close(fd);
		ASSERT_EQ(fd, open("/dev/dri/renderD128", O_RDWR));
	}
}

TEST_F(gpu, fences_on_one_pollfd_are_counted)
{
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, node_trigger(self->node.fence, self->timer));
	for (i = 0; i < 3; i++) {
		node_signal_in(self->timer, 50000000);
		ASSERT_EQ(1, node_poll(self->timer, -1));
		clear(self->timer);
		ASSERT_EQ(i + 1, seen_by_now(&self->seen));
		EXPECT_LT(5000000, self->seen.sync[i].exit_ns - self->seen.sync[i].enter_ns);
	}
}

struct poller {
	int timer, ret, sleeping;
};

static void *poll_thread(void *arg)
{
	struct poller *p = arg;

	__atomic_store_n(&p->sleeping, 1, __ATOMIC_RELEASE);
	p->ret = node_poll(p->timer, 5000);
	return NULL;
}

/* One thread sleeps in poll(), another one arms the descriptor: then the wait begins. */
TEST_F(gpu, armed_while_a_thread_sleeps)
{
	struct poller p = { .timer = self->timer };
	uint64_t before, after;
	pthread_t thread;

	/* Polls of a process that has never armed a descriptor are not tracked. */
	ASSERT_EQ(0, node_trigger(self->node.fence, 1000));
	ASSERT_EQ(0, pthread_create(&thread, NULL, poll_thread, &p));
	while (!__atomic_load_n(&p.sleeping, __ATOMIC_ACQUIRE))
		sched_yield();
	node_sleep(20000000);
	before = node_now();
	ASSERT_EQ(0, node_trigger(self->node.fence, self->timer));
	after = node_now();
	node_signal_in(self->timer, 10000000);
	pthread_join(thread, NULL);
	ASSERT_EQ(1, p.ret);
	ASSERT_EQ(1, seen_by_now(&self->seen));
	EXPECT_LE(before, self->seen.sync[0].enter_ns);
	EXPECT_GE(after, self->seen.sync[0].enter_ns);
	EXPECT_NE(gettid(), self->seen.sync[0].tid);
}

TEST_F(gpu, interrupted_wait_is_continued)
{
	uint64_t before = node_now(), between;

	ASSERT_EQ(-EAGAIN, node_syncpt(self->node.render, 7, 3000000, EAGAIN));
	between = node_now();
	/* Between the two parts of the wait, the thread makes an ioctl that is not a wait. */
	ASSERT_EQ(-1, ioctl(self->node.render, TIOCGWINSZ, &before));
	ASSERT_EQ(-ETIMEDOUT, node_syncpt(self->node.render, 7, 3000000, ETIMEDOUT));
	ASSERT_EQ(0, node_syncpt(self->node.render, 7, 1000000, 0));
	ASSERT_EQ(1, seen_by_now(&self->seen));
	EXPECT_LE(before, self->seen.sync[0].enter_ns);
	EXPECT_GT(between, self->seen.sync[0].enter_ns);
	EXPECT_LE(between + 4000000, self->seen.sync[0].exit_ns);
	/* A wait that times out and is not repeated is not reported, even when the thread makes
	 * another ioctl. */
	ASSERT_EQ(-ETIMEDOUT, node_syncpt(self->node.render, 7, 1000000, ETIMEDOUT));
	ASSERT_EQ(0, ioctl(self->timer, FIOCLEX, NULL));
	ASSERT_EQ(1, seen_by_now(&self->seen));
	/* A wait for another syncpoint (8 instead of 7) is a new wait, which begins with its own
	 * call. */
	ASSERT_EQ(-EAGAIN, node_syncpt(self->node.render, 7, 3000000, EAGAIN));
	between = node_now();
	ASSERT_EQ(0, node_syncpt(self->node.render, 8, 0, 0));
	ASSERT_EQ(2, seen_by_now(&self->seen));
	EXPECT_LE(between, self->seen.sync[1].enter_ns);
}

/*
 * If the job gives up a wait that has timed out, the probe must not use its stored start time for a
 * later call.
 */
TEST_F(gpu, abandoned_wait_is_dropped)
{
	ASSERT_EQ(-EAGAIN, node_syncpt(self->node.render, 7, 0, EAGAIN));
	ASSERT_EQ(0, node_trigger(self->node.fence, self->timer));
	EXPECT_EQ(0, seen_by_now(&self->seen));
	ASSERT_EQ(-EAGAIN, node_syncpt(self->node.render, 7, 0, EAGAIN));
	ASSERT_EQ(0, ioctl(self->timer, FIOCLEX, NULL));
	EXPECT_EQ(0, seen_by_now(&self->seen));
}

static void nothing(int sig)
{
	(void)sig;
}

/* Return: 1 if the process is in an interruptible sleep, else 0. */
static int asleep(pid_t pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state == 'S';
}

/*
 * Start a child process that stops the calling process as soon as the calling process sleeps, and
 * continues it 10 ms later. If @sig is not 0, the child process sends signal @sig after another
 * 10 ms. @stopped: set to the time of the stop. Return: pid of the child process.
 */
static pid_t kick(int sig, uint64_t *stopped)
{
	pid_t self = getpid(), pid = fork();

	if (pid)
		return pid;
	while (!asleep(self))
		node_sleep(1000000);
	*stopped = node_now();
	kill(self, SIGSTOP);
	node_sleep(10000000);
	kill(self, SIGCONT);
	node_sleep(10000000);
	if (sig)
		kill(self, sig);
	_exit(0);
}

static uint64_t *shared(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/*
 * After SIGSTOP and SIGCONT, the kernel continues an interrupted poll() with restart_syscall(); the
 * probe must report both as one wait.
 */
TEST_F(gpu, stopped_poll_is_continued)
{
	uint64_t *stopped = shared(), armed = node_now();
	pid_t kicker;

	ASSERT_NE(MAP_FAILED, stopped);
	node_signal_in(self->timer, 200000000);
	ASSERT_EQ(0, node_trigger(self->node.fence, self->timer));
	kicker = kick(0, stopped);
	ASSERT_LT(0, kicker);
	ASSERT_EQ(1, node_poll(self->timer, 5000));
	waitpid(kicker, NULL, 0);
	ASSERT_EQ(1, seen_by_now(&self->seen));
	EXPECT_LE(armed, self->seen.sync[0].enter_ns);
	EXPECT_GT(*stopped, self->seen.sync[0].enter_ns);
	EXPECT_LE(armed + 200000000, self->seen.sync[0].exit_ns);
}

TEST_F(gpu, poll_interrupted_by_a_signal)
{
	struct sigaction act = { .sa_handler = nothing };
	uint64_t *stopped = shared(), armed = node_now();
	pid_t kicker;

	ASSERT_NE(MAP_FAILED, stopped);
	ASSERT_EQ(0, sigaction(SIGUSR1, &act, NULL));
	node_signal_in(self->timer, 500000000);
	ASSERT_EQ(0, node_trigger(self->node.fence, self->timer));
	kicker = kick(SIGUSR1, stopped);
	ASSERT_LT(0, kicker);
	ASSERT_EQ(-1, node_poll(self->timer, 5000));
	ASSERT_EQ(EINTR, errno);
	ASSERT_EQ(1, node_poll(self->timer, 5000));
	waitpid(kicker, NULL, 0);
	ASSERT_EQ(1, seen_by_now(&self->seen));
	EXPECT_GT(*stopped, self->seen.sync[0].enter_ns);
	EXPECT_LE(armed + 500000000, self->seen.sync[0].exit_ns);
}

/*
 * The descriptor of the probe becomes readable after a single wait, and again for each wait after
 * its reader has woken up.
 */
TEST_F(bpf, fd_wakes)
{
	int fd = jetwatt_probe_fd(self->seen.probe), i;
	uint64_t quiet, wakes = 0;

	EXPECT_EQ(0, node_poll(fd, 0));
	for (i = 1; i <= 50; i++) {
		ASSERT_EQ(0, node_syncpt(self->node.render, i, 0, 0));
		while (self->seen.nr < i) {
			ASSERT_EQ(1, node_poll(fd, 1000));
			ASSERT_LE(0, jetwatt_probe_dispatch(self->seen.probe));
		}
	}
	/* Without waits, the probe wakes its reader five times a second to check for new
	 * descriptors. */
	node_sleep(50000000);
	quiet = node_now();
	ASSERT_LE(0, jetwatt_probe_dispatch(self->seen.probe));
	while (node_poll(fd, 300) == 1) {
		ASSERT_EQ(0, jetwatt_probe_dispatch(self->seen.probe));
		ASSERT_GE((node_now() - quiet) / 200000000 + 1, ++wakes);
		if (wakes == 3)
			break;
	}
	ASSERT_EQ(0, node_syncpt(self->node.render, 9, 0, 0));
	ASSERT_EQ(1, node_poll(fd, 1000));
	EXPECT_EQ(51, seen_by_now(&self->seen));
}

static void *two_waits(void *arg)
{
	struct node *n = arg;

	node_syncpt(n->render, 1, 0, 0);
	node_sleep(4000000);
	node_syncpt(n->render, 2, 0, 0);
	return NULL;
}

/*
 * A second wait soon after the first does not wake the reader of the probe again. The descriptor of
 * the probe, which becomes ready at intervals, must let the reader find it.
 */
TEST_F(bpf, no_wait_stays_unread)
{
	int fd = jetwatt_probe_fd(self->seen.probe), i;
	pthread_t thread;

	for (i = 2; i <= 20; i += 2) {
		node_sleep(30000000);
		ASSERT_LE(0, jetwatt_probe_dispatch(self->seen.probe));
		ASSERT_EQ(0, pthread_create(&thread, NULL, two_waits, &self->node));
		while (self->seen.nr < i) {
			ASSERT_EQ(1, node_poll(fd, 2000));
			ASSERT_LE(0, jetwatt_probe_dispatch(self->seen.probe));
		}
		pthread_join(thread, NULL);
	}
	EXPECT_EQ(20, self->seen.nr);
}

TEST_HARNESS_MAIN
