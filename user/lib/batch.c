// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Delivers one batch of samples, with the number of samples that are missing before it.
 *
 * Lost samples show in two independent counts: gaps in the sequence numbers show where samples are
 * missing, and the kernel's counter shows how many this subscriber has lost in total. An overrun
 * of the socket (ENOBUFS) adds no information to these counts and is ignored.
 */
#include "lib/lib.h"

/**
 * jetwatt_batch_deliver() - parse one batch and call @fn
 * @jw: the connection
 * @attr: attributes of the message
 * @len: length of the attributes, in bytes
 * @next_seq: expected sequence number of the batch, 0: unknown; updated for the next batch
 * @fn: called with the batch; may be NULL
 * @arg: passed to @fn
 *
 * Return: number of samples in the batch; -EBADMSG if the message is malformed.
 */
int jetwatt_batch_deliver(struct jetwatt *jw, const struct nlattr *attr, int len,
			  uint64_t *next_seq, jetwatt_samples_fn fn, void *arg)
{
	struct jetwatt_samples *s = &jw->parse.samples;
	int err = jetwatt_parse_samples(&jw->parse, attr, len);

	if (err)
		return err;
	if (*next_seq && s->seq > *next_seq)
		s->gap = s->seq - *next_seq;
	*next_seq = s->seq + s->count;
	if (fn)
		fn(s, arg);
	return s->count;
}
