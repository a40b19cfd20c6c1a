// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records the module's black box (the samples around a trigger) to a trace, for jetwatt record
 * --trigger.
 *
 * Until the trigger, samples are discarded here, because the module keeps the past ones, and only
 * waits for the GPU are stored. After the trigger, the black box is read, then the ring at
 * intervals, so that every sample is in the trace once.
 */
#include "measure/blackbox.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "measure/connect.h"
#include "util/error.h"

#define POLL_MS	200	/* interval of reading the module's ring, ms */
/* Waits are kept for this time longer than the black box, ns: the trigger is noticed only after it has
 * occurred. */
#define SLACK_NS	1000000000ull

/**
 * struct box - recording in progress
 * @w: the session
 * @trace: where to write
 * @trigger: event that the recording waits for
 * @next_seq: sequence number of the next sample to write; 0: no sample was written
 * @last_ns: time of the last sample in @trace, ns
 * @wait: index of the session's next wait to write or to skip
 * @frozen: 1: the black box was filled
 */
struct box {
	struct jetwatt_session *w;
	struct jetwatt_trace_writer *trace;
	enum jetwatt_blackbox_trigger trigger;
	uint64_t next_seq, last_ns;
	size_t wait;
	int frozen;
};

enum jetwatt_blackbox_trigger jetwatt_blackbox_parse(const char *text)
{
	if (!strcmp(text, "signal"))
		return JETWATT_BLACKBOX_SIGNAL;
	if (!strcmp(text, "oc"))
		return JETWATT_BLACKBOX_OVERCURRENT;
	return strcmp(text, "thermal") ? JETWATT_BLACKBOX_NONE : JETWATT_BLACKBOX_THERMAL;
}

static void on_event(const struct jetwatt_event *e, void *arg)
{
	struct box *b = arg;

	if (e->kind == JETWATT_EVENT_BOX_FROZEN)
		b->frozen = 1;
	jetwatt_trace_write_event(e, b->trace);
}

/*
 * Write the waits that ended before the last sample of a batch, then the batch. A trace reader
 * sorts samples and waits by time, but only over a short interval.
 */
static void on_samples(const struct jetwatt_samples *s, void *arg)
{
	struct box *b = arg;
	struct jetwatt_session *w = b->w;
	struct jetwatt_trace_job job = { s->time_ns[0], w->pid };

	/* Skip samples that the previous dump contained already. */
	if (s->seq < b->next_seq)
		return;
	if (!b->next_seq)
		jetwatt_trace_write_job(b->trace, &job);
	for (; b->wait < w->nr_sync && w->sync[b->wait].exit_ns <= s->time_ns[s->count - 1]; b->wait++)
		if (w->sync[b->wait].exit_ns >= job.begun_ns || b->next_seq)
			jetwatt_trace_write_sync(&w->sync[b->wait], b->trace);
	jetwatt_trace_write_samples(s, b->trace);
	b->next_seq = s->seq + s->count;
	b->last_ns = s->time_ns[s->count - 1];
}

static int open_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Return whether the event with which the black box was filled is the awaited trigger. */
static int is_trigger(const struct box *b, uint32_t cause)
{
	return (b->trigger == JETWATT_BLACKBOX_SIGNAL && cause == JETWATT_BOX_CAUSE_REQUEST) ||
	       (b->trigger == JETWATT_BLACKBOX_OVERCURRENT && cause == JETWATT_BOX_CAUSE_OVERCURRENT) ||
	       (b->trigger == JETWATT_BLACKBOX_THERMAL && cause == JETWATT_BOX_CAUSE_THERMAL);
}

/* Discard old samples, and the waits that ended more than @pre_s and SLACK_NS before the latest sample. */
static void discard_old(struct jetwatt_session *w, double pre_s)
{
	uint64_t keep = pre_s * 1e9 + SLACK_NS, from = w->power_ns > keep ? w->power_ns - keep : 0;
	size_t old = 0;

	jetwatt_session_discard(w, w->power_ns);
	while (old < w->nr_sync && w->sync[old].exit_ns < from)
		old++;
	memmove(w->sync, w->sync + old, (w->nr_sync - old) * sizeof(*w->sync));
	w->nr_sync -= old;
}

/* Wait until the black box was filled by the trigger. Return: exit code. */
static int wait_for_trigger(struct box *b, struct jetwatt_box *box, int signals, double pre_s)
{
	struct jetwatt_session *w = b->w;
	struct signalfd_siginfo si;
	int err = jetwatt_box(w->jw, box);

	while (err || !is_trigger(b, box->cause)) {
		/* Another event than the awaited one has filled the black box: empty it. */
		if (!err)
			jetwatt_box_clear(w->jw);
		b->frozen = 0;
		while (!b->frozen) {
			jetwatt_session_run(w, POLL_MS);
			discard_old(w, pre_s);
			if (w->failed || w->stop)
				return jetwatt_session_error(w);
			if (read(signals, &si, sizeof(si)) != sizeof(si) ||
			    b->trigger != JETWATT_BLACKBOX_SIGNAL)
				continue;
			err = jetwatt_box_freeze(w->jw);
			if (err && err != -EBUSY)
				return jetwatt_connect_error(w->jw, err, "cannot fill the black box");
			b->frozen = 1;
		}
		err = jetwatt_box(w->jw, box);
	}
	return 0;
}

int jetwatt_blackbox_record(struct jetwatt_session *w, struct jetwatt_trace_writer *trace,
			    enum jetwatt_blackbox_trigger trigger, double pre_s, double post_s)
{
	struct box b = { .w = w, .trace = trace, .trigger = trigger };
	struct jetwatt_trace_end end = { .status = -1 };
	struct jetwatt_box box;
	int signals = open_signal(), err;
	uint64_t until;

	if (signals < 0)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot wait for a signal");
	err = jetwatt_events(w->jw, on_event, &b);
	if (!err)
		err = jetwatt_box_keep(w->jw, pre_s * 1e3);
	if (err)
		err = jetwatt_connect_error(w->jw, err, "cannot set up the black box");
	else
		err = wait_for_trigger(&b, &box, signals, pre_s);
	if (err)
		goto out;
	until = box.time_ns + (uint64_t)(post_s * 1e9);
	err = jetwatt_box_samples(w->jw, on_samples, &b);
	if (err >= 0)
		err = jetwatt_box_clear(w->jw);
	while (!err && !w->failed && !w->stop && b.last_ns < until) {
		jetwatt_session_run(w, POLL_MS);
		jetwatt_session_discard(w, w->power_ns);
		err = jetwatt_samples_since(w->jw, b.next_seq, on_samples, &b);
		err = err < 0 ? err : jetwatt_trace_flush(trace, jetwatt_session_waits_lost(w), 0);
	}
	end.ended_ns = b.last_ns;
	end.waits_lost = jetwatt_session_waits_lost(w);
	if (!err)
		err = jetwatt_trace_finish(trace, &end);
	if (err)
		err = jetwatt_connect_error(w->jw, err, "cannot save the black box");
out:
	jetwatt_events(w->jw, NULL, NULL);
	close(signals);
	return err;
}
