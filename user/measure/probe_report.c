// SPDX-License-Identifier: GPL-2.0-only
/* Reports how the job's waits for the GPU were detected, as text and JSON. */
#include "measure/probe_report.h"

#include "util/args.h"

static const struct {
	const char *name;
	uint32_t rung;
} calls[JETWATT_SYNC_CALLS] = {
	[JETWATT_SYNC_POLLFD] = { "pollfd", JETWATT_BACKEND_TRACEPOINT },
	[JETWATT_SYNC_SYNCPT] = { "syncpoint", JETWATT_BACKEND_TRACEPOINT },
	[JETWATT_SYNC_STREAM] = { "stream", JETWATT_BACKEND_UPROBE },
	[JETWATT_SYNC_EVENT] = { "event", JETWATT_BACKEND_UPROBE },
	[JETWATT_SYNC_CONTEXT] = { "context", JETWATT_BACKEND_UPROBE },
	[JETWATT_SYNC_MARK] = { "mark", JETWATT_BACKEND_MARKER },
	[JETWATT_SYNC_MARK_BEGIN] = { "mark_begin", JETWATT_BACKEND_MARKER },
	[JETWATT_SYNC_HELPER] = { "helper", JETWATT_BACKEND_TRACEPOINT },
	[JETWATT_SYNC_COPY] = { "copy", JETWATT_BACKEND_UPROBE },
	[JETWATT_SYNC_QUERY] = { "query", JETWATT_BACKEND_UPROBE },
	[JETWATT_SYNC_CALLBACK] = { "callback", JETWATT_BACKEND_UPROBE },
};

uint32_t jetwatt_probe_report_backend(const struct jetwatt_probe_state *st)
{
	uint32_t rung = 0;
	uint64_t most = 0;

	for (int i = 0; i < JETWATT_SYNC_CALLS; i++)
		if (calls[i].rung != JETWATT_BACKEND_MARKER && st->seen[i] > most) {
			most = st->seen[i];
			rung = calls[i].rung;
		}
	if (!rung && (st->seen[JETWATT_SYNC_MARK] || st->seen[JETWATT_SYNC_MARK_BEGIN]))
		rung = JETWATT_BACKEND_MARKER;
	/* The kernel module detects the same system calls as the BPF programs on tracepoints. */
	if (rung == JETWATT_BACKEND_TRACEPOINT && !(st->attached & rung))
		rung = JETWATT_BACKEND_MODULE;
	for (int i = 0; i < JETWATT_BACKENDS && !rung; i++)
		rung = st->attached & 1u << i;
	return rung;
}

/* Return whether waits of libcuda's helper thread are the most frequent kind, and there are no
 * marks. The helper thread also wakes up within minibatches, so its waits do not only mark
 * boundaries. */
static int helper_only(const struct jetwatt_probe_state *st)
{
	uint64_t most = st->seen[JETWATT_SYNC_HELPER];

	if (st->seen[JETWATT_SYNC_MARK])
		return 0;
	for (int i = 0; i < JETWATT_SYNC_CALLS; i++)
		if (i != JETWATT_SYNC_HELPER && st->seen[i] >= most)
			return 0;
	return most > 0;
}

/* System calls show a wait only if the thread blocks in one. */
static const char *blind_to(uint32_t used)
{
	return used & (JETWATT_BACKEND_TRACEPOINT | JETWATT_BACKEND_MODULE) ?
	       "waits that spin or query" : NULL;
}

void jetwatt_probe_report_print(const struct jetwatt_probe_state *st, FILE *f)
{
	uint32_t used = jetwatt_probe_report_backend(st);

	fprintf(f, " waits seen by %s", jetwatt_args_backend_name(used));
	if (used == JETWATT_BACKEND_UPROBE && *st->library)
		fprintf(f, " (%.40s), %llu launches", st->library,
			(unsigned long long)st->launches);
	if (blind_to(used))
		fprintf(f, ", which does not see %s", blind_to(used));
	if (st->seen[JETWATT_SYNC_MARK] && used != JETWATT_BACKEND_MARKER)
		fprintf(f, ", and %llu marks", (unsigned long long)st->seen[JETWATT_SYNC_MARK]);
	fprintf(f, "\n");
	if (helper_only(st))
		fprintf(f, " warning: minibatches may be wrong: the most frequent waits are those of CUDA's own thread cuda-EvtHandlr; use marks (jetwatt-mark(1))\n");
}

void jetwatt_probe_report_json(const struct jetwatt_probe_state *st, struct jetwatt_json *j)
{
	jetwatt_json_object(j, "probe");
	jetwatt_json_string(j, "backend", jetwatt_args_backend_name(jetwatt_probe_report_backend(st)));
	/* older name of the same member, for programs that read it */
	jetwatt_json_string(j, "rung", jetwatt_args_backend_name(jetwatt_probe_report_backend(st)));
	jetwatt_json_array(j, "attached");
	for (int i = 0; i < JETWATT_BACKENDS; i++)
		if (st->attached & 1u << i)
			jetwatt_json_string(j, NULL, jetwatt_args_backend_name(1u << i));
	jetwatt_json_end(j);
	jetwatt_json_object(j, "missing");
	for (int i = 0; i < JETWATT_BACKENDS; i++)
		if (st->why[i][0] && !(st->attached & 1u << i))
			jetwatt_json_string(j, jetwatt_args_backend_name(1u << i), st->why[i]);
	jetwatt_json_end(j);
	if (blind_to(jetwatt_probe_report_backend(st)))
		jetwatt_json_string(j, "blind_to", blind_to(jetwatt_probe_report_backend(st)));
	if (*st->library)
		jetwatt_json_string(j, "library", st->library);
	jetwatt_json_object(j, "seen");
	for (int i = 0; i < JETWATT_SYNC_CALLS; i++)
		if (st->seen[i])
			jetwatt_json_uint(j, calls[i].name, st->seen[i]);
	jetwatt_json_end(j);
	jetwatt_json_uint(j, "launches", st->launches);
	jetwatt_json_end(j);
}
