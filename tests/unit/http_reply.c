// SPDX-License-Identifier: GPL-2.0-only
/* HTTP replies: counted, chunked and ended by the connection, whole and truncated; and URLs. */
#include "kselftest_harness.h"

#include <signal.h>
#include <sys/time.h>

#include "../../user/util/http_get.c"
#include "../../user/util/http_reply.c"

#define OK "HTTP/1.1 200 OK\r\n"

static int reply(const char *text, size_t len, int closed, char *body, int *status)
{
	char raw[1024], *at = NULL;
	size_t n = 0;
	int err;

	memcpy(raw, text, len);
	err = jetwatt_http_reply(raw, len, closed, status, &at, &n);
	if (!err) {
		memcpy(body, at, n);
		body[n] = '\0';
	}
	return err;
}

TEST(bodies_are_found)
{
	static const struct { const char *text; int closed; const char *body; } t[] = {
		{ OK "Content-Length: 3\r\n\r\nabc", 0, "abc" },
		{ OK "content-length:3 \r\n\r\nabcd", 0, "abc" },
		{ "HTTP/1.0 200 OK\nContent-Length: 0\n\n", 0, "" },
		{ OK "\r\nabc", 1, "abc" },
		{ OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0A;x=y\r\n0123456789\r\n0\r\n\r\n", 0,
		  "abc0123456789" },
		/* Content-Length is ignored if the body is sent in chunks. */
		{ OK "Content-Length: 1\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", 0, "ab" },
		{ OK "Content-Encoding: identity\r\nContent-Length: 1\r\n\r\na", 0, "a" },
	};
	char body[1024];
	int status;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		EXPECT_EQ(0, reply(t[i].text, strlen(t[i].text), t[i].closed, body, &status)) {
			TH_LOG("%s", t[i].text);
		}
		EXPECT_STREQ(t[i].body, body);
		EXPECT_EQ(200, status);
	}
}

/* After each incomplete part of a reply, the parser requests more bytes; if the connection is
 * closed instead, the parser reports an error. */
TEST(parts_of_a_reply_are_incomplete)
{
	static const char *const t[] = {
		OK "Content-Length: 3\r\n\r\nabc",
		OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
	};
	char body[1024];
	int status;

	for (int i = 0; i < 2; i++)
		for (size_t n = 0; n < strlen(t[i]); n++) {
			EXPECT_EQ(-EAGAIN, reply(t[i], n, 0, body, &status)) {
				TH_LOG("%zu bytes", n);
			}
			EXPECT_EQ(-ENODATA, reply(t[i], n, 1, body, &status));
		}
}

TEST(other_replies_are_refused)
{
	static const struct { const char *text; int err; } t[] = {
		{ "SSH-2.0-OpenSSH_9.2\r\n", -EBADMSG },
		{ "HTTP/2 200\r\n\r\n", -EBADMSG },
		{ "HTTP/1.1 20x OK\r\n\r\n", -EBADMSG },
		{ OK "Content-Length: -1\r\n\r\n", -EBADMSG },
		{ OK "Content-Length: 3x\r\n\r\nabc", -EBADMSG },
		{ OK "Content-Length: 1a\r\n\r\nabc", -EBADMSG },
		{ OK "Content-Length:\r\n\r\nabc", -EBADMSG },
		{ OK "Content-Length: 99999999999999999999\r\n\r\nabc", -EBADMSG },
		{ OK "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", -EBADMSG },
		{ OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n", -EBADMSG },
		{ OK "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", -EBADMSG },
		{ OK "Transfer-Encoding: gzip\r\n\r\n", -EPROTO },
		{ OK "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", -EPROTO },
	};
	char body[1024];
	int status;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		EXPECT_EQ(t[i].err, reply(t[i].text, strlen(t[i].text), 0, body, &status)) {
			TH_LOG("%s", t[i].text);
		}
		EXPECT_EQ(t[i].text[9] == '2' && t[i].text[11] == '0' ? 200 : 0, status);
	}
}

TEST(the_status_is_returned)
{
	static const char text[] = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /metrics/\r\nContent-Length: 0\r\n\r\n";
	char body[1024];
	int status;

	EXPECT_EQ(0, reply(text, sizeof(text) - 1, 0, body, &status));
	EXPECT_EQ(307, status);
}

TEST(headers_and_lines_have_limits)
{
	size_t len = HEAD_MAX + 64;
	char *raw = malloc(len), *body;
	size_t n;
	int status;

	memset(raw, 'a', len);
	memcpy(raw, OK "X: ", 20);
	EXPECT_EQ(-EBADMSG, jetwatt_http_reply(raw, len, 0, &status, &body, &n));
	memcpy(raw, OK "Transfer-Encoding: chunked\r\n\r\n", 47);
	EXPECT_EQ(-EBADMSG, jetwatt_http_reply(raw, 400, 0, &status, &body, &n));
	free(raw);
}

TEST(urls_are_parsed)
{
	static const struct { const char *text, *host, *port, *authority, *path; } t[] = {
		{ "http://127.0.0.1:8000/metrics", "127.0.0.1", "8000", "127.0.0.1:8000", "/metrics" },
		{ "HTTP://host", "host", "80", "host", "/" },
		{ "http://[::1]:9/a?b=c", "::1", "9", "[::1]:9", "/a?b=c" },
		{ "http://[::1]", "::1", "80", "[::1]", "/" },
		{ "http://host?x", "host", "80", "host", "/?x" },
	};
	static const struct { const char *text; int err; } bad[] = {
		{ "https://host/", -EPROTONOSUPPORT }, { "ftp://host/", -EPROTONOSUPPORT },
		{ "host:80/", -EPROTONOSUPPORT }, { "http://", -EINVAL }, { "http:///metrics", -EINVAL },
		{ "http://host:0/", -EINVAL }, { "http://host:65536/", -EINVAL }, { "http://host:/", -EINVAL },
		{ "http://host:80x/", -EINVAL }, { "http://user@host/", -EINVAL }, { "http://[::1/", -EINVAL },
		{ "http://[::1]80/", -EINVAL }, { "http://host/a b", -EINVAL }, { "http://host/\r\nX: y", -EINVAL },
		{ "http://host/a#b", -EINVAL },
	};
	struct jetwatt_http_url u;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		EXPECT_EQ(0, jetwatt_http_url(&u, t[i].text)) {
			TH_LOG("%s", t[i].text);
		}
		EXPECT_STREQ(t[i].host, u.host);
		EXPECT_STREQ(t[i].port, u.port);
		EXPECT_STREQ(t[i].authority, u.authority);
		EXPECT_STREQ(t[i].path, u.path);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(bad[i].err, jetwatt_http_url(&u, bad[i].text)) {
			TH_LOG("%s", bad[i].text);
		}
	}
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* A signal does not make a socket ready. */
TEST(a_signal_does_not_end_a_wait)
{
	const struct sigaction alarm = { .sa_handler = on_alarm };
	const struct itimerval soon = { { 0, 0 }, { 0, 20000 } };
	int pair[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	ASSERT_EQ(0, sigaction(SIGALRM, &alarm, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &soon, NULL));
	EXPECT_EQ(-ETIMEDOUT, wait_for(pair[0], POLLIN, jetwatt_clock_ns() + 200000000));
	close(pair[0]);
	close(pair[1]);
}

TEST_HARNESS_MAIN
