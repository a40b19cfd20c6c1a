/* SPDX-License-Identifier: GPL-2.0-only */
/* What stream.c, live.c and trace.c share: the state of a stream. */
#ifndef JETWATT_PYTHON_RECORDS_H
#define JETWATT_PYTHON_RECORDS_H

#include "minibatch/minibatch.h"
#include "python/native/stream.h"

/* An array that grows. */
struct array {
	void *at;
	size_t n, max;
};

/**
 * struct jetwatt_stream - an open stream
 * @jw, @probe, @sysfs: sources of a running job; @reader, @fd: the trace
 * @epoll: readable when a descriptor of @jw or @probe, or @pidfd, is readable; @pidfd: readable when the
 *	process has ended
 * @join: puts samples and waits in order of time
 * @track: finds the bounds of a running job
 * @rail: the rails; @total: indices in @rail of the rails in the total
 * @power: samples of the present step; @found: its minibatches
 * @last: the last sample, valid if @any; @uj: energy from the first sample to the last one, uJ
 * @wait, @at_wait: waits and marks, and the energy from the first sample to the end of each, uJ; the first
 *	@known entries of @at_wait are valid
 * @open: minibatches whose end the samples have not reached; only in a running job
 * @bound_ns: last bound of a minibatch of a running job; @job_ns: begin of the recorded job
 * @mark_name: names of the marks of a trace
 * @rate_set: rate that this stream has set, 0: none; @rate_hz: rate to restore
 * @sysfs_ns: time of the last reading of sysfs
 * @samples_lost, @waits_lost: as in struct jetwatt_stream_lost
 * @ended: the stream has ended
 * @err: error of a callback; @why: text of an error of the probe, NULL: jetwatt_error() has the text
 */
struct jetwatt_stream {
	struct jetwatt *jw;
	struct jetwatt_probe *probe;
	struct jetwatt_sysfs *sysfs;
	struct jetwatt_trace_reader *reader;
	int fd, epoll, pidfd;
	struct jetwatt_join *join;
	struct jetwatt_batch_track *track;
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	int nr_rails, total[JETWATT_RAILS_MAX], nr_total;
	struct array power, found, wait, at_wait, open;
	struct jetwatt_power last;
	double uj;
	size_t known;
	uint64_t bound_ns, job_ns, sysfs_ns, samples_lost, waits_lost;
	char (*mark_name)[JETWATT_MARK_LEN];
	uint32_t rate_hz, rate_set;
	int any, ended, err;
	const char *why;
};

/* collect.c: return a new stream without sources; NULL: out of memory. */
struct jetwatt_stream *jetwatt_stream_new(void);
/* Find the rails of the total among the rails. */
void jetwatt_stream_find_total(struct jetwatt_stream *s);
/* Deliver what the join sorts to the stream. */
void jetwatt_stream_join(struct jetwatt_stream *s);
/* Add a batch of samples, of a trace or as callback of jetwatt_subscribe(). */
void jetwatt_stream_samples(const struct jetwatt_samples *b, void *stream);
/* Compute the energy of a minibatch, and append the minibatch to @found. */
void jetwatt_stream_add(struct jetwatt_stream *s, const struct jetwatt_stream_minibatch *m);

/* live.c, trace.c: collect what has arrived, or the next block. Return: as jetwatt_stream_step(). */
int jetwatt_stream_step_live(struct jetwatt_stream *s);
int jetwatt_stream_step_trace(struct jetwatt_stream *s);
/* Restore the sampling rate, unless another program has changed it since. */
void jetwatt_stream_restore_rate(struct jetwatt_stream *s);

#endif
