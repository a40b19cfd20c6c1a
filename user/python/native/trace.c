// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream of a trace. The bounds of its minibatches are found at its end from all waits, as jetwatt
 * report does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/phases.h"
#include "python/native/records.h"

/* Hold time of the join, ms: see jetwatt_join_new(). */
#define HOLD_MS		1000

/* Copy the waits, or the marks, to @out. Return: their number. */
static size_t select_waits(const struct jetwatt_stream *s, int marks, struct jetwatt_sync *out)
{
	const struct jetwatt_sync *w = s->wait.at;
	size_t n = 0;

	for (size_t i = 0; i < s->wait.n; i++)
		if (marks == (w[i].call == JETWATT_SYNC_MARK || w[i].call == JETWATT_SYNC_MARK_BEGIN))
			out[n++] = w[i];
	return n;
}

/* All waits of the trace have been read: find the minibatches, by the rules of
 * jetwatt_run_energy_end(). */
static int find_minibatches(struct jetwatt_stream *s)
{
	struct jetwatt_batch_bound *b = calloc(2 * s->wait.n + 1, sizeof(*b));
	struct jetwatt_sync *w = calloc(s->wait.n + 1, sizeof(*w));
	struct jetwatt_batch_info info;
	int n = b && w ? 0 : -ENOMEM, marked;

	if (!n)
		n = jetwatt_batch_marked(w, select_waits(s, 1, w),
					 (const char (*)[JETWATT_MARK_LEN])s->mark_name, b);
	marked = n > 0;
	if (!n)
		n = jetwatt_batch_segment(w, select_waits(s, 0, w), b, &info);
	if (n == -ENODATA)
		n = 0;
	if (n > 0 && jetwatt_batch_phases(b, n) < 0)
		n = -ENOMEM;
	for (int i = 0; i < n; i++) {
		struct jetwatt_stream_minibatch m = {
			.start_ns = b[i].start_ns, .end_ns = b[i].end_ns, .tgid = b[i].tgid,
			.kind = b[i].kind, .phase = b[i].phase, .marked = marked,
		};

		if (m.start_ns >= s->job_ns)
			jetwatt_stream_add(s, &m);
	}
	free(b);
	free(w);
	return n < 0 ? n : 0;
}

static void on_rail(const struct jetwatt_rail *rail, void *arg)
{
	struct jetwatt_stream *s = arg;
	int i = 0;

	while (i < s->nr_rails && s->rail[i].id != rail->id)
		i++;
	if (s->join || i == JETWATT_RAILS_MAX)
		return;
	s->nr_rails += i == s->nr_rails;
	s->rail[i] = *rail;
}

static void on_text(const char *key, const char *text, void *arg)
{
	struct jetwatt_stream *s = arg;
	unsigned long i = strncmp(key, "mark.", 5) ? JETWATT_MARKS_MAX : strtoul(key + 5, NULL, 10);

	if (i < JETWATT_MARKS_MAX)
		strncpy(s->mark_name[i], text, JETWATT_MARK_LEN - 1);
}

static void on_job(const struct jetwatt_trace_job *job, void *arg)
{
	struct jetwatt_stream *s = arg;

	if (!s->job_ns)
		s->job_ns = job->begun_ns;
}

static void on_trace_samples(const struct jetwatt_samples *b, void *arg)
{
	struct jetwatt_stream *s = arg;

	if (!s->join) {
		jetwatt_stream_find_total(s);
		if (jetwatt_join_new_rails(&s->join, s->rail, s->nr_rails, HOLD_MS)) {
			s->err = -ENOMEM;
			return;
		}
		jetwatt_stream_join(s);
	}
	jetwatt_stream_samples(b, s);
}

static void on_trace_wait(const struct jetwatt_sync *w, void *arg)
{
	struct jetwatt_stream *s = arg;

	if (s->join)
		jetwatt_join_sync(w, s->join);
}

static void on_reading(const struct jetwatt_reading *r, void *arg)
{
	struct jetwatt_stream *s = arg;

	if (s->join)
		jetwatt_join_reading(r, s->join);
}

/* Read the description of the run, until the rails are known. */
static int read_description(struct jetwatt_stream *s)
{
	int n = 1;

	while (n > 0 && !s->nr_rails)
		n = jetwatt_trace_read(s->reader);
	return n < 0 ? n : s->nr_rails ? 0 : -ENODATA;
}

int jetwatt_stream_trace(struct jetwatt_stream **stream, const char *path)
{
	static const struct jetwatt_trace_calls calls = {
		.samples = on_trace_samples, .sync = on_trace_wait, .text = on_text, .rail = on_rail,
		.job = on_job,
	};
	struct jetwatt_stream *s = *stream = jetwatt_stream_new();
	int err;

	if (!s)
		return -ENOMEM;
	s->mark_name = calloc(JETWATT_MARKS_MAX, sizeof(*s->mark_name));
	s->fd = open(path, O_RDONLY | O_CLOEXEC);
	err = !s->mark_name ? -ENOMEM : s->fd < 0 ? -errno : 0;
	if (!err)
		err = jetwatt_trace_reader_new(&s->reader, s->fd, &calls, s);
	if (err)
		return err;
	jetwatt_trace_reader_reading(s->reader, on_reading);
	return read_description(s);
}

int jetwatt_stream_step_trace(struct jetwatt_stream *s)
{
	struct jetwatt_trace_state st;
	int n;

	/* As in jetwatt_replay_step(). */
	if (s->join)
		jetwatt_join_pause(s->join, 1);
	n = jetwatt_trace_read(s->reader);
	if (s->join)
		jetwatt_join_pause(s->join, 0);
	jetwatt_trace_state(s->reader, &st);
	s->waits_lost = st.waits_lost + st.waits_missing;
	if (n)
		return n;
	if (s->join)
		jetwatt_join_flush(s->join);
	return find_minibatches(s);
}

