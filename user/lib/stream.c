// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Receives batches of samples from a subscription, from the module's ring or from the black box.
 */
#include "lib/lib.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <netlink/genl/genl.h>
#include <sys/socket.h>

static int stream_reply(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	(void)arg;
	if (!jw->subscribed)
		return 0;
	return jetwatt_batch_deliver(jw, attr, len, &jw->next_seq, jw->samples, jw->samples_arg);
}

int jetwatt_stream_dispatch(struct jetwatt *jw)
{
	return jetwatt_socket_dispatch(jw, jw->stream, JETWATT_CMD_SAMPLES_NTF,
				       "receiving samples", stream_reply, NULL);
}

int jetwatt_subscribe(struct jetwatt *jw, jetwatt_samples_fn fn, void *arg)
{
	struct nl_msg *msg;
	int err;

	if (jw->subscribed)
		return jetwatt_error_set(jw, -EALREADY,
					 "subscribing: this connection has already subscribed");
	msg = jetwatt_request_new(jw, JETWATT_CMD_SUBSCRIBE, 0);
	if (!msg)
		return jetwatt_error_set(jw, -ENOMEM, "subscribing: out of memory");
	jw->samples = fn;
	jw->samples_arg = arg;
	jw->next_seq = 0;
	jw->subscribed = 1;
	err = jetwatt_request_run(jw, jw->stream, msg, "subscribing", NULL, NULL);
	if (err)
		jw->subscribed = 0;
	return err;
}

/* Discard the queued batches: before unsubscribing, so that the socket has space for the ack, and
 * after it, because batches may have arrived meanwhile. */
static void discard_batches(struct jetwatt *jw)
{
	ssize_t len;

	do {
		len = jetwatt_socket_recv(jw, jw->stream, MSG_DONTWAIT);
	} while (len >= 0 || len == -ENOBUFS);
}

int jetwatt_unsubscribe(struct jetwatt *jw)
{
	struct nl_msg *msg;
	int err;

	if (!jw->subscribed)
		return jetwatt_error_set(jw, -ENOENT,
					 "unsubscribing: this connection has not subscribed");
	msg = jetwatt_request_new(jw, JETWATT_CMD_UNSUBSCRIBE, 0);
	if (!msg)
		return jetwatt_error_set(jw, -ENOMEM, "unsubscribing: out of memory");
	jw->subscribed = 0;
	discard_batches(jw);
	err = jetwatt_request_run(jw, jw->stream, msg, "unsubscribing", NULL, NULL);
	discard_batches(jw);
	return err;
}

/* State while a dump of samples is received: callback, expected sequence number, number of
 * samples so far. */
struct dump {
	jetwatt_samples_fn fn;
	void *arg;
	uint64_t next_seq;
	int samples;
};

static int dump_reply(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	struct dump *s = arg;
	int n = jetwatt_batch_deliver(jw, attr, len, &s->next_seq, s->fn, s->arg);

	if (n < 0)
		return n;
	s->samples += n;
	return 0;
}

int jetwatt_box_samples(struct jetwatt *jw, jetwatt_samples_fn fn, void *arg)
{
	struct dump s = { .fn = fn, .arg = arg };
	struct nl_msg *msg = jetwatt_request_new(jw, JETWATT_CMD_BOX_SAMPLES_GET, NLM_F_DUMP);
	int err;

	if (!msg)
		return jetwatt_error_set(jw, -ENOMEM, "reading the black box: out of memory");
	err = jetwatt_request_run(jw, jw->ctl, msg, "reading the black box", dump_reply, &s);
	return err ? err : s.samples;
}

/* With @next_seq = @seq, the gap of the first batch counts the samples that the ring has lost. The first sample
 * has the number 1. */
int jetwatt_samples_since(struct jetwatt *jw, uint64_t seq, jetwatt_samples_fn fn, void *arg)
{
	struct dump s = { .fn = fn, .arg = arg, .next_seq = seq ? seq : 1 };
	struct nl_msg *msg = jetwatt_request_new(jw, JETWATT_CMD_SAMPLES_GET, NLM_F_DUMP);
	int err;

	if (!msg || nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ, seq)) {
		nlmsg_free(msg);
		return jetwatt_error_set(jw, -ENOMEM, "reading the ring: out of memory");
	}
	err = jetwatt_request_run(jw, jw->ctl, msg, "reading the ring", dump_reply, &s);
	return err ? err : s.samples;
}
