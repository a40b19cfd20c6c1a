// SPDX-License-Identifier: GPL-2.0-only
/* Start a process whose end this process waits for. */
#include "util/fork.h"

#include <signal.h>
#include <unistd.h>

pid_t jetwatt_fork(void)
{
	signal(SIGCHLD, SIG_DFL);
	return fork();
}
