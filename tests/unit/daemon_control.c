// SPDX-License-Identifier: GPL-2.0-only
/* jetwattd's control socket and malicious clients: the real socket, in a temporary directory. */

#include "daemon/jetwattd.h"
#include "../../user/util/listen.c"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "policy_defaults.h"

#define CROWD	200
#define ROUNDS	20000

FIXTURE(control) {
	struct jetwattd d;
	struct jetwattd_policy policy;
	struct jetwattd_control *c;
	char dir[32];
};

FIXTURE_SETUP(control)
{
	strcpy(self->dir, "/tmp/jetwatt-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	self->policy = policy_defaults();
	snprintf(self->policy.control, sizeof(self->policy.control), "%s/control", self->dir);
	self->d.policy = &self->policy;
	ASSERT_EQ(0, pthread_mutex_init(&self->d.lock, NULL));
	ASSERT_EQ(0, jetwattd_control_start(&self->d, &self->c));
}

FIXTURE_TEARDOWN(control)
{
	jetwattd_control_stop(self->c);
	rmdir(self->dir);
}

static int client(const struct jetwattd_policy *p)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = 20 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", p->control);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	close(fd);
	return -1;
}

static ssize_t put(int fd, const void *data, size_t size)
{
	return send(fd, data, size, MSG_NOSIGNAL);
}

/* Send a line to the socket and return the response; an empty text if there is none. */
static const char *ask(const struct jetwattd_policy *p, const char *line, size_t size)
{
	static char text[65536];
	size_t len = 0;
	ssize_t got;
	int fd = client(p);

	put(fd, line, size);
	while ((got = recv(fd, text + len, sizeof(text) - 1 - len, 0)) > 0)
		len += (size_t)got;
	text[len] = '\0';
	close(fd);
	return text;
}

#define ASK(line)	ask(&self->policy, line "\n", sizeof(line))

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

TEST_F(control, requests_are_answered)
{
	EXPECT_STREQ("done\n", ASK("budget 12W"));
	EXPECT_EQ(12, self->d.override_w);
	EXPECT_NE(NULL, strstr(ASK("status json"), "\"doing\""));
	EXPECT_NE(NULL, strstr(ASK("metrics openmetrics"), "# EOF"));
	EXPECT_STREQ("done\n", ASK("budget policy"));
	EXPECT_EQ(0, self->d.override_w);
}

TEST_F(control, silent_clients_do_not_block_others)
{
	int fd[CROWD];

	for (int i = 0; i < CROWD; i++) {
		fd[i] = client(&self->policy);
		if (i % 2)
			put(fd[i], "stat", 4);
	}
	EXPECT_NE(NULL, strstr(ASK("status json"), "\"doing\""));
	for (int i = 0; i < CROWD; i++)
		close(fd[i]);
	EXPECT_NE(NULL, strstr(ASK("status json"), "\"doing\""));
}

TEST_F(control, clients_that_never_read_do_not_block_others)
{
	int fd[CROWD], before;

	ASK("metrics");
	before = descriptors();
	for (int i = 0; i < CROWD; i++) {
		fd[i] = client(&self->policy);
		put(fd[i], "metrics\n", 8);
	}
	EXPECT_NE(NULL, strstr(ASK("status json"), "\"doing\""));
	for (int i = 0; i < CROWD; i++)
		close(fd[i]);
	ASK("metrics");
	EXPECT_EQ(before, descriptors());
}

TEST_F(control, malformed_requests_are_refused)
{
	static char line[1 << 20];
	int fd = client(&self->policy);

	memset(line, 'x', sizeof(line));
	/* The server disconnects on an overlong line without waiting for its end. */
	put(fd, line, sizeof(line));
	close(fd);
	EXPECT_EQ(0, strncmp(ASK("budget 7W\0x"), "refused", 7));
	EXPECT_EQ(0, strncmp(ASK("budget 1e999W"), "refused", 7));
	EXPECT_EQ(0, strncmp(ASK("budget nanW"), "refused", 7));
	EXPECT_EQ(0, strncmp(ASK("budget -5W"), "refused", 7));
	EXPECT_EQ(0, strncmp(ASK("budget 5W; pause"), "refused", 7));
	EXPECT_EQ(0, strncmp(ASK(""), "refused", 7));
	EXPECT_EQ(0, self->d.override_w);
	EXPECT_EQ(0, self->d.pause);
}

/* poll() refuses more descriptors than the limit of open files. */
TEST_F(control, requests_are_answered_after_poll_has_failed)
{
	struct rlimit was, few;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &was));
	few = was;
	few.rlim_cur = 4;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
	usleep(1500000);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &was));
	EXPECT_NE(NULL, strstr(ASK("status json"), "\"doing\""));
}

/* The thread ends although poll() fails. */
TEST_F(control, thread_ends_while_poll_fails)
{
	struct rlimit few;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &few));
	few.rlim_cur = 4;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
	usleep(1500000);
}

/* A second daemon does not take over the socket of a running one. */
TEST_F(control, second_daemon_is_refused)
{
	struct jetwattd two = { .policy = &self->policy, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct jetwattd_control *c;

	strcpy(self->d.why, "the first");
	EXPECT_EQ(JETWATT_EXIT_FAILED, jetwattd_control_start(&two, &c));
	EXPECT_NE(NULL, strstr(ASK("status"), "the first"));
	jetwattd_control_stop(c);
	EXPECT_NE(NULL, strstr(ASK("status"), "the first"));
}

/* The socket of a killed daemon is replaced, a file that is not a socket is not; at its end a
 * daemon deletes only its own socket. */
TEST_F(control, stale_socket_is_replaced_other_files_stay)
{
	char aside[64], *path = self->policy.control;
	struct jetwattd_control *c;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st, now;
	int fd;

	snprintf(aside, sizeof(aside), "%s/aside", self->dir);
	ASSERT_EQ(0, rename(path, aside));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	strcpy(at.sun_path, path);
	ASSERT_EQ(0, bind(fd, (struct sockaddr *)&at, sizeof(at)));
	close(fd);
	ASSERT_EQ(0, jetwattd_control_start(&self->d, &c));
	EXPECT_NE(NULL, strstr(ASK("status"), "idle"));
	ASSERT_EQ(0, stat(path, &st));
	/* When the first daemon ends, it does not delete the socket file, which belongs to the
	 * second daemon. */
	jetwattd_control_stop(self->c);
	EXPECT_TRUE(!stat(path, &now) && now.st_ino == st.st_ino);
	jetwattd_control_stop(c);
	EXPECT_EQ(-1, stat(path, &now));
	unlink(aside);

	close(open(path, O_CREAT | O_WRONLY, 0600));
	EXPECT_EQ(JETWATT_EXIT_FAILED, jetwattd_control_start(&self->d, &c));
	jetwattd_control_stop(c);
	EXPECT_EQ(0, unlink(path));
	ASSERT_EQ(0, jetwattd_control_start(&self->d, &self->c));
}

#define OTHER	990
#define STARTS	200

/* Attacker: replace the socket by a symbolic link to @secret again and again, as fast as
 * possible. */
static void __attribute__((noreturn)) lure(const char *dir, const char *secret)
{
	struct stat st;

	if (setgid(OTHER) || setuid(OTHER) || chdir(dir))
		_exit(1);
	/* End with the test, also if an assertion ends it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		_exit(1);
	for (;;) {
		unlink("l");
		if (symlink(secret, "l"))
			continue;
		while (lstat("control", &st) || !S_ISSOCK(st.st_mode))
			;
		rename("l", "control");
	}
}

/* The directory belongs to another user, who replaces the socket by links: the daemon, which is
 * root, must not change the files that the links lead to. */
TEST_F(control, symbolic_link_is_not_followed)
{
	char secret[64], link[64];
	struct jetwattd_control *c;
	struct stat st, now;
	pid_t pid;

	if (geteuid())
		SKIP(return, "needs root");
	strcpy(self->policy.readers, "nogroup");
	strcpy(self->policy.writers, "adm");
	jetwattd_control_stop(self->c);
	snprintf(secret, sizeof(secret), "/tmp/jetwatt-secret-%d", getpid());
	snprintf(link, sizeof(link), "%s/l", self->dir);
	close(open(secret, O_CREAT | O_EXCL | O_WRONLY, 0600));
	ASSERT_EQ(0, stat(secret, &st));
	ASSERT_EQ(0, chown(self->dir, OTHER, OTHER));
	pid = fork();
	if (!pid)
		lure(self->dir, secret);
	for (int i = 0; i < STARTS; i++) {
		jetwattd_control_start(&self->d, &c);
		jetwattd_control_stop(c);
		unlink(self->policy.control);
		ASSERT_EQ(0, stat(secret, &now));
		ASSERT_TRUE(now.st_mode == st.st_mode && now.st_gid == st.st_gid) TH_LOG("start %d", i);
		usleep(1000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(secret);
	unlink(link);
	unlink(self->policy.control);
	ASSERT_EQ(0, jetwattd_control_start(&self->d, &self->c));
}

/* A socket path that is a hard link to another socket of this user is refused, because that is not
 * the daemon's own socket. */
TEST_F(control, hard_link_to_a_socket_is_refused)
{
	struct jetwattd_listener l = { .fd = -1 };
	char path[64];

	snprintf(path, sizeof(path), "%s/name", self->dir);
	ASSERT_EQ(0, set_socket_access(&l, self->policy.control, (gid_t)-1, 0));
	ASSERT_EQ(0, link(self->policy.control, path));
	EXPECT_EQ(-EEXIST, set_socket_access(&l, path, (gid_t)-1, 0));
	EXPECT_EQ(0, unlink(path));
}

/* A daemon that has no free descriptor to probe the existing socket does not replace it, because
 * another process may listen on it. */
TEST_F(control, live_socket_stays_if_it_cannot_be_probed)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct rlimit was, none = { 0, 0 };
	struct stat st;
	int rc;

	strcpy(at.sun_path, self->policy.control);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &was));
	none.rlim_max = was.rlim_max;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	rc = remove_stale_socket(&at, SOCK_STREAM);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &was));
	EXPECT_EQ(-EADDRINUSE, rc);
	EXPECT_EQ(0, lstat(self->policy.control, &st));
}

/* Send requests with random damage from a fixed seed: changed bytes and cut lines. */
TEST_F(control, mutated_requests_never_crash)
{
	static const char *const word[] = { "budget 20W\n", "status\n", "pause\n", "metrics openmetrics\n" };
	unsigned int seed = 20261122;

	for (int i = 0; i < ROUNDS; i++) {
		char line[64] = "";
		const char *w = word[rand_r(&seed) % 4];
		size_t len = strlen(w);
		int fd = client(&self->policy);

		ASSERT_LE(0, fd);
		memcpy(line, w, len);
		for (int k = rand_r(&seed) % 4; k >= 0; k--)
			line[(unsigned int)rand_r(&seed) % len] = (char)rand_r(&seed);
		put(fd, line, (unsigned int)rand_r(&seed) % (len + 1));
		close(fd);
		pthread_mutex_lock(&self->d.lock);
		EXPECT_TRUE(!self->d.override_w || (self->d.override_w >= 0.1 && self->d.override_w <= 1000));
		pthread_mutex_unlock(&self->d.lock);
	}
	EXPECT_NE(NULL, strstr(ASK("status json"), "\"doing\""));
}

TEST_HARNESS_MAIN
