// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of a process whose descriptor directory may not be opened: jetwatt-files is queried for
 * each descriptor. A child process answers the queries in place of jetwatt-files.
 */
#include <dirent.h>
#include <sys/types.h>

#include "lib/fdname.h"

/* In a temporary directory. */
#undef JETWATT_FILES_SOCKET
#define JETWATT_FILES_SOCKET	"files"
#define opendir(path)	test_opendir(path)
DIR *test_opendir(const char *path);
#include "../../user/lib/fdname.c"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#define TGID	77

static int refusal;

DIR *test_opendir(const char *path)
{
	(void)path;
	errno = refusal;
	return NULL;
}

/* Return the kind of a descriptor of the simulated process TGID: 3 to 9 are files, except 5, which
 * is an event, like every 40th descriptor from 40 to 400. */
static int32_t kind(const struct jetwatt_files_request *r)
{
	if (r->tgid != TGID)
		return JETWATT_FDNAME_GONE;
	if (r->fd == 5 || (r->fd >= 40 && r->fd <= 400 && r->fd % 40 == 0))
		return JETWATT_FDNAME_EVENT;
	return r->fd >= 3 && r->fd < 10 ? JETWATT_FDNAME_OTHER : JETWATT_FDNAME_GONE;
}

static void __attribute__((noreturn)) help(int listen)
{
	int fd = accept(listen, NULL, NULL);
	struct jetwatt_files_request r;
	int32_t what;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (recv(fd, &r, sizeof(r), 0) == sizeof(r)) {
		what = kind(&r);
		if (send(fd, &what, sizeof(what), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

FIXTURE(events) {
	char dir[32];
	struct jetwatt_fdname names;
	pid_t helper;
};

FIXTURE_SETUP(events)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = JETWATT_FILES_SOCKET };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	strcpy(self->dir, "/tmp/jetwatt.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	ASSERT_EQ(0, chdir(self->dir));
	ASSERT_EQ(0, bind(fd, (struct sockaddr *)&at, sizeof(at)));
	ASSERT_EQ(0, listen(fd, 4));
	self->helper = fork();
	if (!self->helper)
		help(fd);
	close(fd);
	refusal = EACCES;
}

FIXTURE_TEARDOWN(events)
{
	jetwatt_fdname_close(&self->names);
	kill(self->helper, SIGKILL);
	waitpid(self->helper, NULL, 0);
	unlink(JETWATT_FILES_SOCKET);
	rmdir(self->dir);
}

TEST_F(events, events_of_another_users_process)
{
	int fd[64], n = jetwatt_fdname_events(&self->names, TGID, 1000000000, fd, 64);

	ASSERT_EQ(11, n);
	EXPECT_EQ(5, fd[0]);
	EXPECT_EQ(40, fd[1]);
	EXPECT_EQ(400, fd[10]);
	EXPECT_EQ(2, jetwatt_fdname_events(&self->names, TGID, 1000000000, fd, 2));
	EXPECT_EQ(0, jetwatt_fdname_events(&self->names, TGID + 1, 1000000000, fd, 64));
}

TEST_F(events, ended_process_has_no_events)
{
	int fd[64];

	refusal = ENOENT;
	EXPECT_EQ(0, jetwatt_fdname_events(&self->names, TGID, 1000000000, fd, 64));
	EXPECT_EQ(0, self->names.helper);
}

TEST_F(events, without_jetwatt_files_no_events)
{
	int fd[64];

	unlink(JETWATT_FILES_SOCKET);
	EXPECT_EQ(0, jetwatt_fdname_events(&self->names, TGID, 1000000000, fd, 64));
}

TEST_HARNESS_MAIN
