// SPDX-License-Identifier: GPL-2.0-only
/* The functions that Python calls: steps of a stream, and what a step has collected. */
#include "python/native/records.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

int jetwatt_stream_step(struct jetwatt_stream *s)
{
	int n;

	if (s->power.n)
		s->last = ((const struct jetwatt_power *)s->power.at)[s->power.n - 1];
	s->power.n = s->found.n = 0;
	if (s->ended)
		return 0;
	n = s->reader ? jetwatt_stream_step_trace(s) : jetwatt_stream_step_live(s);
	s->ended = n <= 0;
	if (n >= 0 && s->err)
		n = s->err;
	return n;
}

const struct jetwatt_power *jetwatt_stream_power(const struct jetwatt_stream *s, size_t *n)
{
	*n = s->power.n;
	return s->power.at;
}

void jetwatt_stream_rows(const struct jetwatt_stream *s, int nr_rails, void *rows)
{
	const struct jetwatt_power *p = s->power.at;
	struct jetwatt_stream_row *row = rows;

	for (size_t i = 0; i < s->power.n; i++, p++) {
		double *value = row->value;
		int64_t total = 0;

		for (int r = 0; r < s->nr_total; r++)
			total += p->uw[s->total[r]];
		row->t_ns = p->time_ns;
		row->seq = p->seq;
		row->gap = p->gap != 0;
		row->total_w = (double)total * 1e-6;
		for (int r = 0; r < nr_rails; r++)
			*value++ = p->valid >> r & 1 ? (double)p->uw[r] * 1e-6 : NAN;
		for (int t = 0; t < JETWATT_TELEMETRY_SLOTS; t++) {
			int64_t v = p->telemetry.value[t];

			*value++ = v == JETWATT_TELEMETRY_NONE ? NAN : (double)v;
		}
		row = (struct jetwatt_stream_row *)value;
	}
}

const struct jetwatt_stream_minibatch *jetwatt_stream_minibatches(const struct jetwatt_stream *s, size_t *n)
{
	*n = s->found.n;
	return s->found.at;
}

int jetwatt_stream_rails(const struct jetwatt_stream *s, const struct jetwatt_rail **rail)
{
	*rail = s->rail;
	return s->nr_rails;
}

void jetwatt_stream_lost(const struct jetwatt_stream *s, struct jetwatt_stream_lost *lost)
{
	struct jetwatt_trace_state st = { 0 };

	if (s->reader)
		jetwatt_trace_state(s->reader, &st);
	lost->samples = s->samples_lost;
	lost->waits = s->waits_lost;
	lost->late = s->join ? jetwatt_join_late(s->join) : 0;
	/* A block with a wrong checksum is also missing in the sequence of numbers, unless it is the last one. */
	lost->damaged = st.damaged > st.missing ? st.damaged : st.missing;
}

int jetwatt_stream_fd(const struct jetwatt_stream *s)
{
	return s->epoll;
}

const char *jetwatt_stream_error(const struct jetwatt_stream *s)
{
	return s && s->why ? s->why : jetwatt_error(s ? s->jw : NULL);
}

void jetwatt_stream_close(struct jetwatt_stream *s)
{
	if (!s)
		return;
	if (s->probe)
		jetwatt_probe_close(s->probe);
	if (s->jw)
		jetwatt_stream_restore_rate(s);
	jetwatt_close(s->jw);
	jetwatt_trace_reader_free(s->reader);
	jetwatt_join_free(s->join);
	jetwatt_sysfs_close(s->sysfs);
	jetwatt_batch_track_free(s->track);
	if (s->fd >= 0)
		close(s->fd);
	if (s->epoll >= 0)
		close(s->epoll);
	if (s->pidfd >= 0)
		close(s->pidfd);
	free(s->mark_name);
	free(s->power.at);
	free(s->found.at);
	free(s->wait.at);
	free(s->at_wait.at);
	free(s->open.at);
	free(s);
}
