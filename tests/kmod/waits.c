// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=180
/*
 * Test how the module recognises waits for the GPU with JetPack 6 (see waits.inc), which records
 * each watcher gets, and what this costs other processes.
 */
#include "waits.inc"

#include <pthread.h>
#include <sys/eventfd.h>

#include "gpu_uapi.h"
#include "skip.h"

TEST_F(board, pollfd)
{
	both(_metadata, &self->f, "pollfd", "1", 50);
}

TEST_F(board, syncpt)
{
	both(_metadata, &self->f, "syncpt", "4", 200);
}

/* The job polls the event of a channel group, which does not have to be armed. */
TEST_F(board, event)
{
	both(_metadata, &self->f, "event", "2", 100);
}

/* Only the helper thread that libcuda has started waits for the GPU. */
TEST_F(board, helper)
{
	uint32_t i;

	both(_metadata, &self->f, "helper", "1", 50);
	for (i = 0; i < hook.n; i++) {
		EXPECT_EQ(JETWATT_WAIT_HELPER, hook.r[i].call);
		EXPECT_NE(hook.r[i].tgid, hook.r[i].tid);
	}
}

/* The job and the helper thread of libcuda both wait: the waits of the helper thread are
 * recorded, but libjetwatt does not report them. */
TEST_F(board, helper_beside)
{
	struct jetwatt_probe_opts opts = { .backends = JETWATT_BACKEND_MODULE };
	struct jetwatt_probe *p;
	uint32_t i, own = 0;
	uint64_t dropped;
	int go, status;

	opts.tgid = train_with(&go, "syncpt", "1", "50", "1");
	ASSERT_EQ(0, jetwatt_probe_open(&p, &opts, seen, &probe)) {
		TH_LOG("%s", jetwatt_probe_error());
	}
	ASSERT_EQ(0, watch(&self->f, &opts.tgid, 1, 0));
	ASSERT_EQ(1, write(go, "g", 1));
	close(go);
	ASSERT_EQ((pid_t)opts.tgid, waitpid(opts.tgid, &status, 0));
	ASSERT_EQ(0, status);
	gather(&self->f, &hook, 200);
	ASSERT_LE(0, jetwatt_probe_dispatch(p));
	EXPECT_EQ(0, jetwatt_probe_flush(p));
	dropped = jetwatt_probe_dropped(p);
	jetwatt_probe_close(p);
	EXPECT_LE(95, hook.n);
	EXPECT_GE(100, hook.n);
	for (i = 0; i < probe.n; i++)
		own += probe.r[i].call == JETWATT_SYNC_SYNCPT;
	EXPECT_EQ(50, own);
	EXPECT_EQ(50, probe.n);
	EXPECT_EQ(hook.n - 50, dropped);
}

/*
 * Return: whether the BPF probe, with which the module's records are compared, can be opened on
 * this kernel.
 */
static int can_trace(void)
{
	struct jetwatt_probe_opts opts = { .backends = JETWATT_BACKEND_TRACEPOINT };
	struct jetwatt_probe *p;

	if (jetwatt_probe_open(&p, &opts, NULL, NULL))
		return 0;
	jetwatt_probe_close(p);
	return 1;
}

/*
 * The job opens the descriptor of its event before watching starts; its waits must be recorded
 * nevertheless.
 */
TEST_F(board, event_opened_before_watching)
{
	struct jetwatt_probe_opts opts = { .backends = JETWATT_BACKEND_TRACEPOINT };
	bool bpf = can_trace();
	struct jetwatt_probe *p;
	int go, k;

	opts.tgid = train(&go, "event", "1", "1000000");
	ASSERT_EQ(1, write(go, "g", 1));
	close(go);
	sleep_ms(2000);
	for (k = 0; k < 2; k++) {
		if (!k && !bpf)
			continue;
		memset(&probe, 0, sizeof(probe));
		opts.backends = k ? JETWATT_BACKEND_MODULE : JETWATT_BACKEND_TRACEPOINT;
		ASSERT_EQ(0, jetwatt_probe_open(&p, &opts, seen, &probe));
		sleep_ms(2000);
		ASSERT_LE(0, jetwatt_probe_dispatch(p));
		EXPECT_LE(5, probe.n) TH_LOG("%s", k ? "module" : "tracepoint");
		jetwatt_probe_close(p);
	}
	kill(opts.tgid, SIGKILL);
	waitpid(opts.tgid, NULL, 0);
}

/*
 * There are two jobs and three watchers: one watcher requests both jobs, one only the second job,
 * and one all processes.
 */
TEST_F(board, each_watcher_gets_its_processes)
{
	static struct family one, all;
	static struct list of_all;
	struct list *of_one = &probe;
	uint32_t tgid[2], i, first = 0;
	int go[2], k;

	memset(&of_all, 0, sizeof(of_all));
	ASSERT_EQ(0, family_open(&one));
	ASSERT_EQ(0, family_open(&all));
	for (k = 0; k < 2; k++)
		tgid[k] = train(&go[k], k ? "syncpt" : "pollfd", "1", "20");
	ASSERT_EQ(0, watch(&self->f, tgid, 2, 0));
	ASSERT_EQ(0, watch(&one, &tgid[1], 1, 0));
	ASSERT_EQ(0, watch(&all, NULL, 0, 0));
	for (k = 0; k < 2; k++) {
		ASSERT_EQ(1, write(go[k], "g", 1));
		close(go[k]);
	}
	for (k = 0; k < 2; k++)
		waitpid(tgid[k], NULL, 0);
	gather(&self->f, &hook, 200);
	gather(&one, of_one, 200);
	gather(&all, &of_all, 200);
	EXPECT_EQ(40, hook.n);
	EXPECT_EQ(20, of_one->n);
	EXPECT_EQ(40, of_all.n);
	for (i = 0; i < of_one->n; i++)
		EXPECT_EQ(tgid[1], of_one->r[i].tgid);
	for (i = 0; i < hook.n; i++)
		first += hook.r[i].tgid == tgid[0];
	EXPECT_EQ(20, first);
	family_close(&one);
	family_close(&all);
}

/*
 * A record that was pending for a watcher that has ended its request must not be sent to the next
 * watcher, which gets the same bit in the masks of watchers.
 */
TEST_F(board, no_records_of_a_previous_watcher)
{
	static struct family keep, next;
	uint32_t own = getpid();
	pid_t pid;
	int i;

	/* A second watcher stays active, so that the module does not free its tables. */
	ASSERT_EQ(0, family_open(&keep));
	ASSERT_EQ(0, watch(&keep, &own, 1, 0));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, watch(&self->f, NULL, 0, 0));
		pid = fork();
		if (!pid)
			execl("/bin/train", "train", "--wait", "syncpt", "--syncs", "64",
			      "--minibatches", "1", NULL);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_WAITS_UNWATCH));
		ASSERT_EQ(0, family_open(&next));
		ASSERT_EQ(0, watch(&next, &own, 1, 0));
		gather(&next, &hook, 100);
		family_close(&next);
	}
	EXPECT_EQ(0, hook.n);
	family_close(&keep);
}

/* The job is a child of the watched process: the job's waits are reported only if the request
 * includes the children (JETWATT_A_WAITS_CHILDREN). */
TEST_F(board, children)
{
	static const uint32_t how[] = { NOT_GIVEN, FLAG, U32_0, U32_1 };
	uint32_t tgid;
	int k, go[2];
	char c;

	for (k = 0; k < 4; k++) {
		ASSERT_EQ(0, pipe(go));
		tgid = fork();
		if (!tgid) {
			if (read(go[0], &c, 1) != 1)
				_exit(1);
			if (!fork())
				execl("/bin/train", "train", "--minibatches", "10", NULL);
			wait(NULL);
			_exit(0);
		}
		memset(&hook, 0, sizeof(hook));
		ASSERT_EQ(0, watch(&self->f, &tgid, 1, how[k]));
		ASSERT_EQ(1, write(go[1], "g", 1));
		waitpid(tgid, NULL, 0);
		gather(&self->f, &hook, 200);
		EXPECT_EQ(k % 2 ? 10 : 0, hook.n);
		EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_WAITS_UNWATCH));
		close(go[0]);
		close(go[1]);
	}
}

TEST_F(board, refusals)
{
	static struct family more[9];
	uint32_t tgid = getpid(), i;
	struct nl_msg *msg;
	int status;
	pid_t pid;

	EXPECT_EQ(-ENOENT, simple(&self->f, JETWATT_CMD_WAITS_UNWATCH));
	EXPECT_STREQ("this socket does not watch waits", self->f.text);
	msg = request(&self->f, JETWATT_CMD_WAITS_WATCH);
	nla_put(msg, JETWATT_A_WAITS_TGIDS, 3, &tgid);
	EXPECT_EQ(-EINVAL, call(&self->f, msg, NULL, NULL));
	msg = request(&self->f, JETWATT_CMD_WAITS_WATCH);
	nla_put(msg, JETWATT_A_WAITS_TGIDS, 0, &tgid);
	EXPECT_EQ(-EINVAL, call(&self->f, msg, NULL, NULL));
	msg = request(&self->f, JETWATT_CMD_WAITS_WATCH);
	nla_put(msg, JETWATT_A_WAITS_CHILDREN, 2, &tgid);
	EXPECT_EQ(-EINVAL, call(&self->f, msg, NULL, NULL));
	EXPECT_STREQ("must be a flag", self->f.text);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, inject("fail_alloc", 1));
		EXPECT_EQ(-ENOMEM, watch(&self->f, &tgid, 1, 0));
		ASSERT_EQ(0, inject("fail_alloc", 0));
		ASSERT_EQ(0, inject("fail_hook", 1));
		EXPECT_EQ(-ENOMEM, watch(&self->f, &tgid, 1, 0));
	}
	for (i = 0; i < 9; i++) {
		ASSERT_EQ(0, family_open(&more[i]));
		EXPECT_EQ(i < 8 ? 0 : -EUSERS, watch(&more[i], &tgid, 1, 0));
	}
	EXPECT_EQ(-EALREADY, watch(&more[0], &tgid, 1, 0));
	for (i = 0; i < 9; i++)
		family_close(&more[i]);

	pid = fork();
	if (!pid) {
		static struct family f;

		if (setgid(65534) || setuid(65534) || family_open(&f))
			_exit(1);
		_exit(watch(&f, &tgid, 1, 0) == -EPERM ? 0 : 2);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

#define SLEEPERS	1100

static void *sleep_in_poll(void *pipe)
{
	struct pollfd p = { .fd = *(int *)pipe, .events = POLLIN };

	poll(&p, 1, -1);
	return NULL;
}

/* Start a process with many threads that sleep in poll() without waiting for the GPU. */
static pid_t bystander(void)
{
	int ready[2], never[2], i;
	pthread_attr_t attr;
	pthread_t thread;
	pid_t pid;
	char c;

	if (pipe(ready) || pipe(never))
		return -1;
	pid = fork();
	if (!pid) {
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 16384);
		for (i = 0; i < SLEEPERS; i++)
			if (pthread_create(&thread, &attr, sleep_in_poll, never))
				_exit(1);
		/* Wait until all threads are in poll(), then tell the parent. */
		sleep_ms(500);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		pid = -1;
	close(ready[0]);
	close(never[0]);
	close(never[1]);
	return pid;
}

/*
 * While all processes are watched, more threads may sleep in poll() than the module's table has
 * entries; no record of a wait for the GPU must be lost because of them.
 */
TEST_F(board, sleeping_threads_lose_no_record)
{
	uint32_t tgid;
	pid_t others;
	int go;

	ASSERT_EQ(0, watch(&self->f, NULL, 0, 0));
	/* One wait without the sleeping threads, for comparison. */
	tgid = train(&go, "pollfd", "1", "1");
	ASSERT_EQ(1, write(go, "g", 1));
	close(go);
	ASSERT_EQ((pid_t)tgid, waitpid(tgid, NULL, 0));
	gather(&self->f, &hook, 200);
	ASSERT_EQ(1, hook.n);
	others = bystander();
	ASSERT_LT(0, others);
	tgid = train(&go, "pollfd", "1", "20");
	ASSERT_EQ(1, write(go, "g", 1));
	close(go);
	ASSERT_EQ((pid_t)tgid, waitpid(tgid, NULL, 0));
	gather(&self->f, &hook, 200);
	EXPECT_EQ(21, hook.n);
	EXPECT_EQ(0, hook.lost);
	kill(others, SIGKILL);
	waitpid(others, NULL, 0);
}

/*
 * Return: number of instructions to fork a child that exits at once, and to reap it; the guest
 * executes one instruction in 8 ns.
 */
static uint64_t fork_cost(void)
{
	uint64_t start = now_ns();
	int i;

	for (i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return (now_ns() - start) / 200 / 8;
}

/* The end of a process must not cost more while a job has armed descriptors. */
TEST_F(board, exit_cost_of_other_processes)
{
	uint64_t before, with;
	uint32_t tgid;
	int go;

	tgid = train(&go, "pollfd", "1", "100000");
	ASSERT_EQ(0, watch(&self->f, &tgid, 1, 0));
	before = fork_cost();
	ASSERT_EQ(1, write(go, "g", 1));
	close(go);
	sleep_ms(1000);
	/* Stop the job, so that it uses no CPU time itself; its descriptors stay armed. */
	ASSERT_EQ(0, kill(tgid, SIGSTOP));
	sleep_ms(100);
	with = fork_cost();
	TH_LOG("a child costs %llu instructions, with something armed %llu",
	       (unsigned long long)before, (unsigned long long)with);
	/* A version of the module that walked through all table entries at the end of each process
	 * took 31,000 more instructions. */
	EXPECT_GT(before + (slow_kernel() ? before / 4 : 15000), with);
	kill(tgid, SIGKILL);
	waitpid(tgid, NULL, 0);
}

#define NUMBER	60

/*
 * Poll a file that is ready and has the descriptor number NUMBER, which exec or close() has freed.
 * Return: 0 on success.
 */
static int poll_ready(void)
{
	struct pollfd p = { .fd = fcntl(eventfd(1, 0), F_DUPFD, NUMBER), .events = POLLIN };

	return p.fd != NUMBER || poll(&p, 1, -1) != 1;
}

/* Submit work to the GPU, and leave the descriptor of the GPU open. */
static int submit(struct sim_submit *work)
{
	int gpu = open("/dev/jetwatt-sim-gpu", O_RDWR | O_CLOEXEC);

	*work = (struct sim_submit){ .permille = 1000, .piece = 1, .pieces = 1 };
	return ioctl(gpu, SIM_SUBMIT, work);
}

/* Arm poll descriptor NUMBER for a fence that is never reached. */
static int arm_number(void)
{
	int fence = open("/dev/host1x-fence", O_RDWR | O_CLOEXEC);
	struct sim_create_pollfd create = { .fd = -1 };
	struct sim_trigger_pollfd t = { .fd = NUMBER };
	struct sim_submit work;

	if (submit(&work))
		return -1;
	t.id = work.syncpt;
	t.threshold = work.threshold + 1;
	return ioctl(fence, SIM_CREATE_POLLFD, &create) ||
	       fcntl(create.fd, F_DUPFD_CLOEXEC, NUMBER) != NUMBER ||
	       ioctl(fence, SIM_TRIGGER_POLLFD, &t) ? -1 : 0;
}

/*
 * If exec closes a descriptor while it is armed, polls of a file with the same number in the new
 * program must not be recorded.
 */
TEST_F(board, exec_drops_armed_descriptors)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, watch(&self->f, NULL, 0, 0));
	pid = fork();
	if (!pid) {
		if (arm_number())
			_exit(2);
		execl("/proc/self/exe", "waits", "--poll", NULL);
		_exit(3);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	gather(&self->f, &hook, 200);
	EXPECT_EQ(0, hook.n);
}

/*
 * A watcher of all processes is removed and added again, while a second watcher keeps the module's
 * tables allocated. The module records no calls in between, so it must not treat a later call as
 * the continuation of a wait from before.
 */
FIXTURE(again) {
	struct family keep, f;
	int go;		/* written to let the job make its next step */
	int go_job;
};

FIXTURE_SETUP(again)
{
	uint32_t own = getpid();
	int go[2];

	memset(&hook, 0, sizeof(hook));
	ASSERT_EQ(0, family_open(&self->keep));
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, watch(&self->keep, &own, 1, 0));
	ASSERT_EQ(0, watch(&self->f, NULL, 0, 0));
	ASSERT_EQ(0, pipe(go));
	self->go_job = go[0];
	self->go = go[1];
}

FIXTURE_TEARDOWN(again)
{
	close(self->go_job);
	close(self->go);
	family_close(&self->f);
	family_close(&self->keep);
}

TEST_F(again, call_in_progress_is_dropped)
{
	struct sim_syncpoint_wait w = { .timeout_ns = now_ns() + 500000000 };
	struct sim_submit work;
	int status, render;
	pid_t pid;
	char c;

	ASSERT_EQ(0, submit(&work));
	pid = fork();
	if (!pid) {
		close(self->go);
		render = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
		w.id = work.syncpt;
		w.threshold = work.threshold + 1;
		if (!ioctl(render, SIM_SYNCPOINT_WAIT, &w) || errno != ETIMEDOUT)
			_exit(1);
		/* read() and close() return 0, like a wait ioctl that has ended. They must not be
		 * counted as its end. */
		_exit(read(self->go_job, &c, 1) || close(render) ? 2 : 0);
	}
	sleep_ms(200);
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_WAITS_UNWATCH));
	sleep_ms(700);
	ASSERT_EQ(0, watch(&self->f, NULL, 0, 0));
	close(self->go);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	gather(&self->f, &hook, 200);
	EXPECT_EQ(0, hook.n);
}

TEST_F(again, armed_descriptor_is_dropped)
{
	int status;
	pid_t pid;
	char c;

	pid = fork();
	if (!pid) {
		if (arm_number() || read(self->go_job, &c, 1) != 1 || close(NUMBER) ||
		    read(self->go_job, &c, 1) != 1)
			_exit(2);
		_exit(poll_ready());
	}
	sleep_ms(200);
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_WAITS_UNWATCH));
	ASSERT_EQ(1, write(self->go, "c", 1));
	sleep_ms(100);
	ASSERT_EQ(0, watch(&self->f, NULL, 0, 0));
	ASSERT_EQ(1, write(self->go, "p", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	gather(&self->f, &hook, 200);
	EXPECT_EQ(0, hook.n);
}

/*
 * Run in a thread that is not the main thread: wait for the GPU until the wait times out, then
 * execute a program.
 */
static void *time_out_and_exec(void *arg)
{
	struct sim_syncpoint_wait *w = arg;
	char tid[16];

	if (!ioctl(w->padding, SIM_SYNCPOINT_WAIT, w) || errno != ETIMEDOUT)
		_exit(1);
	snprintf(tid, sizeof(tid), "%d", (int)syscall(SYS_gettid));
	execl("/proc/self/exe", "waits", "--say", tid, NULL);
	_exit(2);
}

/*
 * On exec, the calling thread gets the thread id of the main thread. The module has stored the
 * timed-out wait under the thread's previous id. The next thread with this id makes the same call,
 * which must not be recorded as the continuation of that wait.
 */
TEST_F(board, exec_in_another_thread_drops_its_wait)
{
	int said[2], status, tid, render = open("/dev/dri/renderD128", O_RDWR);
	struct sim_syncpoint_wait w = { .padding = render };
	char text[16] = "";
	struct sim_submit work;
	pthread_t thread;
	pid_t pid;

	if (access("/proc/sys/kernel/ns_last_pid", W_OK))
		SKIP_TEST("this kernel has no CONFIG_CHECKPOINT_RESTORE");
	ASSERT_EQ(0, pipe(said));
	ASSERT_EQ(0, watch(&self->f, NULL, 0, 0));
	ASSERT_EQ(0, submit(&work));
	w.id = work.syncpt;
	w.threshold = work.threshold;
	pid = fork();
	if (!pid) {
		dup2(said[1], 1);
		pthread_create(&thread, NULL, time_out_and_exec, &w);
		pause();
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_LT(0, read(said[0], text, sizeof(text) - 1));
	tid = atoi(text);
	ASSERT_LT(pid, tid);
	sleep_ms(1000);
	ASSERT_EQ(0, write_number("/proc/sys/kernel/ns_last_pid", tid - 1));
	pid = fork();
	if (!pid)
		_exit(ioctl(render, SIM_SYNCPOINT_WAIT, &w) ? 1 : 0);
	ASSERT_EQ(tid, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	gather(&self->f, &hook, 200);
	ASSERT_EQ(1, hook.n);
	EXPECT_GT(100000000, hook.r[0].exit_ns - hook.r[0].enter_ns);
	close(render);
	close(said[0]);
	close(said[1]);
}

/*
 * Dropping the last reference to a socket with an unread dump ends the dump, for which kernels
 * before 6.13 take the lock of generic netlink. The module must not drop this reference while it
 * holds a lock for which a request handler waits, because this would be a deadlock.
 */
TEST_F(board, closed_with_an_unread_dump)
{
	static struct family gone, slow;
	int size = 4096, i;

	ASSERT_EQ(0, family_open(&slow));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	sleep_ms(3000);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, family_open(&gone));
		ASSERT_EQ(0, setsockopt(gone.fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)));
		ASSERT_EQ(0, watch(&gone, NULL, 0, 0));
		ASSERT_EQ(0, inject("fail_reap", 1));
		ASSERT_EQ(0, send_request(&gone, request(&gone, JETWATT_CMD_SAMPLES_GET),
					  NLM_F_DUMP));
		family_close(&gone);
		sleep_ms(20);
		/* The request of @slow meets the closed socket before the module's work item has
		 * removed the socket. */
		EXPECT_EQ(0, watch(&slow, NULL, 0, 0));
		sleep_ms(200);
		EXPECT_EQ(0, injected_left("fail_reap"));
		EXPECT_EQ(0, simple(&slow, JETWATT_CMD_WAITS_UNWATCH));
	}
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
	family_close(&slow);
}

/*
 * A watcher does not read its socket: the module must count the records that do not fit into the
 * socket.
 */
TEST_F(board, lost_records_are_counted)
{
	int go, size = 4096;
	uint32_t tgid, before;
	pid_t pid;

	ASSERT_EQ(0, setsockopt(self->f.fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)));
	tgid = train(&go, "syncpt", "64", "100");
	ASSERT_EQ(0, watch(&self->f, NULL, 0, 0));
	ASSERT_EQ(1, write(go, "g", 1));
	close(go);
	waitpid(tgid, NULL, 0);
	sleep_ms(200);
	gather(&self->f, &hook, 100);
	EXPECT_GT(6400, hook.n);
	/* The socket has space again, so the next record must carry the number of lost records. */
	before = hook.n;
	pid = fork();
	if (!pid)
		execl("/bin/train", "train", "--minibatches", "1", NULL);
	waitpid(pid, NULL, 0);
	gather(&self->f, &hook, 200);
	EXPECT_EQ(before + 1, hook.n);
	EXPECT_EQ(6401, hook.n + hook.lost);
}

/*
 * Measure by how many instructions watching makes system calls of other processes more expensive.
 * In the guest's virtual time, an instruction takes 8 ns (1 ns with a debug kernel).
 */
TEST_F(board, cost_for_unwatched_processes)
{
	static const char *const names[] = { "nobody", "one other process", "everybody" };
	uint64_t start, ns[3][2];
	uint32_t tgid;
	int i, k, go;

	tgid = train(&go, "pollfd", "1", "1");
	for (k = 0; k < 3; k++) {
		if (k)
			ASSERT_EQ(0, watch(&self->f, &tgid, k == 1, 0));
		start = now_ns();
		for (i = 0; i < 20000; i++)
			syscall(SYS_getppid);
		ns[k][0] = (now_ns() - start) / 20000;
		start = now_ns();
		for (i = 0; i < 20000; i++)
			ioctl(-1, 0, 0);
		ns[k][1] = (now_ns() - start) / 20000;
		if (k)
			ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_WAITS_UNWATCH));
		TH_LOG("watching %s: getppid %llu, ioctl %llu instructions", names[k],
		       (unsigned long long)ns[k][0] / 8, (unsigned long long)ns[k][1] / 8);
	}
	gather(&self->f, &hook, 100);
	EXPECT_EQ(0, hook.n);
	kill(tgid, SIGKILL);
	waitpid(tgid, NULL, 0);
	close(go);
}

/*
 * Unload the module while a thread waits for the GPU, immediately after the socket of a client that
 * watched all processes was closed.
 */
TEST_F(board, unload)
{
	uint32_t tgid;
	int i, go;

	tgid = train(&go, "pollfd", "1", "100000");
	ASSERT_EQ(1, write(go, "g", 1));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, watch(&self->f, NULL, 0, 1));
		memset(&hook, 0, sizeof(hook));
		gather(&self->f, &hook, 50);
		sleep_ms(37);
		family_close(&self->f);
		ASSERT_EQ(0, unload("jetwatt"));
		ASSERT_EQ(0, load("jetwatt", ""));
		ASSERT_EQ(0, family_open(&self->f));
	}
	kill(tgid, SIGKILL);
	waitpid(tgid, NULL, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--poll"))
		return poll_ready();
	if (argc > 2 && !strcmp(argv[1], "--say"))
		return puts(argv[2]) < 0;
	return test_harness_run(argc, argv);
}
