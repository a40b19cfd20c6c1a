// SPDX-License-Identifier: GPL-2.0-only
/* What is learned from a window that has ended, and what is aimed at in the next one. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "timeshare/timeshare.h"
#include "util/error.h"

#define ENOUGH		20	/* requests, to tell a rate */
#define WINDOWS		8	/* until the next plan */
#define BEYOND		10	/* plans in a row that cannot keep the latency: that is said */

/* Written beside it and moved there, so that nobody reads half of it. */
static int to_file(const char *path, const char *text)
{
	char beside[JETWATT_SCHEDULE_TEXT + 8];
	FILE *f;
	int bad;

	snprintf(beside, sizeof(beside), "%s.new", path);
	f = fopen(beside, "we");
	if (!f)
		return -errno;
	bad = fputs(text, f) < 0;
	bad |= fclose(f);
	return bad || rename(beside, path) ? -errno : 0;
}

static int to_socket(const char *path, const char *text)
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

/* The largest minibatch that the server may take, where it wants to be told. */
static void hand_batch(struct jetwatt_schedule *s)
{
	int batch = ceil(fmax(s->plan.requests_most, 1)), err;
	char text[16];

	if (!*s->conf->batch_file || batch == s->handed)
		return;
	snprintf(text, sizeof(text), "%d\n", batch);
	err = to_socket(s->conf->batch_file, text);
	if (err == -ENOTSOCK || err == -ECONNREFUSED || err == -ENOENT)
		err = to_file(s->conf->batch_file, text);
	if (err && s->handed >= 0)
		jetwatt_error_note("batch-file = %s: %s; the server's minibatches are left alone",
				   s->conf->batch_file, strerror(-err));
	s->handed = err ? -1 : batch;
}

static void plan(struct jetwatt_schedule *s)
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
	if (s->beyond == BEYOND && !s->said++)
		jetwatt_error_note("a latency of %.3g ms cannot be kept: %.3g requests a second, %.3g ms for a minibatch of training; the least there is, is aimed at",
				   q.latency_ms, q.arrival_hz, q.train_ms);
	hand_batch(s);
}

/* The rate is what was counted lately, or until that is something, what the file says. */
static void learn(struct jetwatt_schedule *s, struct jetwatt_interleave_window *w)
{
	if (!s->counted)
		w->requests = 1e-3 * w->window_ms * s->conf->arrival_hz;
	jetwatt_interleave_note(&s->seen, w);
	s->arrival_hz = s->arrivals && (!s->conf->arrival_hz ||
					jetwatt_interleave_requests(&s->seen) >= ENOUGH) ?
			jetwatt_interleave_rate(&s->seen) : s->conf->arrival_hz;
}

int jetwatt_schedule_asked(const struct jetwatt_schedule *s)
{
	return s->arrivals && jetwatt_arrivals(s->arrivals) > s->counted;
}

void jetwatt_schedule_forget(struct jetwatt_schedule *s)
{
	jetwatt_interleave_forget(&s->seen);
	s->planned = s->beyond = 0;
}

/* Once the rate is known: in another mode all times are other ones. */
static void choose_mode(struct jetwatt_schedule *s)
{
	int moved;

	if (!s->arrivals || jetwatt_interleave_requests(&s->seen) < ENOUGH)
		return;
	moved = jetwatt_schedule_mode_follow(&s->mode, s->conf, s->arrival_hz);
	if (moved < 0)
		s->failed = 1;
	if (moved)
		jetwatt_schedule_forget(s);
}

void jetwatt_schedule_window(struct jetwatt_schedule *s, struct jetwatt_interleave_window *w)
{
	learn(s, w);
	if (s->planned)
		s->promised += 1e-3 * s->plan.throughput_hz * w->window_ms;
	choose_mode(s);
	if (jetwatt_batch_track_learn(s->track))
		return;
	/* A plan is as good as what is known, and that moves slowly but for changes. */
	if (s->planned && s->since == s->seen.since && ++s->windows < WINDOWS)
		return;
	s->since = s->seen.since;
	s->windows = 0;
	plan(s);
}
