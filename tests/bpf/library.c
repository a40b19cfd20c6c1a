// SPDX-License-Identifier: GPL-2.0-only
// guest: modules="governor_simpleondemand;jetwatt-sim;ina3221"
/*
 * The probe on the calls of libcuda: every wait is reported once, whether it spins or blocks, for
 * all waiting calls.
 */
#include "kselftest_harness.h"
#include "cuda_job.h"

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
/* Copies to the device, before which nothing was launched, are no waits. */
FIXTURE_VARIANT_ADD(library, copy) { "copy", "block", JETWATT_SYNC_COPY, 4 };
FIXTURE_VARIANT_ADD(library, copy_ptds) { "copy_ptds", "spin", JETWATT_SYNC_COPY, 4 };
/* Repeated queries are one wait. */
FIXTURE_VARIANT_ADD(library, event_query) { "query", "spin", JETWATT_SYNC_QUERY, 4 };
FIXTURE_VARIANT_ADD(library, stream_query) { "stream_query", "spin", JETWATT_SYNC_QUERY, 4 };
/* A call inside another one is one wait, with and without a stack frame of its own. */
FIXTURE_VARIANT_ADD(library, runtime) { "runtime", "block", JETWATT_SYNC_STREAM, 4 };
FIXTURE_VARIANT_ADD(library, device) { "device", "spin", JETWATT_SYNC_CONTEXT, 4 };

FIXTURE_SETUP(library)
{
	const char *why = cuda_job_begin(&self->job);

	if (why)
		SKIP_TEST("%s", why);
	/* Like a system library: attached to before the job loads it. */
	setenv("LD_LIBRARY_PATH", cuda_libs, 1);
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
	/* All backends: system calls below the library call are not reported again. */
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
	EXPECT_EQ(JETWATT_RUNG_UPROBE | JETWATT_RUNG_TRACEPOINT, st.attached);
	EXPECT_EQ(40, st.seen[variant->call]);
	EXPECT_EQ(40 * variant->launches, st.launches);
	EXPECT_NE(NULL, strstr(st.library, "libcuda"));
}

TEST_HARNESS_MAIN
