/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the waits of real programs: tests/trace/gpu, whose README describes the files. */
#ifndef JETWATT_TESTS_RECORDING_H
#define JETWATT_TESTS_RECORDING_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "jetwatt.h"

#define MAX	1536
#define US	1000ull

static struct recording {
	struct jetwatt_sync sync[MAX];
	uint64_t end[MAX];
	char kind[MAX];		/* first letter of the kind of each minibatch; 0: not noted */
	size_t waits, ends;
} rec;

static uint32_t call_of(const char *name)
{
	static const char *const names[JETWATT_SYNC_CALLS] = {
		[JETWATT_SYNC_STREAM] = "stream", [JETWATT_SYNC_EVENT] = "event",
		[JETWATT_SYNC_CONTEXT] = "context", [JETWATT_SYNC_COPY] = "copy",
		[JETWATT_SYNC_CALLBACK] = "callback", [JETWATT_SYNC_QUERY] = "query",
	};

	for (uint32_t i = 0; i < JETWATT_SYNC_CALLS; i++)
		if (names[i] && !strcmp(name, names[i]))
			return i;
	return JETWATT_SYNC_CALLS;
}

/* Read a recording into @rec. Return: whether it has a wait and an end, and no unknown line. */
static bool read_recording(const char *name)
{
	unsigned long long start, length, first, end;
	unsigned int tid, launches;
	char path[96], line[128], call[16], kind[16];
	bool good = true;
	FILE *f;

	snprintf(path, sizeof(path), "tests/trace/gpu/%s", name);
	f = fopen(path, "re");
	rec.waits = rec.ends = 0;
	while (f && good && fgets(line, sizeof(line), f)) {
		if (*line == '#')
			continue;
		kind[0] = '\0';
		if (sscanf(line, "end %llu %15s", &end, kind) >= 1 && rec.ends < MAX) {
			rec.kind[rec.ends] = kind[0];
			rec.end[rec.ends++] = end * US;
			continue;
		}
		good = rec.waits < MAX && sscanf(line, "%llu %llu %u %15s %u %llu", &start, &length, &tid, call,
						 &launches, &first) == 6;
		if (!good)
			break;
		rec.sync[rec.waits++] = (struct jetwatt_sync){
			.enter_ns = start * US, .exit_ns = (start + length) * US, .tgid = 1, .tid = tid,
			.call = call_of(call), .launches = launches, .launch_ns = first * US,
		};
	}
	if (f)
		fclose(f);
	return f && good && rec.waits && rec.ends;
}

#endif
