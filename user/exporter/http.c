// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt-exporter: serves jetwattd's metrics, or with --telemetry those of the kernel module, by HTTP,
 * for Prometheus. The exporter is a process of its own, so that jetwattd needs no network. The service
 * runs as a user that may read jetwattd's metrics and state but not change its settings. A response is
 * reused for half a second, so each format is read at most twice per second, however often the exporter
 * is scraped. An error is reused as well: if jetwattd hangs, a read blocks the exporter for 2 s, and
 * the scrapes that arrive meanwhile must not block it again.
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
#include "exporter/telemetry.h"
#include "policy/policy.h"
#include "util/args.h"
#include "util/clock.h"
#include "util/error.h"

/* Number of connections beyond which the oldest connection is closed, and the limit of
 * libmicrohttpd, which is higher because closing takes a moment. */
#define CONNECTIONS	32
#define LIMIT		64
/* Poll interval of the main loop. */
#define POLL_MS		500
/* Maximum duration of a connection, and maximum time without data. */
#define PATIENCE_NS	5000000000ull
#define SILENCE_S	3u
/* Memory of libmicrohttpd for each connection, in bytes; a request of Prometheus has a few hundred. */
#define MEMORY		8192
/* Time for which a response, or an error, is reused. */
#define FRESH_NS	500000000ull

static const char types[2][64] = {
	"text/plain; version=0.0.4; charset=utf-8",
	"application/openmetrics-text; version=1.0.0; charset=utf-8",
};

enum { CONF = 'c', LISTEN = 'l', SOCKET = JETWATT_ARGS_LONG, TELEMETRY };

struct exporter_input {
	struct jetwatt_args args;
	const char *conf, *listen, *socket;
	int telemetry;
};

/**
 * struct response - metrics of the last read in one format
 * @text: the metrics
 * @len: length of @text, in bytes
 * @err: error of the last read, negative errno; 0: @text is valid
 * @at_ns: time at which the last read ended, CLOCK_MONOTONIC; 0: there was no read yet
 */
struct response {
	char text[JETWATTD_RESPONSE_MAX];
	size_t len;
	int err;
	uint64_t at_ns;
};

/**
 * struct connection - a HTTP connection
 * @fd: socket; -1: unused
 * @shut_down: 1: the exporter has shut down the connection, and libmicrohttpd will close it
 * @since_ns: time at which the connection was opened, CLOCK_MONOTONIC
 */
struct connection {
	int fd, shut_down;
	uint64_t since_ns;
};

/* @socket: control socket of jetwattd; NULL: serve @telemetry */
static struct exporter {
	const char *socket;
	struct exporter_telemetry telemetry;
	struct response response[2];
	struct connection connection[LIMIT];
} exporter;

static const struct argp_option options[] = {
	{ "conf", CONF, "FILE", 0, "Policy file of jetwattd (default: " JETWATTD_CONF ")", 0 },
	{ "listen", LISTEN, "ADDRESS:PORT", 0, "Listen on this address, instead of the policy's", 0 },
	{ "socket", SOCKET, "PATH", 0, "Control socket of jetwattd, instead of the policy's", 0 },
	{ "telemetry", TELEMETRY, NULL, 0, "Serve rails, clocks and temperatures without jetwattd", 0 },
	{ 0 }
};

static error_t exporter_parse(int key, char *arg, struct argp_state *state)
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
	case TELEMETRY:
		in->telemetry = 1;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* HTTP                                                               */

static enum MHD_Result http_respond(struct MHD_Connection *c, unsigned int status, const char *type,
				    const char *text, size_t len)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(len, (void *)text,
								 MHD_RESPMEM_MUST_COPY);
	enum MHD_Result put;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	/* A client that scrapes every few seconds needs no persistent connection. */
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	put = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return put;
}

static enum MHD_Result http_respond_text(struct MHD_Connection *c, unsigned int status, const char *text)
{
	return http_respond(c, status, "text/plain; charset=utf-8", text, strlen(text));
}

/* Read the metrics in one format. Return: 0; negative errno. */
static int read_metrics(int open, struct response *a)
{
	if (!exporter.socket)
		return exporter_telemetry_write(&exporter.telemetry, open, a->text, &a->len);
	return jetwattd_request(exporter.socket, open ? "metrics openmetrics\n" : "metrics\n", a->text,
				&a->len);
}

/* Respond with the metrics, or with the status 503 and the reason. If the last read in the same format
 * ended within FRESH_NS, its metrics or its error are reused. */
static enum MHD_Result http_metrics(struct MHD_Connection *c)
{
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	int open = accept && strstr(accept, "application/openmetrics-text");
	struct response *a = &exporter.response[open];
	char why[160];

	if (!a->at_ns || jetwatt_clock_ns() - a->at_ns > FRESH_NS) {
		a->err = read_metrics(open, a);
		a->at_ns = jetwatt_clock_ns();
	}
	if (!a->err)
		return http_respond(c, MHD_HTTP_OK, types[open], a->text, a->len);
	if (exporter.socket)
		snprintf(why, sizeof(why), "jetwattd does not answer: %s\n", strerror(-a->err));
	else
		snprintf(why, sizeof(why), "no energy counters of the kernel module: %s\n",
			 a->err == -ENODEV ? "no hwmon device jetwatt; sudo modprobe jetwatt" : strerror(-a->err));
	return http_respond_text(c, MHD_HTTP_SERVICE_UNAVAILABLE, why);
}

static enum MHD_Result http_request(void *arg, struct MHD_Connection *c, const char *url,
				    const char *method, const char *version, const char *body,
				    size_t *body_len, void **seen)
{
	(void)arg;
	(void)version;
	(void)body;
	(void)body_len;
	(void)seen;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return http_respond_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD\n");
	if (!strcmp(url, "/metrics"))
		return http_metrics(c);
	return http_respond_text(c, strcmp(url, "/") ? MHD_HTTP_NOT_FOUND : MHD_HTTP_OK, "jetwatt: /metrics\n");
}

static void connection_shut_down(struct connection *k)
{
	shutdown(k->fd, SHUT_RDWR);
	k->shut_down = 1;
}

/* Close connections that are open for too long. The idle timeout of libmicrohttpd does not catch
 * slow senders. */
static void connections_expire(void)
{
	uint64_t now = jetwatt_clock_ns();

	for (int i = 0; i < LIMIT; i++) {
		struct connection *k = &exporter.connection[i];

		if (k->fd >= 0 && !k->shut_down && now - k->since_ns > PATIENCE_NS)
			connection_shut_down(k);
	}
}

/* Callback of libmicrohttpd when a connection is opened or closed. */
static void on_connection(void *arg, struct MHD_Connection *c, void **at,
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
		} else if (!k->shut_down) {
			live++;
			if (!oldest || k->since_ns < oldest->since_ns)
				oldest = k;
		}
	}
	/* Close the oldest connection, because idle connections must not keep out a further
	 * client. */
	if (live >= CONNECTIONS)
		connection_shut_down(oldest);
	*at = place;
	if (place)
		*place = (struct connection){ info->connect_fd, 0, jetwatt_clock_ns() };
}

static int http_serve(struct MHD_Daemon *http)
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
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), NULL, "cannot start");
	while (!p[0].revents) {
		if (poll(p, 2, POLL_MS) < 0 && errno != EINTR)
			break;
		MHD_run(http);
		connections_expire();
	}
	close(p[0].fd);
	return 0;
}

static int http_start(const char *where)
{
	struct sockaddr_storage at;
	struct MHD_Daemon *http;
	int err;

	if (jetwattd_policy_address(where, &at))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "ADDRESS:PORT, such as 127.0.0.1:9417 or "
					 "[::1]:9417", "\"%.60s\" is not a numeric address with a port", where);
	errno = 0;
	http = MHD_start_daemon(MHD_USE_EPOLL | (at.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0), 0, NULL,
				NULL, http_request, NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&at,
				MHD_OPTION_CONNECTION_LIMIT, (unsigned int)LIMIT,
				MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_S,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
				MHD_OPTION_NOTIFY_CONNECTION, on_connection, NULL, MHD_OPTION_END);
	if (!http)
		return jetwatt_error_report(errno == EACCES ? JETWATT_EXIT_PERMISSION : JETWATT_EXIT_FAILED,
					 errno ? strerror(errno) : "libmicrohttpd does not start",
					 "set metrics = ADDRESS:PORT in " JETWATTD_CONF, "cannot listen on %s",
					 where);
	jetwatt_notice("serving http://%s/metrics", where);
	err = http_serve(http);
	MHD_stop_daemon(http);
	return err;
}

int main(int argc, char **argv)
{
	struct exporter_input in = { .conf = NULL };
	const char *root = getenv("JETWATT_ROOT");
	struct jetwattd_policy policy;
	char sys[128];
	int err;

	jetwatt_args_parse("jetwatt-exporter", "", "Serve jetwattd's metrics by HTTP, for Prometheus.",
			   options, exporter_parse, argc, argv, &in);
	if (in.telemetry && in.socket)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, "with --telemetry, jetwattd is not asked",
					    "omit --socket or --telemetry",
					    "--telemetry and --socket exclude each other");
	err = jetwattd_policy_read(in.conf ? in.conf : JETWATTD_CONF, in.conf != NULL, &policy);
	if (err)
		return err;
	exporter.socket = in.telemetry ? NULL : in.socket ? in.socket : policy.control;
	snprintf(sys, sizeof(sys), "%.100s/sys", root ? root : "");
	if (in.telemetry && exporter_telemetry_open(&exporter.telemetry, sys))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot start");
	for (int i = 0; i < LIMIT; i++)
		exporter.connection[i].fd = -1;
	err = http_start(in.listen ? in.listen : policy.metrics);
	exporter_telemetry_close(&exporter.telemetry);
	return err;
}
