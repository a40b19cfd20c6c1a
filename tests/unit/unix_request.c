// SPDX-License-Identifier: GPL-2.0-only
/* Requests to a Unix socket whose server sends a whole, an interrupted, or an empty response. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "util/unix_request.h"

/* @read: the server reads the request before it closes. If false, the server closes the connection
 * with the request unread, which resets the connection. */
FIXTURE(server) {
	char dir[32], path[64];
	int fd;
	pthread_t thread;
	const char *response;
	int read;
};

FIXTURE_SETUP(server)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	strcpy(self->dir, "/tmp/request.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/socket", self->dir);
	strcpy(at.sun_path, self->path);
	self->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ASSERT_EQ(0, bind(self->fd, (struct sockaddr *)&at, sizeof(at)));
	ASSERT_EQ(0, listen(self->fd, 1));
}

FIXTURE_TEARDOWN(server)
{
	close(self->fd);
	unlink(self->path);
	rmdir(self->dir);
}

static void *serve(void *arg)
{
	struct _test_data_server *self = arg;
	int fd = accept(self->fd, NULL, NULL);
	char line[64];

	if (self->read && read(fd, line, sizeof(line)) < 0)
		abort();
	if (write(fd, self->response, strlen(self->response)) < 0)
		abort();
	if (!self->read)
		/* Wait until the request has arrived: close() with unread data resets the
		 * connection. */
		while (recv(fd, line, sizeof(line), MSG_PEEK) <= 0)
			;
	close(fd);
	return NULL;
}

static int request(struct _test_data_server *self, const char *response, int read, char *answer, size_t size)
{
	int err;

	self->response = response;
	self->read = read;
	if (pthread_create(&self->thread, NULL, serve, self))
		return -EAGAIN;
	err = jetwatt_unix_request(self->path, SOCK_STREAM, "status\n", answer, size);
	pthread_join(self->thread, NULL);
	return err;
}

TEST_F(server, a_whole_response_is_returned)
{
	char answer[64];

	EXPECT_EQ(0, request(self, "state holding\n", 1, answer, sizeof(answer)));
	EXPECT_STREQ("state holding\n", answer);
}

TEST_F(server, a_response_that_breaks_off_is_an_error)
{
	char answer[64];

	EXPECT_EQ(-ECONNRESET, request(self, "state hol", 0, answer, sizeof(answer)));
}

TEST_F(server, a_response_that_does_not_fit_is_an_error)
{
	char answer[15];

	EXPECT_EQ(0, request(self, "state holding", 1, answer, sizeof(answer)));
	EXPECT_EQ(-EMSGSIZE, request(self, "state holding\n", 1, answer, sizeof(answer)));
}

TEST_F(server, an_empty_response_is_an_error)
{
	char answer[64];

	EXPECT_EQ(-EPROTO, request(self, "", 1, answer, sizeof(answer)));
}

TEST(missing_server_is_an_error)
{
	char answer[64];

	EXPECT_EQ(-ENOENT, jetwatt_unix_request("/tmp/no/such/socket", SOCK_STREAM, "status\n", answer,
						sizeof(answer)));
}

TEST_HARNESS_MAIN
