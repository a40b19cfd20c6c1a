// SPDX-License-Identifier: GPL-2.0-only
// guest: modules="governor_simpleondemand;jetwatt-sim;ina3221" timeout=300
/*
 * Test the probe on the functions of libcuda. The probe must report every wait exactly once, for
 * each function that waits for the GPU, whether the function spins or blocks.
 */
#include <linux/capability.h>

#include "kselftest_harness.h"
#include "cuda_job.h"
#include "held.h"

/* The probe finds libcuda on the library path, as on a board, and attaches to it before the job loads
 * it. Return: NULL, or the reason why the job cannot run on this machine. */
static const char *begin(struct cuda_job *job)
{
	const char *why = cuda_job_begin(job);

	if (!why)
		setenv("LD_LIBRARY_PATH", cuda_libs, 1);
	return why;
}

FIXTURE(library) {
	struct cuda_job job;
};

FIXTURE_VARIANT(library) { const char *sync, *wait; uint32_t call, launches; };
FIXTURE_VARIANT_ADD(library, stream) { "stream", "block", JETWATT_SYNC_STREAM, 4 };
FIXTURE_VARIANT_ADD(library, stream_spinning) { "stream", "spin", JETWATT_SYNC_STREAM, 4 };
FIXTURE_VARIANT_ADD(library, ptsz) { "ptsz", "block", JETWATT_SYNC_STREAM, 4 };
FIXTURE_VARIANT_ADD(library, event) { "event", "block", JETWATT_SYNC_EVENT, 4 };
FIXTURE_VARIANT_ADD(library, context) { "context", "spin", JETWATT_SYNC_CONTEXT, 4 };
FIXTURE_VARIANT_ADD(library, graph) { "graph", "block", JETWATT_SYNC_STREAM, 1 };
FIXTURE_VARIANT_ADD(library, context_v2) { "context_v2", "block", JETWATT_SYNC_CONTEXT, 4 };
FIXTURE_VARIANT_ADD(library, extended_launch) { "ex", "block", JETWATT_SYNC_STREAM, 4 };
FIXTURE_VARIANT_ADD(library, cooperative_launch) { "cooperative", "spin", JETWATT_SYNC_STREAM, 4 };
/*
 * The job also copies to the device before it launches a kernel; the probe must not report these
 * copies as waits.
 */
FIXTURE_VARIANT_ADD(library, copy) { "copy", "block", JETWATT_SYNC_COPY, 4 };
FIXTURE_VARIANT_ADD(library, copy_ptds) { "copy_ptds", "spin", JETWATT_SYNC_COPY, 4 };
/*
 * The job queries repeatedly until the GPU has finished; the probe must report these queries as one
 * wait.
 */
FIXTURE_VARIANT_ADD(library, event_query) { "query", "spin", JETWATT_SYNC_QUERY, 4 };
FIXTURE_VARIANT_ADD(library, stream_query) { "stream_query", "spin", JETWATT_SYNC_QUERY, 4 };
/* Only a loop of many queries, shortly one after the other, is a wait. */
FIXTURE_VARIANT_ADD(library, seldom_queries) { "allocator", "spin", JETWATT_SYNC_STREAM, 4 };
/*
 * A function of the CUDA runtime calls a function of libcuda; both together are one wait, whether
 * or not the runtime function has a stack frame of its own.
 */
FIXTURE_VARIANT_ADD(library, runtime) { "runtime", "block", JETWATT_SYNC_STREAM, 4 };
FIXTURE_VARIANT_ADD(library, device) { "device", "spin", JETWATT_SYNC_CONTEXT, 4 };

FIXTURE_SETUP(library)
{
	const char *why = begin(&self->job);

	if (why)
		SKIP_TEST("%s", why);
}

FIXTURE_TEARDOWN(library)
{
	cuda_job_end(&self->job);
}

TEST_F_TIMEOUT(library, every_wait_once, 60)
{
	struct cuda_job *j = &self->job;
	const struct jetwatt_sync *s = j->seen.sync;
	struct jetwatt_probe_state st;
	int i;

	CUDA_JOB_START(j, cuda_libs, "--sync", variant->sync, "--wait", variant->wait,
		       "--syncs", "2", "--minibatches", "20");
	/* Use all backends: the system calls that a libcuda function makes must not be reported a
	 * second time. */
	ASSERT_EQ(0, cuda_job_probe(j, 0)) {
		TH_LOG("%s", jetwatt_probe_error());
	}
	ASSERT_EQ(0, cuda_job_go(j));
	ASSERT_EQ(0, cuda_job_finish(j));
	ASSERT_EQ(40, j->waits);
	ASSERT_EQ(40, j->seen.nr);
	/* Each wait lies within the interval that the job has measured. */
	for (i = 0; i < 40; i++) {
		EXPECT_EQ(variant->call, s[i].call);
		EXPECT_EQ(j->pid, (pid_t)s[i].tgid);
		EXPECT_LE(j->start_ns[i], s[i].enter_ns);
		EXPECT_LT(s[i].enter_ns, s[i].exit_ns);
		EXPECT_LE(s[i].exit_ns, j->end_ns[i]);
		EXPECT_EQ(0, s[i].ret);
		EXPECT_EQ(variant->launches, s[i].launches);
		EXPECT_LT(s[i].launch_ns, s[i].enter_ns);
		if (i)
			EXPECT_LT(s[i - 1].exit_ns, s[i].launch_ns);
	}
	EXPECT_EQ(0, jetwatt_probe_lost(j->seen.probe));
	jetwatt_probe_state(j->seen.probe, &st);
	EXPECT_EQ(JETWATT_BACKEND_UPROBE | JETWATT_BACKEND_TRACEPOINT, st.attached);
	EXPECT_EQ(40, st.seen[variant->call]);
	EXPECT_EQ(40 * variant->launches, st.launches);
	EXPECT_NE(NULL, strstr(st.library, "libcuda"));
}

FIXTURE(one) {
	struct cuda_job job;
};

FIXTURE_SETUP(one)
{
	const char *why = begin(&self->job);

	if (why)
		SKIP_TEST("%s", why);
}

FIXTURE_TEARDOWN(one)
{
	cuda_job_end(&self->job);
}

/* The probe needs some tenths of a second to attach to a function, so the job must last longer: on a
 * machine without the GPU's node, 20 ms per wait. */
static void take_long(void *job)
{
	(void)job;
	setenv("SIM_CUDA_BATCH_US", "40000", 1);
}

/*
 * The job sleeps until libcuda calls a function of the job, as JAX does. The probe attaches to the
 * function while the job runs, and reports calls of the function after 32 calls without another
 * wait.
 */
TEST_F_TIMEOUT(one, every_callback_once, 120)
{
	struct cuda_job *j = &self->job;
	const struct jetwatt_sync *s = j->seen.sync;
	int first;

	cuda_job_start(j, cuda_libs, take_long, (const char *const[]){
		"--sync", "host_func", "--syncs", "2", "--minibatches", "120", NULL });
	ASSERT_EQ(0, cuda_job_probe(j, JETWATT_BACKEND_UPROBE)) {
		TH_LOG("%s", jetwatt_probe_error());
	}
	ASSERT_EQ(0, cuda_job_go(j));
	ASSERT_EQ(0, cuda_job_finish(j));
	ASSERT_EQ(240, j->waits);
	ASSERT_LT(40, j->seen.nr);
	ASSERT_GE(240 - 32, j->seen.nr);
	first = j->waits - j->seen.nr;
	for (int i = 0; i < j->seen.nr; i++) {
		EXPECT_EQ(JETWATT_SYNC_CALLBACK, s[i].call);
		EXPECT_EQ(j->pid, (pid_t)s[i].tgid);
		EXPECT_LE(j->start_ns[first + i], s[i].enter_ns);
		EXPECT_LT(s[i].enter_ns, s[i].exit_ns);
		EXPECT_LE(s[i].exit_ns, j->end_ns[first + i]);
		if (i)
			EXPECT_EQ(4, s[i].launches);
	}
	EXPECT_EQ(0, jetwatt_probe_lost(j->seen.probe));
}

/* Run a job that copies asynchronously before it synchronises. Return: sum of the lengths of the
 * reported waits, as fraction of the time that the job itself measured for the copies and waits. */
static double copy_and_synchronise(struct __test_metadata *_metadata, struct cuda_job *j)
{
	double waited = 0, measured = 0;

	CUDA_JOB_START(j, cuda_libs, "--sync", "pageable", "--syncs", "2", "--minibatches", "20");
	ASSERT_EQ(0, cuda_job_probe(j, 0)) {
		TH_LOG("%s", jetwatt_probe_error());
	}
	ASSERT_EQ(0, cuda_job_go(j));
	ASSERT_EQ(0, cuda_job_finish(j));
	ASSERT_EQ(40, j->waits);
	ASSERT_EQ(40, j->seen.nr);
	for (int i = 0; i < 40; i++) {
		const struct jetwatt_sync *s = &j->seen.sync[i];

		EXPECT_EQ(JETWATT_SYNC_STREAM, s->call);
		EXPECT_EQ(4, s->launches);
		EXPECT_LE(j->start_ns[i], s->enter_ns);
		EXPECT_LE(s->exit_ns, j->end_ns[i]);
		waited += (double)(s->exit_ns - s->enter_ns);
		measured += (double)(j->end_ns[i] - j->start_ns[i]);
	}
	EXPECT_EQ(0, jetwatt_probe_lost(j->seen.probe));
	return waited / measured;
}

/* A copy with pageable memory waits for the GPU, so nothing is left to wait for in the
 * synchronisation after it: the probe must report both as one wait. */
TEST_F_TIMEOUT(one, copy_to_pageable_memory_waits, 60)
{
	setenv("SIM_CUDA_PAGEABLE", "1", 1);
	EXPECT_LT(0.7, copy_and_synchronise(_metadata, &self->job));
	unsetenv("SIM_CUDA_PAGEABLE");
}

TEST_F_TIMEOUT(one, copy_to_pinned_memory_does_not_wait, 60)
{
	EXPECT_LT(0.7, copy_and_synchronise(_metadata, &self->job));
}

/* Keep only the capabilities of jetwattd's unit, and those in @more. */
static int keep_unit_capabilities(uint64_t more)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	uint64_t mask = 1ull << CAP_BPF | 1ull << CAP_NET_ADMIN | 1ull << CAP_PERFMON | more;
	struct __user_cap_data_struct data[2];

	for (int i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(mask >> 32 * i);

		data[i] = (struct __user_cap_data_struct){ part, part, part };
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/* Open a probe as jetwattd does: it watches all processes. */
static int probe_all(struct cuda_job *j)
{
	struct jetwatt_probe_opts all = { .tgid = 0 };

	return jetwatt_probe_open(&j->seen.probe, &all, seen_add, &j->seen);
}

/* Delete the waits of other processes from the list. */
static void keep_waits_of_job(struct cuda_job *j)
{
	int n = 0;

	for (int i = 0; i < j->seen.nr && i < SEEN_MAX; i++)
		if ((pid_t)j->seen.sync[i].tgid == j->pid)
			j->seen.sync[n++] = j->seen.sync[i];
	j->seen.nr = n;
}

/* Return whether the kernel has BPF links of the kind uprobe_multi, by the name of the function
 * that creates them. */
static bool has_uprobe_multi(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512];
	bool has = false;

	while (f && !has && fgets(line, sizeof(line), f))
		has = strstr(line, " bpf_uprobe_multi_link_attach") != NULL;
	if (f)
		fclose(f);
	return has;
}

/*
 * With the capabilities of jetwattd's unit, the probe sees a job that spins in libcuda. A kernel
 * without uprobe_multi may not permit this; the probe then says what it lacks.
 */
TEST_F_TIMEOUT(one, unit_capabilities_suffice, 60)
{
	struct cuda_job *j = &self->job;
	struct jetwatt_probe_state st;
	bool multi = has_uprobe_multi();

	CUDA_JOB_START(j, cuda_libs, "--sync", "stream", "--wait", "spin", "--syncs", "2", "--minibatches", "20");
	ASSERT_EQ(0, keep_unit_capabilities(0));
	ASSERT_EQ(0, probe_all(j)) TH_LOG("%s", jetwatt_probe_error());
	jetwatt_probe_state(j->seen.probe, &st);
	ASSERT_EQ(0, cuda_job_go(j));
	ASSERT_EQ(0, cuda_job_finish(j));
	keep_waits_of_job(j);
	ASSERT_EQ(40, j->waits);
	if (!multi && !(st.attached & JETWATT_BACKEND_UPROBE)) {
		ASSERT_NE(NULL, strstr(st.why[0], "CAP_SYS_ADMIN")) TH_LOG("%s", st.why[0]);
		SKIP(return, "this kernel has no uprobe_multi and requires CAP_SYS_ADMIN for uprobes");
	}
	ASSERT_EQ(JETWATT_BACKEND_UPROBE | JETWATT_BACKEND_TRACEPOINT, st.attached) TH_LOG("%s", st.why[0]);
	ASSERT_EQ(40, j->seen.nr);
	for (int i = 0; i < 40; i++) {
		const struct jetwatt_sync *s = &j->seen.sync[i];

		EXPECT_EQ(JETWATT_SYNC_STREAM, s->call);
		EXPECT_EQ(4, s->launches);
		EXPECT_LE(j->start_ns[i], s->enter_ns);
		EXPECT_LE(s->exit_ns, j->end_ns[i]);
	}
}

/*
 * The job copies asynchronously, which begins a wait in libcuda, and then sleeps until libcuda calls
 * its function, as JAX does. The probe may not read the maps of the job, so it cannot attach to the
 * function, and must report the system calls of libcuda's thread instead.
 */
TEST_F_TIMEOUT(one, system_calls_show_callbacks_without_uprobe, 120)
{
	struct cuda_job *j = &self->job;
	uint32_t tgid = 0, none = 0;
	struct jetwatt_probe_state st;
	int fd, helper = 0;

	cuda_job_start(j, cuda_libs, take_long, (const char *const[]){
		"--sync", "copy_async", "--syncs", "2", "--minibatches", "100", NULL });
	ASSERT_EQ(0, keep_unit_capabilities(1ull << CAP_SYS_ADMIN));
	ASSERT_EQ(0, probe_all(j)) TH_LOG("%s", jetwatt_probe_error());
	fd = held_map("unattached");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, cuda_job_go(j));
	for (int i = 0; i < 250 && bpf_map_get_next_key(fd, NULL, &tgid); i++)
		ASSERT_EQ(0, cuda_job_turn(j, 20));
	EXPECT_EQ(j->pid, (pid_t)tgid);
	EXPECT_EQ(0, bpf_map_lookup_elem(fd, &tgid, &none));
	ASSERT_EQ(0, cuda_job_finish(j));
	keep_waits_of_job(j);
	ASSERT_EQ(200, j->waits);
	jetwatt_probe_state(j->seen.probe, &st);
	EXPECT_NE(NULL, strstr(st.why[0], "CAP_SYS_PTRACE")) TH_LOG("%s", st.why[0]);
	for (int i = 0; i < j->seen.nr; i++)
		helper += j->seen.sync[i].call == JETWATT_SYNC_HELPER;
	if (access("/dev/jetwatt-sim-gpu", F_OK))
		SKIP(return, "without the GPU's node, libcuda waits in no system call");
	EXPECT_LT(100, helper) TH_LOG("%d waits", helper);
	close(fd);
}

TEST_HARNESS_MAIN
