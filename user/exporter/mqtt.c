// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt-mqtt: publishes jetwattd's metrics once per second to an MQTT broker, for networks in
 * which a board cannot be scraped. jetwatt-mqtt runs as a separate process, like jetwatt-exporter, and
 * is a separate package. While the broker is unreachable, messages wait in a queue; when the queue is
 * full, the oldest message is dropped. Each message contains the number of messages dropped so far.
 */
#include <errno.h>
#include <mosquitto.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "exporter/client.h"
#include "out/json.h"
#include "policy/policy.h"
#include "util/args.h"
#include "util/device_id.h"
#include "util/error.h"
#include "util/settings.h"
#include "util/units.h"

/* Default capacity of the queue, in messages: 15 minutes at one message per second, about 3 MiB; and the
 * maximum of --keep. */
#define KEEP		900
#define KEEP_MAX	1000000
/* Number of unacknowledged messages at which no further metrics are passed to the library. */
#define IN_FLIGHT	16
#define QOS		1	/* at least once */
#define KEEPALIVE_S	30
/* Delay before the first reconnection attempt, and the maximum of this delay, in seconds. */
#define RECONNECT_S		2
#define RECONNECT_MAX_S	60
#define PORT		1883
/* Time limit at the end for sending the queue and receiving the acknowledgements. */
#define FAREWELL_MS	2000
/* Time limit at the end for the library's thread. */
#define END_S		3

enum { BROKER = 'b', CONF = 'c', SOCKET = JETWATT_ARGS_LONG, DEVICE, CA, LOGIN, KEPT };

struct mqtt_input {
	struct jetwatt_args args;
	const char *broker, *conf, *socket, *device, *ca, *login;
	long keep;
};

/**
 * struct link - connection to the broker and queue of messages
 * @mqtt: the library's client
 * @id: client identifier; @topic: topic of the metrics; @state: topic of the state
 * @waiting: queue of messages, a ring buffer; messages passed to the library are not in it
 * @first: index in @waiting of the oldest message
 * @n: number of messages in @waiting
 * @capacity: number of elements of @waiting
 * @flying: number of messages passed to the library and not acknowledged; also changed by the
 *	library's thread
 * @up: 1: the broker is connected; set in on_connect(), cleared in on_disconnect()
 * @logged: 1: the log says that the broker is unreachable; 0 again once it is connected
 * @ends: 1: the library's thread is to end
 * @seq: sequence number of the next message
 * @dropped: number of messages dropped from a full queue or never built
 */
static struct link {
	struct mosquitto *mqtt;
	char id[JETWATT_DEVICE_CLIENT], topic[128], state[128];
	char **waiting;
	size_t first, n, capacity;
	atomic_int flying, up, logged, ends;
	uint64_t seq, dropped;
} link_;

static const struct argp_option options[] = {
	{ "broker", BROKER, "HOST[:PORT]", 0, "MQTT broker; default: JETWATT_MQTT, or the setting mqtt in jetwatt.conf", 0 },
	{ "device", DEVICE, "NAME", 0, "Name of this device; default: a hash of its machine-id", 0 },
	{ "tls-ca", CA, "FILE", 0, "Use TLS; the broker's certificate must be signed by one in this PEM file", 0 },
	{ "login", LOGIN, "FILE", 0, "File with the user name in the first line and the password in the second", 0 },
	{ "keep", KEPT, "N", 0, "Maximum number of messages that wait for the broker (default: 900)", 0 },
	{ "conf", CONF, "FILE", 0, "Policy file of jetwattd (default: " JETWATTD_CONF ")", 0 },
	{ "socket", SOCKET, "PATH", 0, "Control socket of jetwattd, instead of the policy's", 0 },
	{ 0 }
};

static error_t mqtt_parse(int key, char *arg, struct argp_state *state)
{
	struct mqtt_input *in = state->input;

	switch (key) {
	case BROKER:
		in->broker = arg;
		break;
	case DEVICE:
		/* The name of the device becomes one level of the topic. */
		if (!*arg || strlen(arg) >= JETWATT_DEVICE_NAME || strpbrk(arg, "/+#$"))
			argp_error(state, "--device: 1 to 64 characters, none of them / + # $");
		in->device = arg;
		break;
	case CA:
		in->ca = arg;
		break;
	case LOGIN:
		in->login = arg;
		break;
	case KEPT:
		if (jetwatt_unit_count(arg, 1, KEEP_MAX, &in->keep))
			argp_error(state, "--keep: 1 to %d", KEEP_MAX);
		break;
	case CONF:
		in->conf = arg;
		break;
	case SOCKET:
		in->socket = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* The library's thread                                               */

static void on_connect(struct mosquitto *m, void *arg, int rc)
{
	struct link *l = arg;

	if (rc) {
		jetwatt_notice("connection refused by the broker: %s", mosquitto_connack_string(rc));
		return;
	}
	if (!mosquitto_publish(m, NULL, l->state, 6, "online", QOS, true))
		atomic_fetch_add(&l->flying, 1);
	atomic_store(&l->up, 1);
	atomic_store(&l->logged, 0);
	jetwatt_notice("connected to the broker, publishing: %s", l->topic);
}

static void on_disconnect(struct mosquitto *m, void *arg, int rc)
{
	struct link *l = arg;

	(void)m;
	atomic_store(&l->up, 0);
	if (rc && !atomic_exchange(&l->logged, 1))
		jetwatt_notice("broker unreachable, messages wait: %s", mosquitto_strerror(rc));
}

static void on_published(struct mosquitto *m, void *arg, int id)
{
	struct link *l = arg;

	(void)m;
	(void)id;
	atomic_fetch_sub(&l->flying, 1);
}

/* Thread that runs the loop of the MQTT library. The library ends the loop after some errors, for
 * instance if the name of the broker cannot be resolved; the thread then starts it again. */
static void *mqtt_thread(void *arg)
{
	struct link *l = arg;

	while (!atomic_load(&l->ends)) {
		int err = mosquitto_loop_forever(l->mqtt, -1, 1);

		on_disconnect(l->mqtt, l, err);
		for (int i = 0; i < 10 * RECONNECT_S && !atomic_load(&l->ends); i++)
			usleep(100000);
		if (!atomic_load(&l->ends))
			mosquitto_reconnect(l->mqtt);
	}
	return NULL;
}

/* ------------------------------------------------------------------ */
/* Messages                                                           */

static void queue_drop_oldest(struct link *l)
{
	free(l->waiting[l->first]);
	l->first = (l->first + 1) % l->capacity;
	l->n--;
}

/* Append a message to the queue. If the queue is full, drop the oldest message, because new metrics
 * are worth more. */
static void queue_append(struct link *l, char *text)
{
	if (l->n == l->capacity) {
		queue_drop_oldest(l);
		l->dropped++;
	}
	l->waiting[(l->first + l->n++) % l->capacity] = text;
}

/* Pass messages to the library while fewer than IN_FLIGHT messages are not acknowledged. */
static void queue_send(struct link *l)
{
	while (l->n && atomic_load(&l->up) && atomic_load(&l->flying) < IN_FLIGHT) {
		const char *text = l->waiting[l->first];

		atomic_fetch_add(&l->flying, 1);
		if (mosquitto_publish(l->mqtt, NULL, l->topic, (int)strlen(text), text, QOS, false)) {
			atomic_fetch_sub(&l->flying, 1);
			return;
		}
		queue_drop_oldest(l);
	}
}

/* Write each metric as a JSON member, named by its Prometheus name and labels; of a histogram write
 * only count and sum. */
static void json_metrics(struct jetwatt_json *j, char *text)
{
	char *save, *line = strtok_r(text, "\n", &save);

	for (; line; line = strtok_r(NULL, "\n", &save)) {
		char *space = strrchr(line, ' '), *end;
		double v = space ? strtod(space + 1, &end) : 0;

		if (*line == '#' || !space || end == space + 1 || strstr(line, "_bucket{"))
			continue;
		*space = '\0';
		jetwatt_json_real(j, line, v, 12);
	}
}

/* Build a message from jetwattd's response, or from the error @err. Return: the message, caller
 * frees; NULL: no memory. */
static char *build_message(struct link *l, char *answer, size_t len, int err)
{
	struct jetwatt_json j;
	struct timespec t;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &t);
	jetwatt_json_init(&j, f, 0);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_uint(&j, "seq", l->seq);
	jetwatt_json_uint(&j, "dropped", l->dropped);
	jetwatt_json_real(&j, "time_seconds", t.tv_sec + t.tv_nsec / 1000000 * 1e-3, 13);
	if (err)
		jetwatt_json_string(&j, "error", strerror(-err));
	else
		answer[len] = '\0', json_metrics(&j, answer);
	jetwatt_json_end(&j);
	return fclose(f) ? free(text), NULL : text;
}

/* Request the metrics and queue a message. */
static void publish_metrics(struct link *l, const char *socket)
{
	static char answer[JETWATTD_RESPONSE_MAX + 1];
	size_t len;
	int err = jetwattd_request(socket, "metrics\n", answer, &len);
	char *text = build_message(l, answer, len, err);

	if (text)
		queue_append(l, text);
	else
		l->dropped++;
	l->seq++;
	queue_send(l);
}

/* Publish until a signal of the set @ends arrives. Return: 0 or an exit code; the error has been
 * reported. */
static int mqtt_run(struct link *l, const char *socket, const sigset_t *ends)
{
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	const struct itimerspec second = { { 1, 0 }, { 0, 1 } };
	uint64_t ticks;
	int err = 0;

	p[0].fd = signalfd(-1, ends, SFD_CLOEXEC);
	p[1].fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (p[0].fd < 0 || p[1].fd < 0 || timerfd_settime(p[1].fd, 0, &second, NULL))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot start");
	while (!err && !p[0].revents) {
		/* While the broker is connected and messages wait, send some every 20 ms. */
		if (poll(p, 2, l->n && atomic_load(&l->up) ? 20 : -1) < 0 && errno != EINTR)
			err = errno;
		if (read(p[1].fd, &ticks, sizeof(ticks)) == sizeof(ticks)) {
			/* Seconds without a message count as dropped messages. */
			l->dropped += ticks - 1;
			l->seq += ticks - 1;
			publish_metrics(l, socket);
		}
		queue_send(l);
	}
	for (int i = 0; i < FAREWELL_MS / 20 && atomic_load(&l->up) && (l->n || atomic_load(&l->flying)); i++) {
		queue_send(l);
		usleep(20000);
	}
	close(p[0].fd);
	close(p[1].fd);
	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(err), NULL, "cannot wait") : 0;
}

/* ------------------------------------------------------------------ */
/* The broker                                                         */

/* Parse "host", "host:1883" or "[::1]:1883". Return: 0, -EINVAL. */
static int parse_broker(const char *text, char *host, size_t len, long *port)
{
	const char *colon = strrchr(text, ':'), *close = strchr(text, ']');
	int six = *text == '[';
	size_t n;

	if (six && !close)
		return -EINVAL;
	if (colon && (!close || colon > close)) {
		if (jetwatt_unit_count(colon + 1, 1, 65535, port))
			return -EINVAL;
	} else {
		colon = NULL;
	}
	n = six ? (size_t)(close - text - 1) : colon ? (size_t)(colon - text) : strlen(text);
	if (!n || n >= len || (colon && six && colon != close + 1))
		return -EINVAL;
	snprintf(host, len, "%.*s", (int)n, text + six);
	return 0;
}

/* Read user and password from a file and pass them to the library. Return: 0 or an exit code. */
static int read_login(struct mosquitto *m, const char *path)
{
	char user[1024] = "", word[8192] = "";
	FILE *f = fopen(path, "re");
	int err = f && fgets(user, sizeof(user), f) && fgets(word, sizeof(word), f) ? 0 : errno ?: ENODATA;

	if (f)
		fclose(f);
	if (err || !strchr(user, '\n') || strlen(word) == sizeof(word) - 1)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(err ?: EMSGSIZE),
					 "the file needs two lines: the user and the password",
					 "cannot read user and password from %s", path);
	user[strcspn(user, "\r\n")] = word[strcspn(word, "\r\n")] = '\0';
	err = mosquitto_username_pw_set(m, user, word);
	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED, mosquitto_strerror(err), NULL,
					  "cannot use user and password of %s", path) : 0;
}

static int mqtt_start(struct link *l, const struct mqtt_input *in, const char *host, int port,
		      pthread_t *thread)
{
	int err;

	l->capacity = (size_t)in->keep;
	l->waiting = calloc(l->capacity, sizeof(*l->waiting));
	l->mqtt = mosquitto_new(l->id, true, l);
	if (!l->mqtt || !l->waiting)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot start");
	mosquitto_threaded_set(l->mqtt, true);
	mosquitto_connect_callback_set(l->mqtt, on_connect);
	mosquitto_disconnect_callback_set(l->mqtt, on_disconnect);
	mosquitto_publish_callback_set(l->mqtt, on_published);
	mosquitto_will_set(l->mqtt, l->state, 7, "offline", QOS, true);
	mosquitto_reconnect_delay_set(l->mqtt, RECONNECT_S, RECONNECT_MAX_S, true);
	err = in->login ? read_login(l->mqtt, in->login) : 0;
	if (err)
		return err;
	if (in->ca && mosquitto_tls_set(l->mqtt, in->ca, NULL, NULL, NULL, NULL))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), "--tls-ca FILE in PEM",
					 "cannot use %s", in->ca);
	/* An unreachable broker is not a failure: the library retries. */
	err = mosquitto_connect_async(l->mqtt, host, port, KEEPALIVE_S);
	if (err == MOSQ_ERR_INVAL)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, mosquitto_strerror(err), NULL, "cannot start");
	if (err)
		on_disconnect(l->mqtt, l, err);
	err = pthread_create(thread, NULL, mqtt_thread, l);
	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(err), NULL, "cannot start") : 0;
}

/* Publish "offline" as the state if the broker is connected, and disconnect. If the library's
 * thread, perhaps in a connection attempt, does not end within END_S, exit with status @code. */
static void mqtt_stop(struct link *l, pthread_t thread, int code)
{
	struct timespec until;

	if (atomic_load(&l->up))
		mosquitto_publish(l->mqtt, NULL, l->state, 7, "offline", QOS, true);
	atomic_store(&l->ends, 1);
	mosquitto_disconnect(l->mqtt);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_S;
	if (pthread_timedjoin_np(thread, NULL, &until))
		_exit(code);
	mosquitto_destroy(l->mqtt);
}

int main(int argc, char **argv)
{
	char host[256], name[JETWATT_DEVICE_NAME], buf[256];
	struct mqtt_input in = { .keep = KEEP };
	struct jetwattd_policy policy;
	struct link *l = &link_;
	const char *broker;
	long port = PORT;
	pthread_t thread;
	sigset_t ends;
	int err;

	jetwatt_args_parse("jetwatt-mqtt", "", "Publish jetwattd's metrics once a second to an MQTT broker.",
			   options, mqtt_parse, argc, argv, &in);
	broker = in.broker ? in.broker : jetwatt_settings_get("mqtt", buf, sizeof(buf));
	port = in.ca ? 8883 : PORT;
	if (!broker || parse_broker(broker, host, sizeof(host), &port))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--broker HOST:PORT, or mqtt = HOST:PORT in "
					 "/etc/jetwatt/jetwatt.conf", "%s%.60s%s", broker ? "\"" : "no broker is set",
					 broker ? broker : "", broker ? "\" is not a broker address" : "");
	err = jetwattd_policy_read(in.conf ? in.conf : JETWATTD_CONF, in.conf != NULL, &policy);
	if (!err)
		err = jetwatt_device_name(in.device, name);
	if (err)
		return err;
	jetwatt_device_client(name, l->id);
	snprintf(l->topic, sizeof(l->topic), "jetwatt/%s/metrics", name);
	snprintf(l->state, sizeof(l->state), "jetwatt/%s/state", name);
	/* Block the signals before another thread exists, so that each thread inherits the blocked
	 * signals. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	mosquitto_lib_init();
	err = mqtt_start(l, &in, host, (int)port, &thread);
	if (!err) {
		err = mqtt_run(l, in.socket ? in.socket : policy.control, &ends);
		mqtt_stop(l, thread, err);
	}
	while (l->n)
		queue_drop_oldest(l);
	free(l->waiting);
	mosquitto_lib_cleanup();
	return err;
}
