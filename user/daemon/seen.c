// SPDX-License-Identifier: GPL-2.0-only
/* The processes that wait for the GPU: decides which of them is the job, and which are
 * co-running. */
#include "daemon/loop.h"
#include "util/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A process uses the GPU if it has waited WAITS times or for WAITED_NS in total: the second
 * condition is needed because a minibatch may take many seconds in a low mode. */
#define WAITS		3
#define WAITED_NS	500000000ull
/* Size of the start of a command that identifies a co-running job, in bytes with the NUL. */
#define WORDS		48
/* A co-running job counts as using the GPU for this time, ns, plus twice its @cycle_ns, after its
 * last wait. */
#define OTHERS_NS	2000000000ull

struct jetwattd_seen *jetwattd_seen_find(struct jetwattd_run *r, pid_t pid)
{
	struct jetwattd_seen *oldest = &r->seen[0];

	for (int i = 0; i < JETWATTD_PROCESSES_MAX; i++) {
		if (r->seen[i].pid == pid)
			return &r->seen[i];
		if (r->seen[i].last_ns < oldest->last_ns)
			oldest = &r->seen[i];
	}
	memset(oldest, 0, sizeof(*oldest));
	oldest->pid = pid;
	oldest->known = oldest->serves = -1;
	return oldest;
}

/* Return the start time of a process, in clock ticks since boot; 0 if the process has ended. */
static uint64_t start_ticks(pid_t pid)
{
	unsigned long long ticks = 0;
	char path[64], line[1024];
	const char *p;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	/* The command name in /proc/PID/stat may contain any character, also ')', so find the last
	 * ')'. The fields after the name are state, ppid, ... starttime. */
	p = strrchr(line, ')');
	if (p && sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			&ticks) != 1)
		ticks = 0;
	return ticks;
}

/* After a pause of a process: if its pid was reused by another process, reset the entry. */
static void detect_pid_reuse(struct jetwattd_seen *seen)
{
	uint64_t now = start_ticks(seen->pid);

	if (seen->born && now != seen->born) {
		*seen = (struct jetwattd_seen){ .pid = seen->pid, .last_ns = seen->last_ns };
		seen->known = seen->serves = -1;
	}
	seen->born = now;
}

int jetwattd_in_job(const struct jetwattd_run *r, pid_t pid)
{
	return r->session.pid && (pid == r->session.pid || getpgid(pid) == getpgid(r->session.pid));
}

/* Return: 1 if the process uses the GPU. */
static int uses_gpu(const struct jetwattd_seen *seen)
{
	return seen->waits >= WAITS || seen->waited_ns >= WAITED_NS;
}

void jetwattd_on_wait(const struct jetwatt_sync *s, void *arg)
{
	struct jetwattd_run *r = arg;
	struct jetwattd_seen *seen = jetwattd_seen_find(r, (pid_t)s->tgid);
	/* Waits of several threads may arrive in another order than they ended. */
	uint64_t exit_interval_ns = s->exit_ns > seen->last_ns ? s->exit_ns - seen->last_ns : 0;
	uint64_t faded_ns = seen->cycle_ns / 8 * 7;

	if (s->enter_ns > seen->last_ns + JETWATTD_JOB_NS) {
		detect_pid_reuse(seen);
		seen->waits = seen->waited_ns = seen->cycle_ns = 0;
	} else {
		seen->cycle_ns = exit_interval_ns > faded_ns ? exit_interval_ns : faded_ns;
	}
	seen->waits++;
	seen->waited_ns += s->exit_ns - s->enter_ns;
	if (s->exit_ns > seen->last_ns)
		seen->last_ns = s->exit_ns;
	if (!jetwattd_in_job(r, seen->pid))
		return;
	jetwatt_session_wait(s, &r->session);
	jetwattd_minibatch_wait(r->minibatch, s);
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

void jetwattd_corunners(const struct jetwattd_run *r, char *text, size_t len)
{
	char word[JETWATTD_PROCESSES_MAX][WORDS];
	uint64_t now = jetwatt_clock_ns();
	pid_t group[JETWATTD_PROCESSES_MAX];
	size_t n = 0, at = 0, k;

	for (int i = 0; i < JETWATTD_PROCESSES_MAX; i++) {
		const struct jetwattd_seen *seen = &r->seen[i];

		if (!uses_gpu(seen) || now - seen->last_ns > OTHERS_NS + 2 * seen->cycle_ns ||
		    jetwattd_in_job(r, seen->pid))
			continue;
		group[n] = getpgid(seen->pid);
		for (k = 0; k < n && group[k] != group[n]; k++)
			;
		/* Skip a process that has ended, or whose process group is in the list already. */
		if (group[n] < 0 || k < n)
			continue;
		jetwatt_profile_store_command(seen->pid, word[n++], WORDS);
	}
	qsort(word, n, WORDS, compare_text);
	*text = '\0';
	for (k = 0; k < n && at < len; k++)
		at += (size_t)snprintf(text + at, len - at, "%s%s", k ? " + " : "", word[k]);
}

/* Return: 1 if the database has at least JETWATTD_KNOWN readings of the process's workload, else 0.
 * The database is searched once per process. */
static int workload_known(struct jetwattd_run *r, struct jetwattd_seen *seen)
{
	struct jetwatt_profile_store_args args = { .path = NULL };

	if (seen->known < 0)
		seen->known = jetwatt_profile_store_known(&r->store, &args, r->d->act.board,
							  r->session.scope,
							  seen->pid) >= JETWATTD_KNOWN;
	return seen->known;
}

/* Return: 1 if the process belongs to the server of the policy's "turns" line, else 0. The result
 * is looked up once per process, and again after a reload of the policy. */
static int is_server(struct jetwattd_run *r, struct jetwattd_seen *seen)
{
	const char *server = r->d->policy->timeshare.serve;
	char cgroup[sizeof(r->cgroup)];

	if (!*server)
		return 0;
	if (seen->serves < 0) {
		jetwatt_cgroup_of(seen->pid, cgroup, sizeof(cgroup));
		seen->serves = jetwatt_cgroup_below(cgroup, server);
	}
	return seen->serves;
}

pid_t jetwattd_find_job(struct jetwattd_run *r)
{
	uint64_t now = jetwatt_clock_ns();

	for (int i = 0; i < JETWATTD_PROCESSES_MAX; i++) {
		struct jetwattd_seen *seen = &r->seen[i];

		if (!seen->waits || now - seen->last_ns > JETWATTD_JOB_NS || seen->opaque ||
		    seen->pid == getpid() || is_server(r, seen))
			continue;
		/* A process that has ended cannot become the job, and must not keep others from it. */
		if (getpgid(seen->pid) < 0 && errno == ESRCH)
			continue;
		if (uses_gpu(seen) || workload_known(r, seen))
			return seen->pid;
	}
	return 0;
}
