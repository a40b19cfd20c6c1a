/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Power samples and minibatches, live or from a trace, for jetwatt/stream.py. Collects what arrives in
 * arrays, so that Python is called once per block instead of once per sample.
 */
#ifndef JETWATT_PYTHON_STREAM_H
#define JETWATT_PYTHON_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "jetwatt.h"

/**
 * struct jetwatt_stream_minibatch - a minibatch with its energy
 * @start_ns, @end_ns: as in struct jetwatt_batch_bound
 * @uj: energy of the total, uJ; NAN: unknown, for instance without samples for its time
 * @tgid: process id
 * @kind: 0: training, or a minibatch of an inference job; 1: evaluation; 2: neither
 * @phase: as in struct jetwatt_batch_bound; 0: not known, always for a running job
 * @marked: 1: the program has marked the minibatch
 */
struct jetwatt_stream_minibatch {
	uint64_t start_ns, end_ns;
	double uj;
	uint32_t tgid, kind, phase, marked;
};

/**
 * struct jetwatt_stream_lost - what a stream has lost so far
 * @samples: number of samples that are missing
 * @waits: number of waits that are missing
 * @late: number of records that arrived too late to be delivered in order of time
 * @damaged: number of damaged or missing blocks of a trace
 */
struct jetwatt_stream_lost {
	uint64_t samples, waits, late, damaged;
};

struct jetwatt_stream;

/*
 * Subscribe to samples, and watch the waits of the process @pid and its children; 0: samples only.
 * @rate_hz: sampling rate; 0: leave it as it is. Return: 0; a negative errno. The caller closes *@s
 * also after an error, if it is not NULL.
 */
int jetwatt_stream_live(struct jetwatt_stream **s, uint32_t pid, uint32_t rate_hz);
/* Open the trace @path and read the description of its rails. Return and *@s: as above; -ENODATA:
 * no rail was found, as in a file that is not a trace; -EPROTO: a newer version wrote it. */
int jetwatt_stream_trace(struct jetwatt_stream **s, const char *path);
void jetwatt_stream_close(struct jetwatt_stream *s);

/* Return: text of the last error; never NULL. @s: may be NULL. */
const char *jetwatt_stream_error(const struct jetwatt_stream *s);
/* Return: descriptor that is readable when jetwatt_stream_step() has something to do; -1: a trace. */
int jetwatt_stream_fd(const struct jetwatt_stream *s);

/*
 * Discard the records of the last call, and collect what has arrived, or what the next block of the
 * trace contains. Does not wait for records. Return: 1; 0: the stream has ended, because the process
 * or the trace has, and these are its last records (none in further calls); a negative errno.
 */
int jetwatt_stream_step(struct jetwatt_stream *s);
/* Records of the last step, in order of time; valid until the next step. */
const struct jetwatt_power *jetwatt_stream_power(const struct jetwatt_stream *s, size_t *n);
const struct jetwatt_stream_minibatch *jetwatt_stream_minibatches(const struct jetwatt_stream *s, size_t *n);

/**
 * struct jetwatt_stream_row - a sample as a row of a NumPy array
 * @t_ns, @seq: time and sequence number
 * @gap: 1: samples are missing before this one
 * @total_w: power of the total, W
 * @value: power of each rail, W, NAN if it was not read in this sample; then the value of each telemetry
 *	slot, NAN if it is unknown
 */
struct jetwatt_stream_row {
	uint64_t t_ns, seq;
	uint8_t gap;
	double total_w, value[];
};

/* Write the samples of the last step to @rows, as many rows as jetwatt_stream_power() says, with the power of
 * the first @nr_rails rails each: a trace may describe further rails in a later block. */
void jetwatt_stream_rows(const struct jetwatt_stream *s, int nr_rails, void *rows);

/* Rails of the stream. Return: their number. */
int jetwatt_stream_rails(const struct jetwatt_stream *s, const struct jetwatt_rail **rail);
void jetwatt_stream_lost(const struct jetwatt_stream *s, struct jetwatt_stream_lost *lost);

#endif
