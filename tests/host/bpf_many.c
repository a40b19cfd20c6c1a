// SPDX-License-Identifier: GPL-2.0-only
/* Of ten thousand tasks that exist at the same time, each waits for the GPU once: every wait is
 * seen, none is lost, and no map entry of these tasks remains after they have ended. */
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "../bpf/held.h"
#include "../bpf/seen.h"

#define PROCESSES	100
#define THREADS		100

/* struct meeting - semaphores in memory that all processes of the test share */
struct meeting {
	sem_t ready, go;
};

static struct meeting *meeting;
static struct node node;

static void *one(void *arg)
{
	sem_post(&meeting->ready);
	while (sem_wait(&meeting->go))
		;
	node_syncpt(node.render, (uintptr_t)arg, 0, 0);
	return NULL;
}

static void process(void)
{
	pthread_t thread[THREADS];
	pthread_attr_t attr;
	uintptr_t i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32768);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], &attr, one, (void *)i))
			_exit(1);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}

/* Return the number of entries in this program's BPF maps with the name @name. */
static int entries(const char *name)
{
	__u32 id[32], len, key;
	struct bpf_map_info info;
	int n = 0, i, fd, maps = held(getpid(), "map_id", id, 32);

	for (i = 0; i < maps; i++) {
		fd = bpf_map_get_fd_by_id(id[i]);
		if (fd < 0)
			continue;
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && !strcmp(info.name, name))
			for (key = 0; !bpf_map_get_next_key(fd, key ? &key : NULL, &key); )
				n++;
		close(fd);
	}
	return n;
}

FIXTURE(many) { int nothing; };
FIXTURE_SETUP(many) { }
FIXTURE_TEARDOWN(many) { }

TEST_F_TIMEOUT(many, ten_thousand_tasks, 120)
{
	static struct seen seen;
	uint64_t lost;
	int err, i, status;

	err = node_open(&node);
	if (err == -ENODEV)
		SKIP_TEST("needs root and /dev/fuse");
	ASSERT_EQ(0, err);
	meeting = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, meeting);
	sem_init(&meeting->ready, 1, 0);
	sem_init(&meeting->go, 1, 0);
	ASSERT_EQ(0, seen_open(&seen, getpid(), 1, 0));
	for (i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (!pid)
			process();
	}
	for (i = 0; i < PROCESSES * THREADS; i++)
		while (sem_wait(&meeting->ready))
			;
	EXPECT_LE(PROCESSES, entries("followed"));
	for (i = 0; i < PROCESSES * THREADS; i++) {
		sem_post(&meeting->go);
		if (!(i % 100))
			ASSERT_LE(0, jetwatt_probe_dispatch(seen.probe));
	}
	for (i = 0; i < PROCESSES; i++) {
		ASSERT_LT(0, waitpid(-1, &status, 0));
		EXPECT_EQ(0, status);
		ASSERT_LE(0, jetwatt_probe_dispatch(seen.probe));
	}
	ASSERT_LT(0, seen_all(&seen));
	lost = jetwatt_probe_lost(seen.probe);
	TH_LOG("%d seen, %llu lost", seen.nr, (unsigned long long)lost);
	EXPECT_EQ(PROCESSES * THREADS, seen.nr + (int)lost);
	EXPECT_EQ(0, lost);
	/* only the server of the simulated device node and this process remain */
	EXPECT_GE(2, entries("followed"));
	EXPECT_GE(1, entries("waits"));
	jetwatt_probe_close(seen.probe);
	node_close(&node);
}

TEST_HARNESS_MAIN
