// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt-exporter: what jetwattd counts, by HTTP, for Prometheus. A process of its
 * own: whoever breaks it has nothing of the daemon's but its counts, and the daemon
 * has no network at all. It asks over the control socket, and not more often than
 * twice a second, however often it is asked.
 */
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/client.h"
#include "policy/policy.h"
#include "util/args.h"
#include "util/clock.h"
#include "util/error.h"

/* At once; one more, and the oldest of them has to go, which takes a moment. */
#define CONNECTIONS	32
#define LIMIT		64
#define TURN_MS		500
/* In all, and without a word. */
#define PATIENCE_NS	5000000000ull
#define SILENCE_S	3u
/* Of a request's head: Prometheus needs some hundred bytes. */
#define MEMORY		8192
#define FRESH_NS	500000000ull

static const char types[2][64] = {
	"text/plain; version=0.0.4; charset=utf-8",
	"application/openmetrics-text; version=1.0.0; charset=utf-8",
};

enum { CONF = 'c', LISTEN = 'l', SOCKET = JETWATT_ARGS_LONG };

struct exporter_input {
	struct jetwatt_args args;
	const char *conf, *listen, *socket;
};

/* Of each format: what jetwattd said last, and when; @len 0: nothing. */
struct answer {
	char text[JETWATTD_ASK_TEXT];
	size_t len;
	uint64_t at_ns;
};

struct connection {
	int fd, cut;
	uint64_t since_ns;
};

static struct exporter {
	const char *socket;
	struct answer answer[2];
	struct connection connection[LIMIT];
} exporter;

static const struct argp_option options[] = {
	{ "conf", CONF, "FILE", 0, "jetwattd's policy (" JETWATTD_CONF ")", 0 },
	{ "listen", LISTEN, "ADDRESS:PORT", 0, "Serve there, whatever the policy says", 0 },
	{ "socket", SOCKET, "PATH", 0, "The daemon's socket, whatever the policy says", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct exporter_input *in = state->input;

	switch (key) {
	case CONF:
		in->conf = arg;
		break;
	case LISTEN:
		in->listen = arg;
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
/* HTTP                                                               */

static enum MHD_Result say(struct MHD_Connection *c, unsigned int status, const char *type,
			   const char *text, size_t len)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(len, (void *)text,
								 MHD_RESPMEM_MUST_COPY);
	enum MHD_Result put;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	/* Nobody who scrapes every few seconds needs to stay. */
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	put = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return put;
}

static enum MHD_Result words(struct MHD_Connection *c, unsigned int status, const char *text)
{
	return say(c, status, "text/plain; charset=utf-8", text, strlen(text));
}

static enum MHD_Result metrics(struct MHD_Connection *c)
{
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	int open = accept && strstr(accept, "application/openmetrics-text");
	struct answer *a = &exporter.answer[open];
	char why[160];
	int err = 0;

	if (!a->len || jetwatt_clock_ns() - a->at_ns > FRESH_NS) {
		err = jetwattd_ask(exporter.socket, open ? "metrics openmetrics\n" : "metrics\n",
				   a->text, &a->len);
		a->at_ns = jetwatt_clock_ns();
	}
	if (!err)
		return say(c, MHD_HTTP_OK, types[open], a->text, a->len);
	snprintf(why, sizeof(why), "jetwattd does not answer: %s\n", strerror(-err));
	return words(c, MHD_HTTP_SERVICE_UNAVAILABLE, why);
}

static enum MHD_Result request(void *arg, struct MHD_Connection *c, const char *url,
			       const char *method, const char *version, const char *body,
			       size_t *body_len, void **seen)
{
	(void)arg;
	(void)version;
	(void)body;
	(void)body_len;
	(void)seen;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return words(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD\n");
	if (!strcmp(url, "/metrics"))
		return metrics(c);
	return words(c, strcmp(url, "/") ? MHD_HTTP_NOT_FOUND : MHD_HTTP_OK, "jetwatt: /metrics\n");
}

static void cut(struct connection *k)
{
	shutdown(k->fd, SHUT_RDWR);
	k->cut = 1;
}

/* Who sends a byte now and then is not silent, so how long he is here counts. */
static void expire(void)
{
	uint64_t now = jetwatt_clock_ns();

	for (int i = 0; i < LIMIT; i++) {
		struct connection *k = &exporter.connection[i];

		if (k->fd >= 0 && !k->cut && now - k->since_ns > PATIENCE_NS)
			cut(k);
	}
}

static void came_or_went(void *arg, struct MHD_Connection *c, void **at,
			 enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *k = exporter.connection, *place = NULL, *oldest = NULL;
	int live = 0;

	(void)arg;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (*at)
			((struct connection *)*at)->fd = -1;
		return;
	}
	for (; k < exporter.connection + LIMIT; k++) {
		if (k->fd < 0) {
			place = k;
		} else if (!k->cut) {
			live++;
			if (!oldest || k->since_ns < oldest->since_ns)
				oldest = k;
		}
	}
	/* Many who say nothing do not keep out one more. */
	if (live >= CONNECTIONS)
		cut(oldest);
	*at = place;
	if (place)
		*place = (struct connection){ info->connect_fd, 0, jetwatt_clock_ns() };
}

static int serve(struct MHD_Daemon *http)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(http, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd p[2] = { { .events = POLLIN }, { info->epoll_fd, POLLIN, 0 } };
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	p[0].fd = signalfd(-1, &ends, SFD_CLOEXEC);
	if (p[0].fd < 0)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot start");
	while (!p[0].revents) {
		if (poll(p, 2, TURN_MS) < 0 && errno != EINTR)
			break;
		MHD_run(http);
		expire();
	}
	close(p[0].fd);
	return 0;
}

static int start(const char *where)
{
	struct sockaddr_storage at;
	struct MHD_Daemon *http;
	int err;

	if (jetwattd_policy_address(where, &at))
		return jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "ADDRESS:PORT, as 127.0.0.1:9417 or "
					 "[::1]:9417", "\"%.60s\" is no address to listen on", where);
	errno = 0;
	http = MHD_start_daemon(MHD_USE_EPOLL | (at.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0), 0, NULL,
				NULL, request, NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&at,
				MHD_OPTION_CONNECTION_LIMIT, (unsigned int)LIMIT,
				MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_S,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
				MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
				MHD_OPTION_NOTIFY_CONNECTION, came_or_went, NULL, MHD_OPTION_END);
	if (!http)
		return jetwatt_error_say(errno == EACCES ? JETWATT_EXIT_PERMISSION : JETWATT_EXIT_FAILED,
					 errno ? strerror(errno) : "libmicrohttpd does not start",
					 "metrics = ADDRESS:PORT in " JETWATTD_CONF, "cannot listen on %s",
					 where);
	jetwatt_error_note("serving http://%s/metrics", where);
	err = serve(http);
	MHD_stop_daemon(http);
	return err;
}

int main(int argc, char **argv)
{
	struct exporter_input in = { .conf = NULL };
	struct jetwattd_policy policy;
	int err;

	jetwatt_args_parse("jetwatt-exporter", "", "Serve jetwattd's metrics by HTTP, for Prometheus.",
			   options, parse, argc, argv, &in);
	err = jetwattd_policy_read(in.conf ? in.conf : JETWATTD_CONF, in.conf != NULL, &policy);
	if (err)
		return err;
	exporter.socket = in.socket ? in.socket : policy.control;
	for (int i = 0; i < LIMIT; i++)
		exporter.connection[i].fd = -1;
	return start(in.listen ? in.listen : policy.metrics);
}
