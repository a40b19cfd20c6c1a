// SPDX-License-Identifier: GPL-2.0-only
/*
 * Protobuf format of Perfetto: counter tracks for rails, clocks and telemetry, and a slice per
 * minibatch. Only messages that Perfetto documents as stable are used: TrackDescriptor, TrackEvent,
 * ClockSnapshot. The numbers below are field numbers of
 * perfetto/protos/perfetto/trace/{trace_packet,clock_snapshot}.proto and of
 * track_event/{track_descriptor,track_event,counter_descriptor,process_descriptor,
 * debug_annotation}.proto.
 */
#include "out/export.h"

#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

enum { TRACE_PACKET = 1 };
enum { PACKET_CLOCKS = 6, PACKET_TIME = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11,
       PACKET_CLOCK_ID = 58, PACKET_TRACK = 60 };
enum { SNAPSHOT_CLOCKS = 1, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { COUNTER_UNIT = 6 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23, EVENT_DOUBLE = 44 };
enum { BEGIN = 1, END = 2, COUNTER = 4 };
enum { ANNOTATION_DOUBLE = 5, ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };

/* Ids (uuid) of the tracks in the exported file. */
enum { TRACK_OF_JOB = 1, TRACK_OF_BATCHES, TRACK_OF_TOTAL, TRACK_OF_CPU, TRACK_OF_GPU, TRACK_OF_EMC,
       TRACK_OF_CORES, TRACK_OF_RAILS, TRACK_OF_TELEMETRY = TRACK_OF_RAILS + JETWATT_RAILS_MAX,
       TRACK_OF_PROCESSES = 1 << 16 };

#define PROCESSES_MAX	64

/* Processes whose minibatches already have a track. A process that does not fit is described again
 * with each minibatch, which Perfetto permits. */
struct perfetto_state {
	uint32_t tgid[PROCESSES_MAX];
	int nr;
};

#define MESSAGE_MAX	2048
#define TEXT_MAX	200

/* A protobuf message that is being built. Bytes beyond MESSAGE_MAX are dropped. The messages of an
 * export are always shorter than this buffer, because strings are truncated. */
struct message {
	uint8_t byte[MESSAGE_MAX];
	size_t len;
};

static void put_varint(struct message *m, uint64_t v)
{
	for (; v >= 0x80 && m->len < MESSAGE_MAX; v >>= 7)
		m->byte[m->len++] = v | 0x80;
	if (m->len < MESSAGE_MAX)
		m->byte[m->len++] = v;
}

static void put_uint(struct message *m, int field, uint64_t v)
{
	put_varint(m, (uint64_t)field << 3);
	put_varint(m, v);
}

static void put_double(struct message *m, int field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_varint(m, (uint64_t)field << 3 | 1);
	for (int i = 0; i < 8 && m->len < MESSAGE_MAX; i++)
		m->byte[m->len++] = bits >> 8 * i;
}

static void put_bytes(struct message *m, int field, const void *bytes, size_t len)
{
	if (m->len + len + 20 > MESSAGE_MAX)
		return;
	put_varint(m, (uint64_t)field << 3 | 2);
	put_varint(m, len);
	memcpy(m->byte + m->len, bytes, len);
	m->len += len;
}

/* Put the first TEXT_MAX bytes of a text. A string in protobuf must be UTF-8, so do not cut a
 * character, and write U+FFFD for bytes that are not UTF-8. */
static void put_text(struct message *m, int field, const char *text)
{
	char utf8[TEXT_MAX];
	size_t n = 0, size;

	for (int len; *text; text += len ? len : 1, n += size) {
		len = jetwatt_utf8_length(text);
		size = len ? len : 3;
		if (n + size > sizeof(utf8))
			break;
		memcpy(utf8 + n, len ? text : "\ufffd", size);
	}
	put_bytes(m, field, utf8, n);
}

static void put_message(struct message *m, int field, const struct message *inner)
{
	put_bytes(m, field, inner->byte, inner->len);
}

static void send_packet(struct jetwatt_export *e, struct message *packet)
{
	struct message head = { .len = 0 };

	put_uint(packet, PACKET_SEQUENCE, 1);
	put_varint(&head, TRACE_PACKET << 3 | 2);
	put_varint(&head, packet->len);
	fwrite(head.byte, 1, head.len, e->f);
	fwrite(packet->byte, 1, packet->len, e->f);
}

static void send_track(struct jetwatt_export *e, struct message *t)
{
	struct message packet = { .len = 0 };

	put_message(&packet, PACKET_TRACK, t);
	send_packet(e, &packet);
}

static void counter_track(struct jetwatt_export *e, uint64_t uuid, const char *name, const char *unit)
{
	struct message t = { .len = 0 }, counter = { .len = 0 };

	put_uint(&t, TRACK_UUID, uuid);
	put_text(&t, TRACK_NAME, name);
	put_text(&counter, COUNTER_UNIT, unit);
	put_message(&t, TRACK_COUNTER, &counter);
	send_track(e, &t);
}

static void clock_snapshot(struct jetwatt_export *e)
{
	const struct jetwatt_trace_clocks *c = &e->run->clocks;
	const struct {
		int id;
		uint64_t ns;
	} clock[] = { { REALTIME, c->realtime_ns }, { MONOTONIC, c->monotonic_ns },
		      { BOOTTIME, c->boottime_ns } };
	struct message snapshot = { .len = 0 }, packet = { .len = 0 };

	for (int i = 0; i < 3; i++) {
		struct message m = { .len = 0 };

		put_uint(&m, CLOCK_ID, clock[i].id);
		put_uint(&m, CLOCK_TIME, clock[i].ns);
		put_message(&snapshot, SNAPSHOT_CLOCKS, &m);
	}
	put_uint(&packet, PACKET_TIME, c->boottime_ns);
	put_message(&packet, PACKET_CLOCKS, &snapshot);
	send_packet(e, &packet);
}

static int perfetto_begin(struct jetwatt_export *e)
{
	e->state = calloc(1, sizeof(struct perfetto_state));
	if (!e->state)
		return -1;
	clock_snapshot(e);
	counter_track(e, TRACK_OF_TOTAL, e->run->scope, "W");
	for (int r = 0; r < e->run->nr_rails; r++)
		if (e->run->rail[r].enabled)
			counter_track(e, TRACK_OF_RAILS + r, e->run->rail[r].label, "W");
	counter_track(e, TRACK_OF_CPU, "CPU clock", "MHz");
	counter_track(e, TRACK_OF_GPU, "GPU clock", "MHz");
	counter_track(e, TRACK_OF_EMC, "EMC clock", "MHz");
	counter_track(e, TRACK_OF_CORES, "CPU cores online", "cores");
	return 0;
}

static void perfetto_job(struct jetwatt_export *e)
{
	struct message t = { .len = 0 }, process = { .len = 0 };

	put_uint(&process, PROCESS_PID, e->run->pid);
	put_text(&process, PROCESS_NAME, *e->run->command ? e->run->command : "job");
	put_uint(&t, TRACK_UUID, TRACK_OF_JOB);
	put_message(&t, TRACK_PROCESS, &process);
	send_track(e, &t);
}

static void perfetto_send_event(struct jetwatt_export *e, uint64_t t_ns, const struct message *ev)
{
	struct message packet = { .len = 0 };

	put_uint(&packet, PACKET_TIME, t_ns);
	put_uint(&packet, PACKET_CLOCK_ID, MONOTONIC);
	put_message(&packet, PACKET_EVENT, ev);
	send_packet(e, &packet);
}

static void counter_event(struct jetwatt_export *e, uint64_t t_ns, uint64_t uuid, double v)
{
	struct message ev = { .len = 0 };

	put_uint(&ev, EVENT_TYPE, COUNTER);
	put_uint(&ev, EVENT_TRACK, uuid);
	put_double(&ev, EVENT_DOUBLE, v);
	perfetto_send_event(e, t_ns, &ev);
}

/* Write the telemetry values that have changed. The track of a telemetry series is created with the
 * first known value. */
static void perfetto_telemetry(struct jetwatt_export *e, const struct jetwatt_power *p)
{
	char title[JETWATT_TELEMETRY_NAME_LEN];

	jetwatt_each_slot(s) {
		const struct jetwatt_series_row *row = jetwatt_telemetry_row(s, NULL);
		int64_t v = p->telemetry.value[s];

		if (!jetwatt_export_slot_changed(e, p, s) || v == JETWATT_TELEMETRY_NONE)
			continue;
		if (!(e->tracks & 1ull << s))
			counter_track(e, TRACK_OF_TELEMETRY + s,
				      jetwatt_telemetry_title(s, title), row->base);
		e->tracks |= 1ull << s;
		counter_event(e, p->time_ns, TRACK_OF_TELEMETRY + s, (double)v / row->per);
	}
}

static void perfetto_power(struct jetwatt_export *e, const struct jetwatt_power *p, uint64_t lost)
{
	(void)lost;
	perfetto_telemetry(e, p);
	counter_event(e, p->time_ns, TRACK_OF_TOTAL, jetwatt_export_total(e, p) * 1e-6);
	for (int r = 0; r < e->run->nr_rails; r++)
		if (p->valid & 1u << r)
			counter_event(e, p->time_ns, TRACK_OF_RAILS + r, p->uw[r] * 1e-6);
	if (!jetwatt_export_clocks_changed(e, p))
		return;
	counter_event(e, p->time_ns, TRACK_OF_CPU, p->clock.cpu_khz * 1e-3);
	counter_event(e, p->time_ns, TRACK_OF_GPU, p->clock.gpu_hz * 1e-6);
	counter_event(e, p->time_ns, TRACK_OF_EMC, p->clock.emc_hz * 1e-6);
	counter_event(e, p->time_ns, TRACK_OF_CORES, p->clock.cores);
}

static void add_annotation(struct message *ev, const char *name, double v, const char *text)
{
	struct message m = { .len = 0 };

	put_text(&m, ANNOTATION_NAME, name);
	if (text)
		put_text(&m, ANNOTATION_TEXT, text);
	else
		put_double(&m, ANNOTATION_DOUBLE, v);
	put_message(ev, EVENT_ANNOTATION, &m);
}

/* Return: id of the track for the minibatches of a process, after creating it. Each process has its own
 * track, because an end on a track ends the slice that began last, and minibatches of different
 * processes overlap. */
static uint64_t minibatch_track(struct jetwatt_export *e, uint32_t tgid)
{
	uint64_t uuid = tgid == e->run->pid ? TRACK_OF_BATCHES : (uint64_t)TRACK_OF_PROCESSES + tgid;
	struct perfetto_state *st = e->state;
	struct message t = { .len = 0 };
	char name[40] = "minibatches";

	for (int i = 0; i < st->nr; i++)
		if (st->tgid[i] == tgid)
			return uuid;
	if (st->nr < PROCESSES_MAX)
		st->tgid[st->nr++] = tgid;
	if (tgid != e->run->pid)
		snprintf(name, sizeof(name), "minibatches of process %u", tgid);
	put_uint(&t, TRACK_UUID, uuid);
	put_uint(&t, TRACK_PARENT, TRACK_OF_JOB);
	put_text(&t, TRACK_NAME, name);
	send_track(e, &t);
	return uuid;
}

static void perfetto_minibatch(struct jetwatt_export *e, const struct jetwatt_batch_bound *b,
			       const struct jetwatt_export_cost *c)
{
	uint64_t track = minibatch_track(e, b->tgid);
	struct message ev = { .len = 0 };

	put_uint(&ev, EVENT_TYPE, BEGIN);
	put_uint(&ev, EVENT_TRACK, track);
	put_text(&ev, EVENT_NAME, jetwatt_export_kind(b));
	if (c->uj >= 0)
		add_annotation(&ev, "energy_j", c->uj * 1e-6, NULL);
	add_annotation(&ev, "stall_ms", b->fetch_ns * 1e-6, NULL);
	add_annotation(&ev, "gpu_ms", b->gpu_ns * 1e-6, NULL);
	if (c->sd_uj >= 0)
		add_annotation(&ev, "grade", 0, (const char[2]){ c->grade, '\0' });
	if (b->phase)
		add_annotation(&ev, "phase", b->phase, NULL);
	perfetto_send_event(e, b->start_ns, &ev);
	ev.len = 0;
	put_uint(&ev, EVENT_TYPE, END);
	put_uint(&ev, EVENT_TRACK, track);
	perfetto_send_event(e, b->end_ns, &ev);
}

const struct jetwatt_export_format jetwatt_export_perfetto = {
	.begin = perfetto_begin, .job = perfetto_job, .power = perfetto_power,
	.minibatch = perfetto_minibatch,
};
