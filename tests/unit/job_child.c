// SPDX-License-Identifier: GPL-2.0-only
/* The command of a job, started by a process that ignores SIGCHLD, as a program may have inherited it. */
#include "job/child.h"

#include <signal.h>
#include <unistd.h>

#include "kselftest_harness.h"

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

TEST_HARNESS_MAIN
