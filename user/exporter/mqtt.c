// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt-mqtt: what jetwattd counts, once a second to an MQTT broker, for links that
 * cannot be scraped. A process and a package of its own, as the exporter is. Messages wait
 * for the broker in order, the oldest go when there are too many, and each says how many
 * have gone.
 */
#include <ctype.h>
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

/* A quarter of an hour at one a second, some 3 MiB. */
#define KEEP		900
#define KEEP_MOST	1000000
/* Of those, handed over and not acknowledged. */
#define IN_FLIGHT	16
#define QOS		1
#define KEEPALIVE_S	30
#define BACK_S		2
#define BACK_MOST_S	60
#define PORT		1883
/* What is not yet acknowledged at the end. */
#define FAREWELL_MS	2000
#define END_S		3

enum { BROKER = 'b', CONF = 'c', SOCKET = JETWATT_ARGS_LONG, DEVICE, CA, LOGIN, KEPT };

struct mqtt_input {
	struct jetwatt_args args;
	const char *broker, *conf, *socket, *device, *ca, *login;
	long keep;
};

/**
 * struct link - messages on their way
 * @waiting: ring of @room texts, @n of them from @first on; not those handed over
 * @flying: handed over, not acknowledged; by the library's thread too, as @up is
 * @seq: of the next message; @dropped: never sent
 * @ends: the thread is to end
 */
static struct link {
	struct mosquitto *mqtt;
	char topic[128], state[128];
	char **waiting;
	size_t first, n, room;
	atomic_int flying, up, told, ends;
	uint64_t seq, dropped;
} link_;

static const struct argp_option options[] = {
	{ "broker", BROKER, "HOST[:PORT]", 0, "Publish there; default: mqtt = of jetwatt.conf", 0 },
	{ "device", DEVICE, "NAME", 0, "What to call this device; default: a hash of its machine-id", 0 },
	{ "tls-ca", CA, "FILE", 0, "Speak TLS, and take brokers that these certificates vouch for", 0 },
	{ "login", LOGIN, "FILE", 0, "User and password, a line each", 0 },
	{ "keep", KEPT, "N", 0, "Messages that wait for a broker that is away, at most (900)", 0 },
	{ "conf", CONF, "FILE", 0, "jetwattd's policy (" JETWATTD_CONF ")", 0 },
	{ "socket", SOCKET, "PATH", 0, "The daemon's socket, whatever the policy says", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct mqtt_input *in = state->input;

	switch (key) {
	case BROKER:
		in->broker = arg;
		break;
	case DEVICE:
		/* A level of a topic. */
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
		if (jetwatt_unit_count(arg, 1, KEEP_MOST, &in->keep))
			argp_error(state, "--keep: 1 to %d", KEEP_MOST);
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

static void connected(struct mosquitto *m, void *arg, int rc)
{
	struct link *l = arg;

	if (rc) {
		jetwatt_error_note("the broker refuses: %s", mosquitto_connack_string(rc));
		return;
	}
	mosquitto_publish(m, NULL, l->state, 6, "online", QOS, true);
	atomic_fetch_add(&l->flying, 1);
	atomic_store(&l->up, 1);
	atomic_store(&l->told, 0);
	jetwatt_error_note("publishing %s", l->topic);
}

static void gone(struct mosquitto *m, void *arg, int rc)
{
	struct link *l = arg;

	(void)m;
	atomic_store(&l->up, 0);
	if (rc && !atomic_exchange(&l->told, 1))
		jetwatt_error_note("no broker: %s; what is measured waits", mosquitto_strerror(rc));
}

static void arrived(struct mosquitto *m, void *arg, int id)
{
	struct link *l = arg;

	(void)m;
	(void)id;
	atomic_fetch_sub(&l->flying, 1);
}

/* A broker whose name cannot be resolved yet ends the library's loop: not ours. */
static void *network(void *arg)
{
	struct link *l = arg;

	while (!atomic_load(&l->ends)) {
		int err = mosquitto_loop_forever(l->mqtt, -1, 1);

		gone(l->mqtt, l, err);
		for (int i = 0; i < 10 * BACK_S && !atomic_load(&l->ends); i++)
			usleep(100000);
		if (!atomic_load(&l->ends))
			mosquitto_reconnect(l->mqtt);
	}
	return NULL;
}

/* ------------------------------------------------------------------ */
/* Messages                                                           */

static void oldest_goes(struct link *l)
{
	free(l->waiting[l->first]);
	l->first = (l->first + 1) % l->room;
	l->n--;
}

/* What is new is worth more than what is old. */
static void wait_in_line(struct link *l, char *text)
{
	if (l->n == l->room) {
		oldest_goes(l);
		l->dropped++;
	}
	l->waiting[(l->first + l->n++) % l->room] = text;
}

static void hand_over(struct link *l)
{
	while (l->n && atomic_load(&l->up) && atomic_load(&l->flying) < IN_FLIGHT) {
		const char *text = l->waiting[l->first];

		atomic_fetch_add(&l->flying, 1);
		if (mosquitto_publish(l->mqtt, NULL, l->topic, (int)strlen(text), text, QOS, false)) {
			atomic_fetch_sub(&l->flying, 1);
			return;
		}
		oldest_goes(l);
	}
}

/* Gauges and counters by the names that they have for Prometheus; of histograms how many
 * there are, and their sum. */
static void metrics(struct jetwatt_json *j, char *text)
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

/* Return: the message, caller frees; NULL: no memory. */
static char *message(struct link *l, char *answer, size_t len, int err)
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
	jetwatt_json_uint(&j, "seq", l->seq++);
	jetwatt_json_uint(&j, "dropped", l->dropped);
	jetwatt_json_real(&j, "time_seconds", t.tv_sec + t.tv_nsec / 1000000 * 1e-3, 13);
	if (err)
		jetwatt_json_string(&j, "error", strerror(-err));
	else
		answer[len] = '\0', metrics(&j, answer);
	jetwatt_json_end(&j);
	return fclose(f) ? free(text), NULL : text;
}

static void turn(struct link *l, const char *socket)
{
	static char answer[JETWATTD_ASK_TEXT + 1];
	size_t len;
	int err = jetwattd_ask(socket, "metrics\n", answer, &len);
	char *text = message(l, answer, len, err);

	if (text)
		wait_in_line(l, text);
	else
		l->dropped++;
	hand_over(l);
}

static int run(struct link *l, const char *socket)
{
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	const struct itimerspec second = { { 1, 0 }, { 0, 1 } };
	uint64_t ticks;
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	p[0].fd = signalfd(-1, &ends, SFD_CLOEXEC);
	p[1].fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (p[0].fd < 0 || p[1].fd < 0 || timerfd_settime(p[1].fd, 0, &second, NULL))
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot start");
	while (!p[0].revents) {
		/* What waits while the broker was away goes as fast as it is taken. */
		if (poll(p, 2, l->n && atomic_load(&l->up) ? 20 : -1) < 0 && errno != EINTR)
			break;
		if (read(p[1].fd, &ticks, sizeof(ticks)) == sizeof(ticks)) {
			/* Seconds that nobody was asked in. */
			l->dropped += ticks - 1;
			l->seq += ticks - 1;
			turn(l, socket);
		}
		hand_over(l);
	}
	for (int i = 0; i < FAREWELL_MS / 20 && atomic_load(&l->up) && (l->n || atomic_load(&l->flying)); i++) {
		hand_over(l);
		usleep(20000);
	}
	close(p[0].fd);
	close(p[1].fd);
	return 0;
}

/* ------------------------------------------------------------------ */
/* The broker                                                         */

/* "host", "host:1883", "[::1]:1883" */
static int address(const char *text, char *host, size_t len, long *port)
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

static int login(struct mosquitto *m, const char *path)
{
	char user[256] = "", word[256] = "";
	FILE *f = fopen(path, "re");
	int err = f && fgets(user, sizeof(user), f) && fgets(word, sizeof(word), f) ? 0 : errno ?: ENODATA;

	if (f)
		fclose(f);
	user[strcspn(user, "\n")] = word[strcspn(word, "\n")] = '\0';
	if (err)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(err), "a user and a password, a line each",
					 "cannot read %s", path);
	return mosquitto_username_pw_set(m, user, word) ? JETWATT_EXIT_FAILED : 0;
}

static int start(struct link *l, const struct mqtt_input *in, const char *host, int port,
		 pthread_t *thread)
{
	int err;

	l->room = (size_t)in->keep;
	l->waiting = calloc(l->room, sizeof(*l->waiting));
	l->mqtt = mosquitto_new(NULL, true, l);
	if (!l->mqtt || !l->waiting)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot start");
	mosquitto_threaded_set(l->mqtt, true);
	mosquitto_connect_callback_set(l->mqtt, connected);
	mosquitto_disconnect_callback_set(l->mqtt, gone);
	mosquitto_publish_callback_set(l->mqtt, arrived);
	mosquitto_will_set(l->mqtt, l->state, 7, "offline", QOS, true);
	mosquitto_reconnect_delay_set(l->mqtt, BACK_S, BACK_MOST_S, true);
	err = in->login ? login(l->mqtt, in->login) : 0;
	if (err)
		return err;
	if (in->ca && mosquitto_tls_set(l->mqtt, in->ca, NULL, NULL, NULL, NULL))
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(errno), "--tls-ca FILE in PEM",
					 "cannot use %s", in->ca);
	/* A broker that is away is no failure: the library goes on trying. */
	err = mosquitto_connect_async(l->mqtt, host, port, KEEPALIVE_S);
	if (err == MOSQ_ERR_INVAL)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, mosquitto_strerror(err), NULL, "cannot start");
	if (err)
		gone(l->mqtt, l, err);
	err = pthread_create(thread, NULL, network, l);
	return err ? jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(err), NULL, "cannot start") : 0;
}

/* The broker is told; who is about to connect is not waited for. */
static void stop(struct link *l, pthread_t thread)
{
	struct timespec until;

	if (atomic_load(&l->up))
		mosquitto_publish(l->mqtt, NULL, l->state, 7, "offline", QOS, true);
	atomic_store(&l->ends, 1);
	mosquitto_disconnect(l->mqtt);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_S;
	if (pthread_timedjoin_np(thread, NULL, &until))
		_exit(0);
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
			   options, parse, argc, argv, &in);
	broker = in.broker ? in.broker : jetwatt_settings_get("mqtt", buf, sizeof(buf));
	port = in.ca ? 8883 : PORT;
	if (!broker || address(broker, host, sizeof(host), &port))
		return jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "--broker HOST:PORT, or mqtt = HOST:PORT in "
					 "/etc/jetwatt/jetwatt.conf", "%s%.60s%s", broker ? "\"" : "no broker",
					 broker ? broker : "", broker ? "\" is no broker" : "");
	err = jetwattd_policy_read(in.conf ? in.conf : JETWATTD_CONF, in.conf != NULL, &policy);
	if (!err)
		err = jetwatt_device_name(in.device, name);
	if (err)
		return err;
	snprintf(l->topic, sizeof(l->topic), "jetwatt/%s/metrics", name);
	snprintf(l->state, sizeof(l->state), "jetwatt/%s/state", name);
	/* Before there is another thread. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	mosquitto_lib_init();
	err = start(l, &in, host, (int)port, &thread);
	if (!err) {
		err = run(l, in.socket ? in.socket : policy.control);
		stop(l, thread);
	}
	while (l->n)
		oldest_goes(l);
	free(l->waiting);
	mosquitto_lib_cleanup();
	return err;
}
