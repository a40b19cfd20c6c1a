// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=60
/* Test on which CPU the sampler thread runs, and how the module reports what delays it. */
#include "family.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "kselftest_harness.h"

#define CPU1	"/sys/devices/system/cpu/cpu1/online"

/* Get the text of /proc/PID/stat of the sampler thread. Return: its pid, 0 if there is none. */
static pid_t sampler(char *text, size_t size)
{
	char path[300];
	struct dirent *e;
	DIR *dir = opendir("/proc");
	pid_t pid = 0;

	while (dir && !pid && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		if (!read_file(path, text, size) && strstr(text, "(jetwatt)"))
			pid = atoi(text);
	}
	if (dir)
		closedir(dir);
	return pid;
}

/* Return: number of the CPU on which the sampler thread last ran. */
static int where(void)
{
	char text[512], *at;
	int i;

	if (!sampler(text, sizeof(text)))
		return -1;
	at = strrchr(text, ')') + 1;
	/* Field 39; @at is behind field 2. */
	for (i = 0; i < 36 && at; i++)
		at = strchr(at + 1, ' ');
	return at ? atoi(at) : -1;
}

FIXTURE(board) {
	struct family f, events;
};

FIXTURE_SETUP(board)
{
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, family_open(&self->events));
	ASSERT_EQ(0, family_join(&self->events));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
}

FIXTURE_TEARDOWN(board)
{
	write_number(CPU1, 1);
	set_u32(&self->f, JETWATT_A_CONFIG_CPU, JETWATT_CPU_ANY);
	set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0);
	family_close(&self->events);
	family_close(&self->f);
}

TEST_F(board, sampler_runs_on_the_configured_cpu)
{
	uint64_t ticks;
	int cpu;

	EXPECT_EQ(JETWATT_CPU_ANY, config_of(&self->f, JETWATT_A_CONFIG_CPU));
	for (cpu = 1; cpu >= 0; cpu--) {
		ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_CPU, cpu));
		sleep_ms(200);
		EXPECT_EQ(cpu, where());
		EXPECT_EQ((uint32_t)cpu, config_of(&self->f, JETWATT_A_CONFIG_CPU));
	}
	EXPECT_EQ(-EINVAL, set_u32(&self->f, JETWATT_A_CONFIG_CPU, 2));
	EXPECT_STREQ("CPU 2 is not online", self->f.text);
	EXPECT_EQ(0, config_of(&self->f, JETWATT_A_CONFIG_CPU));

	/* The CPU that a client has selected goes offline: the sampler thread runs on another
	 * CPU, and returns when the selected CPU is online again. */
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_CPU, 1));
	sleep_ms(200);
	ASSERT_EQ(0, write_number(CPU1, 0));
	ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS);
	sleep_ms(1000);
	EXPECT_LT(ticks + 90, stat_of(&self->f, JETWATT_A_STATS_TICKS));
	EXPECT_EQ(0, where());
	ASSERT_EQ(0, write_number(CPU1, 1));
	sleep_ms(1500);
	EXPECT_EQ(1, where());
}

/*
 * Move the sampler thread to another CPU while the handler of its throttling timer still runs on
 * the previous CPU. The timer must not be queued twice; if it were, the kernel would log a warning.
 */
TEST_F(board, moved_while_the_timer_handler_runs)
{
	int i;

	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, inject("fail_look", 2));
		ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_CPU, i % 2));
		sleep_ms(23);
	}
	inject("fail_look", 0);
	EXPECT_TRUE(ticks_reach(&self->f, stat_of(&self->f, JETWATT_A_STATS_TICKS) + 50));
}

/*
 * Return: whether the kernel (since 6.2) remembers the CPU mask that a user has set for a kernel
 * thread.
 */
static bool keeps_affinity(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	return !uname(&name) && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       major * 1000 + minor >= 6002;
}

/*
 * If the configuration does not pin the sampler thread to a CPU, taskset can move the thread, and
 * the module must not move it back.
 */
TEST_F(board, taskset_moves_an_unpinned_sampler)
{
	cpu_set_t set, now;
	char text[512];
	pid_t pid = sampler(text, sizeof(text));

	ASSERT_LT(0, pid);
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	ASSERT_EQ(0, sched_setaffinity(pid, sizeof(set), &set));
	sleep_ms(2500);
	ASSERT_EQ(0, sched_getaffinity(pid, sizeof(now), &now));
	EXPECT_TRUE(CPU_EQUAL(&set, &now));
	EXPECT_EQ(1, where());
	/* After the configuration has pinned and unpinned the thread, its CPU mask is that of the
	 * start, or since Linux 6.2 the mask that taskset has set. */
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_CPU, 0));
	sleep_ms(200);
	EXPECT_EQ(0, where());
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_CPU, JETWATT_CPU_ANY));
	ASSERT_EQ(0, sched_getaffinity(pid, sizeof(now), &now));
	EXPECT_EQ(keeps_affinity() ? 1 : 2, CPU_COUNT(&now));
	EXPECT_TRUE(CPU_ISSET(1, &now));
	CPU_SET(0, &set);
	ASSERT_EQ(0, sched_setaffinity(pid, sizeof(set), &set));
	ASSERT_EQ(0, sched_getaffinity(pid, sizeof(now), &now));
	EXPECT_EQ(2, CPU_COUNT(&now));
}

/*
 * If the module refuses one attribute of a request, the other attributes of the request must have
 * no effect either.
 */
TEST_F(board, refused_configuration_changes_nothing)
{
	struct nl_msg *msg = request(&self->f, JETWATT_CMD_CONFIG_SET);
	cpu_set_t now;
	char text[512];
	pid_t pid = sampler(text, sizeof(text));

	ASSERT_LT(0, pid);
	nla_put_u32(msg, JETWATT_A_CONFIG_CPU, 1);
	nla_put_u32(msg, JETWATT_A_CONFIG_RATE_HZ, 1000000);
	EXPECT_EQ(-ERANGE, call(&self->f, msg, NULL, NULL));
	EXPECT_EQ(JETWATT_CPU_ANY, config_of(&self->f, JETWATT_A_CONFIG_CPU));
	ASSERT_EQ(0, sched_getaffinity(pid, sizeof(now), &now));
	EXPECT_EQ(2, CPU_COUNT(&now));
}

TEST_F(board, cpu_time_of_the_sampler_is_counted)
{
	uint64_t before = stat_of(&self->f, JETWATT_A_STATS_CPU_NS), ns;

	sleep_ms(2000);
	ns = stat_of(&self->f, JETWATT_A_STATS_CPU_NS) - before;
	TH_LOG("%llu us of CPU a tick", (unsigned long long)ns / 200000);
	EXPECT_LT(200000, ns);
	EXPECT_GT(1000000000, ns);
}

/* Start a process that uses all of CPU 1, until it is killed or its parent ends. */
static pid_t hog(int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	cpu_set_t set;
	pid_t pid = fork();

	if (pid)
		return pid;
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || sched_setaffinity(0, sizeof(set), &set) ||
	    sched_setscheduler(0, policy, &param))
		_exit(1);
	for (;;)
		;
}

/*
 * If a real-time task of another process uses a whole CPU, the scheduler stops all real-time tasks
 * on it for 50 ms of each second, including the sampler thread; since Linux 6.12, it does so only
 * if a normal task is runnable.
 */
TEST_F(board, rt_throttling_is_counted_and_reported)
{
	pid_t ordinary, pid;
	struct nlmsghdr *e;
	uint64_t before;
	cpu_set_t here;

	/*
	 * With PREEMPT_RT, sleeps end in a thread of the CPU on which they began, and the task
	 * that uses all of a CPU keeps that thread from running: sleep on another CPU.
	 */
	CPU_ZERO(&here);
	CPU_SET(0, &here);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(here), &here));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_CPU, 1));
	sleep_ms(500);
	before = stat_of(&self->f, JETWATT_A_STATS_THROTTLED);
	EXPECT_EQ(0, before);
	ordinary = hog(SCHED_OTHER, 0);
	pid = hog(SCHED_FIFO, 10);
	e = next_event(&self->events, 8000, JETWATT_EVENT_THROTTLED);
	EXPECT_NE(NULL, e);
	sleep_ms(3000);
	kill(pid, SIGKILL);
	kill(ordinary, SIGKILL);
	waitpid(pid, NULL, 0);
	waitpid(ordinary, NULL, 0);
	TH_LOG("throttling detected %llu times", (unsigned long long)stat_of(&self->f,
								 JETWATT_A_STATS_THROTTLED));
	EXPECT_LT(before, stat_of(&self->f, JETWATT_A_STATS_THROTTLED));
	sleep_ms(500);
	before = stat_of(&self->f, JETWATT_A_STATS_THROTTLED);
	sleep_ms(2000);
	EXPECT_EQ(before, stat_of(&self->f, JETWATT_A_STATS_THROTTLED));
}

/* As in linux/sched/types.h, which conflicts with the header of the C library. */
struct deadline {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* Start a deadline task that uses three quarters of a CPU, 60 ms at a time. */
static pid_t deadline_hog(void)
{
	struct deadline d = { .size = sizeof(d), .policy = SCHED_DEADLINE, .runtime = 60000000,
			      .deadline = 80000000, .period = 80000000 };
	pid_t pid = fork();

	if (pid)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || syscall(SYS_sched_setattr, 0, &d, 0))
		_exit(1);
	for (;;)
		;
}

/*
 * A task of class SCHED_DEADLINE has priority over the sampler thread: the module must report late
 * ticks, but no RT throttling.
 */
TEST_F(board, deadline_task_is_no_throttling)
{
	uint64_t before, missed;
	int status, i;
	pid_t pid[2];

	/* Start one deadline task per CPU, because such a task cannot be pinned to one CPU. */
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_CPU, 1));
	sleep_ms(500);
	before = stat_of(&self->f, JETWATT_A_STATS_THROTTLED);
	missed = stat_of(&self->f, JETWATT_A_STATS_MISSED);
	for (i = 0; i < 2; i++)
		pid[i] = deadline_hog();
	sleep_ms(4000);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, waitpid(pid[i], &status, WNOHANG));
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	missed = stat_of(&self->f, JETWATT_A_STATS_MISSED) - missed;
	TH_LOG("%llu ticks skipped", (unsigned long long)missed);
	/* At 100 Hz, the sampler is late by several ticks in each of the 50 periods of a task. */
	EXPECT_LT(50, missed);
	EXPECT_EQ(before, stat_of(&self->f, JETWATT_A_STATS_THROTTLED));
	/*
	 * The delayed ticks would lower the highest sampling rate for a minute, and so affect the
	 * next tests. Therefore restart the sampler, which discards the overhead that it has
	 * measured.
	 */
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	sleep_ms(500);
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
	EXPECT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
}

TEST_HARNESS_MAIN
