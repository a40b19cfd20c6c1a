// SPDX-License-Identifier: GPL-2.0-only
/* What is left of a job in the event loop after jetwattd has detached from it. */
#include "daemon/loop.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/pidfd.h"
#include "kselftest_harness.h"

/* jetwattd_wait_for_board() keeps a duplicate of the job's descriptor. The end of the job must not
 * wake the event loop, because nothing handles the event. */
TEST(end_of_a_detached_job_is_no_event)
{
	static struct jetwattd d;
	static struct jetwattd_run run = { .d = &d };
	struct jetwatt_session *w = &run.session;
	struct epoll_event e;
	pid_t pid = fork();
	int copy;

	ASSERT_LE(0, pid);
	if (!pid) {
		pause();
		_exit(0);
	}
	ASSERT_EQ(0, pthread_mutex_init(&d.lock, NULL));
	jetwatt_session_init(w);
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_LE(0, w->epoll);
	w->pid = pid;
	w->pidfd = jetwattd_pidfd(pid);
	ASSERT_LE(0, w->pidfd);
	ASSERT_EQ(0, jetwatt_session_add(w, w->pidfd));
	copy = fcntl(w->pidfd, F_DUPFD_CLOEXEC, 0);
	ASSERT_LE(0, copy);
	jetwattd_detach_job(&run);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EQ(1, jetwattd_pidfd_ended(copy));
	EXPECT_EQ(0, epoll_wait(w->epoll, &e, 1, 0));
	close(copy);
	close(w->epoll);
}

TEST_HARNESS_MAIN
