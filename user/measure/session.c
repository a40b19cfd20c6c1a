// SPDX-License-Identifier: GPL-2.0-only
/* Opens and closes a measurement session. */
#include "measure/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "measure/connect.h"
#include "util/error.h"

/*
 * Maximum time for which the join waits for samples or waits that do not arrive, ms: longer than
 * this process may be delayed on a busy board.
 */
#define HOLD_MS		1000

int jetwatt_session_add(struct jetwatt_session *w, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return fd < 0 || epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static int open_loop(struct jetwatt_session *w)
{
	sigset_t set;

	jetwatt_block_signals(&set);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	return w->epoll < 0 || jetwatt_session_add(w, w->signals) ||
	       jetwatt_session_add(w, jetwatt_fd(w->jw)) ? -errno : 0;
}

/* Find the rails of the total; warn if some of these rails cannot be measured. */
static int find_total(struct jetwatt_session *w, const struct jetwatt_board *board)
{
	char rails[256];

	w->nr_rails = jetwatt_rails(w->jw, w->rail, JETWATT_RAILS_MAX);
	if (w->nr_rails < 0)
		return jetwatt_connect_error(w->jw, w->nr_rails, "cannot list the rails");
	w->nr_total = jetwatt_board_total(board, w->rail, w->nr_rails, w->total, &w->scope);
	if (w->nr_total <= 0)
		return jetwatt_error_report(JETWATT_EXIT_UNSUPPORTED,
					 w->nr_rails ? "no rail that belongs to the total is enabled" :
					 "the module found no sensor chip that answers",
					 "jetwatt doctor; jetwatt list rails", "no power to measure");
	if (!strcmp(w->scope, "partial sum"))
		jetwatt_notice("total is a partial sum: only %s (others are disabled or missing: jetwatt list rails)",
				   jetwatt_session_scope(w, rails, sizeof(rails)));
	return 0;
}

static int set_rate(struct jetwatt_session *w, unsigned int rate_hz)
{
	struct jetwatt_config set = { rate_hz, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 0 };
	int err = jetwatt_config_get(w->jw, &w->config);

	if (err)
		return jetwatt_connect_error(w->jw, err, "cannot read the sampler's settings");
	if (!rate_hz)
		return 0;
	/* All programs that use the module share one sampling rate. */
	if (w->info.running && rate_hz < w->config.active_hz)
		return jetwatt_error_report(JETWATT_EXIT_FAILED,
					 "another program is measuring, and the module has one rate for all",
					 "omit --rate (jetwattd: the line rate), or wait until the other program has finished",
					 "not lowering the rate from %u to %u Hz",
					 w->config.active_hz, rate_hz);
	err = jetwatt_config_set(w->jw, &set);
	if (err == -ERANGE)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, jetwatt_error(w->jw),
					 "use a lower rate, or omit --rate",
					 "%u Hz is too high", rate_hz);
	if (err)
		return jetwatt_connect_error(w->jw, err, "cannot set the rate");
	w->rate_set = rate_hz;
	return 0;
}

/*
 * Subscribe and wait for the first batch, at most 5 s. The module reads the chips' configuration
 * when the sampler starts, so its description of the rails may be outdated before the first batch.
 */
static int begin_stream(struct jetwatt_session *w)
{
	int err = jetwatt_subscribe(w->jw, jetwatt_session_samples, w);

	if (err)
		return jetwatt_connect_error(w->jw, err, "cannot read samples");
	for (int i = 0; i < JETWATT_SESSION_FIRST_POLLS && !w->running && !w->stop && !w->failed; i++)
		jetwatt_session_run(w, JETWATT_SESSION_FIRST_POLL_MS);
	return 0;
}

void jetwatt_session_init(struct jetwatt_session *w)
{
	memset(w, 0, sizeof(*w));
	jetwatt_telemetry_clear(&w->telemetry);
	w->epoll = w->signals = w->pidfd = w->mark_fd = w->cgroup.events = w->failed_rail = -1;
}

int jetwatt_session_open(struct jetwatt_session *w, const struct jetwatt_board *board,
		       unsigned int rate_hz)
{
	struct jetwatt_stats stats;
	int err;

	jetwatt_session_init(w);
	err = jetwatt_open_module(&w->jw, &w->info);
	if (err)
		return err;
	err = open_loop(w);
	if (err)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					 "cannot set up the event loop");
	err = set_rate(w, rate_hz);
	if (!err)
		err = begin_stream(w);
	if (!err)
		err = find_total(w, board);
	if (err)
		return err;
	err = jetwatt_sysfs_open(&w->sysfs, NULL);
	if (!err)
		err = jetwatt_join_new(&w->join, w->jw, HOLD_MS);
	if (err)
		return jetwatt_connect_error(w->jw, err, "cannot join the streams");
	jetwatt_session_join(w);
	if (!jetwatt_stats(w->jw, &stats))
		w->missed0 = stats.missed;
	return 0;
}

int jetwatt_session_error(const struct jetwatt_session *w)
{
	if (w->why)
		return w->why;
	if (w->stop)
		return 128 + w->stop;
	if (w->failed_rail >= 0)
		return jetwatt_error_report(JETWATT_EXIT_FAILED,
					 "it had no value for 2 s, so the total is incomplete",
					 "jetwatt doctor; dmesg", "rail %s is gone",
					 w->rail[w->failed_rail].label);
	if (w->out_of_memory)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
					 "cannot store the samples");
	if (w->silent)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, "the module sends no samples any more",
					 "was the module unloaded? run jetwatt doctor", "the stream broke off");
	return jetwatt_error_report(JETWATT_EXIT_FAILED, jetwatt_error(w->jw),
				 "was the module unloaded? run jetwatt doctor", "the stream broke off");
}

uint64_t jetwatt_session_missed(struct jetwatt_session *w)
{
	struct jetwatt_stats s;

	if (!w->jw)
		return w->missed;
	return jetwatt_stats(w->jw, &s) ? 0 : s.missed - w->missed0;
}

/* Restore the sampling rate, unless another program has changed it since. */
static void restore_rate(struct jetwatt_session *w)
{
	struct jetwatt_config old = { w->config.rate_hz, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 0 };
	struct jetwatt_config now;

	if (!jetwatt_config_get(w->jw, &now) && now.rate_hz == w->rate_set)
		jetwatt_config_set(w->jw, &old);
}

void jetwatt_session_end_command(struct jetwatt_session *w)
{
	if (!w->child.pid || jetwatt_child_reap(&w->child))
		return;
	jetwatt_child_stop(&w->child);
	/* A shell that waits for a program does not pass SIGTERM on to it. */
	jetwatt_cgroup_end(&w->cgroup);
}

void jetwatt_session_close(struct jetwatt_session *w)
{
	if (w->probe)
		jetwatt_probe_close(w->probe);
	if (w->running && w->jw)
		jetwatt_unsubscribe(w->jw);
	if (w->rate_set)
		restore_rate(w);
	jetwatt_join_free(w->join);
	jetwatt_sysfs_close(w->sysfs);
	if (w->jw)
		jetwatt_close(w->jw);
	if (w->child.pid && !w->child.gone && w->probe == NULL)
		jetwatt_session_end_command(w);
	jetwatt_cgroup_close(&w->cgroup);
	if (w->mark_fd >= 0)
		close(w->mark_fd);
	if (w->pidfd >= 0)
		close(w->pidfd);
	if (w->signals >= 0)
		close(w->signals);
	if (w->epoll >= 0)
		close(w->epoll);
	free(w->power);
	free(w->sync);
	free(w->mark);
}
