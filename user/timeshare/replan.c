// SPDX-License-Identifier: GPL-2.0-only
/* After each window: update the statistics, choose the mode, plan the next windows, and tell the
 * server its maximum minibatch size. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "timeshare/timeshare.h"
#include "util/error.h"

#define ENOUGH		20	/* minimum number of requests for an estimate of the rate */
#define WINDOWS		8	/* number of windows between two plans */
/* number of consecutive plans beyond the latency limit after which a message is logged */
#define BEYOND		10

/* Write @text to a temporary file and rename that file to @path, so that the server never reads a
 * partial file. Return: 0, negative errno. */
static int write_batch_file(const char *path, const char *text)
{
	char temp[JETWATT_TIMESHARE_TEXT + 8];
	FILE *f;
	int bad;

	snprintf(temp, sizeof(temp), "%s.new", path);
	f = fopen(temp, "we");
	if (!f)
		return -errno;
	bad = fputs(text, f) < 0;
	bad |= fclose(f);
	return bad || rename(temp, path) ? -errno : 0;
}

/* Send the text @text to a Unix socket at @path. Return: 0, negative errno. */
static int write_batch_socket(const char *path, const char *text)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, bad;

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENOTSOCK;
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	bad = connect(fd, (struct sockaddr *)&at, sizeof(at)) ||
	      send(fd, text, strlen(text), MSG_NOSIGNAL) < 0 ? -errno : 0;
	close(fd);
	return bad;
}

/* Write the maximum minibatch size of the server to batch-file, if that is set, and the size has
 * changed or could not be written. */
static void write_batch_size(struct jetwatt_timeshare *s)
{
	int batch = ceil(fmax(s->plan.requests_99, 1)), err;
	char text[16];

	if (!*s->conf->batch_file || batch == s->batch_sent)
		return;
	snprintf(text, sizeof(text), "%d\n", batch);
	err = write_batch_socket(s->conf->batch_file, text);
	if (err == -ENOTSOCK || err == -ECONNREFUSED || err == -ENOENT)
		err = write_batch_file(s->conf->batch_file, text);
	if (err && s->batch_sent >= 0)
		jetwatt_notice("cannot write the server's minibatch size to batch-file: %s: %s",
				   s->conf->batch_file, strerror(-err));
	s->batch_sent = err ? -1 : batch;
}

/* Make a new plan, once the times of both programs and the request rate are known. */
static void make_plan(struct jetwatt_timeshare *s)
{
	struct jetwatt_interleave_query q = {
		.latency_ms = s->conf->latency_ms,
		.arrival_hz = s->arrival_hz,
		.train_ms = jetwatt_batch_track_ns(s->track) * 1e-6,
		.switch_ms = 2 * s->change_ms,
		.even = !s->counted,
	};

	if (!(q.train_ms > 0) || !(q.arrival_hz > 0) || isnan(jetwatt_interleave_ms(&s->seen, 1)))
		return;
	s->feasible = s->conf->minibatches ?
		      jetwatt_interleave_fixed(&s->seen, &q, s->conf->minibatches, &s->plan) :
		      jetwatt_interleave_plan(&s->seen, &q, &s->plan);
	s->planned = 1;
	s->plan_hz = q.arrival_hz;
	s->beyond = s->feasible ? 0 : s->beyond + 1;
	if (s->beyond == BEYOND && !s->logged++)
		jetwatt_notice("the latency limit cannot be met: limit %.3g ms, %.3g requests per second, minibatch of training %.3g ms",
				   q.latency_ms, q.arrival_hz, q.train_ms);
	write_batch_size(s);
}

/* Update the statistics and the request rate: the rate counted recently; the configured rate, if
 * there is one, until enough requests have been counted, and always if requests are not counted. */
static void update_statistics(struct jetwatt_timeshare *s, struct jetwatt_interleave_window *w)
{
	if (!s->counted)
		w->requests = 1e-3 * w->window_ms * s->conf->arrival_hz;
	jetwatt_interleave_add(&s->seen, w);
	s->arrival_hz = s->arrivals && (!s->conf->arrival_hz ||
					jetwatt_interleave_requests(&s->seen) >= ENOUGH) ?
			jetwatt_interleave_rate(&s->seen) : s->conf->arrival_hz;
}

int jetwatt_timeshare_requested(const struct jetwatt_timeshare *s)
{
	return s->arrivals && jetwatt_arrivals(s->arrivals) > s->counted;
}

void jetwatt_timeshare_forget(struct jetwatt_timeshare *s)
{
	jetwatt_interleave_forget(&s->seen);
	s->planned = s->beyond = 0;
}

/* Adapt the mode to the counted request rate, once enough requests have been counted. After a
 * switch of mode, the durations of the time slices before it no longer hold. */
static void adapt_mode(struct jetwatt_timeshare *s)
{
	int moved;

	if (!s->arrivals || jetwatt_interleave_requests(&s->seen) < ENOUGH)
		return;
	moved = jetwatt_timeshare_mode_follow(&s->mode, s->conf, s->arrival_hz);
	if (moved < 0)
		s->failed = 1;
	if (moved)
		jetwatt_timeshare_forget(s);
}

void jetwatt_timeshare_window(struct jetwatt_timeshare *s, struct jetwatt_interleave_window *w)
{
	update_statistics(s, w);
	if (s->planned)
		s->planned_minibatches += 1e-3 * s->plan.throughput_hz * w->window_ms;
	adapt_mode(s);
	if (jetwatt_batch_track_learn(s->track))
		return;
	/* Plan again at once only after a change of the request rate; the other statistics
	 * change slowly. */
	if (s->planned && s->since == s->seen.since && ++s->windows < WINDOWS)
		return;
	s->since = s->seen.since;
	s->windows = 0;
	make_plan(s);
}
