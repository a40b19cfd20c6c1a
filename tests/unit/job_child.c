// SPDX-License-Identifier: GPL-2.0-only
/* The exit status of a command, and the end of the programs that it has started. */
#include "job/child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/session.h"
#include "timeshare/corunner.h"

#include "kselftest_harness.h"

/* A program that ignores SIGCHLD, as it may have inherited it, starts the command. */
TEST(the_exit_status_of_the_command_is_known)
{
	struct jetwatt_child child;
	char *argv[] = { "/bin/sh", "-c", "exit 3", NULL };

	signal(SIGCHLD, SIG_IGN);
	ASSERT_EQ(0, jetwatt_child_start(&child, argv, -1));
	ASSERT_EQ(0, jetwatt_child_go(&child));
	for (int i = 0; i < 500 && !jetwatt_child_reap(&child); i++)
		usleep(10000);
	ASSERT_EQ(1, child.gone);
	EXPECT_EQ(3, jetwatt_child_exit(&child));
}

/* Wait until the command has written a byte. Return: 1 if it has. */
static int has_started(int fd)
{
	char c;

	return read(fd, &c, 1) == 1;
}

/* The shell ends at SIGTERM, and does not pass the signal on. */
TEST(the_program_of_a_shell_script_is_ended)
{
	char *argv[] = { "/bin/sh", "-c", "sh -c 'echo >&9; exec sleep 1000'; true", NULL };
	struct jetwatt_session w;
	int started[2];

	jetwatt_session_init(&w);
	if (jetwatt_cgroup_make(&w.cgroup))
		SKIP(return, "no cgroup can be made");
	ASSERT_EQ(0, pipe(started));
	ASSERT_EQ(9, dup2(started[1], 9));
	ASSERT_EQ(0, jetwatt_child_start(&w.child, argv, -1));
	ASSERT_EQ(0, jetwatt_cgroup_move(&w.cgroup, w.child.pid));
	ASSERT_EQ(0, jetwatt_child_go(&w.child));
	ASSERT_TRUE(has_started(started[0]));
	jetwatt_session_end_command(&w);
	EXPECT_EQ(128 + SIGTERM, jetwatt_child_exit(&w.child));
	EXPECT_EQ(1, jetwatt_cgroup_empty(&w.cgroup));
	jetwatt_cgroup_close(&w.cgroup);
}

TEST(a_program_beside_another_that_ignores_sigterm_is_ended)
{
	struct jetwatt_corunner t;
	struct jetwatt_cgroup c;
	int started[2], status = -1;

	/* The program becomes a child of this process when its shell has ended. */
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
	if (jetwatt_cgroup_make(&c))
		SKIP(return, "no cgroup can be made");
	jetwatt_cgroup_close(&c);
	ASSERT_EQ(0, pipe(started));
	ASSERT_EQ(9, dup2(started[1], 9));
	jetwatt_corunner_init(&t, "serve", "sh -c 'trap \"\" TERM; echo >&9; exec sleep 1000'; true");
	ASSERT_EQ(0, jetwatt_corunner_start(&t));
	ASSERT_EQ(0, jetwatt_corunner_go(&t));
	ASSERT_TRUE(has_started(started[0]));
	EXPECT_EQ(128 + SIGTERM, jetwatt_corunner_stop(&t));
	EXPECT_LT(0, waitpid(-t.child.pid, &status, WNOHANG));
	EXPECT_EQ(SIGKILL, status);
	kill(-t.child.pid, SIGKILL);
}

TEST_HARNESS_MAIN
