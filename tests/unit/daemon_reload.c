// SPDX-License-Identifier: GPL-2.0-only
/* SIGHUP reloads the policy at any time, also while jetwattd opens a session, as after a blind time. */
#include "daemon/loop.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "measure/connect.h"

TEST(hangup_does_not_reach_a_session)
{
	struct jetwattd_run r = { .hangup = -1 };
	struct signalfd_siginfo si;
	sigset_t set, waiting;
	int session;

	/* The test itself may run under nohup. */
	signal(SIGHUP, SIG_DFL);
	ASSERT_EQ(0, jetwattd_reload_open(&r));
	/* Before any session, between two sessions, and during a session: SIGHUP is not lost. */
	for (int i = 0; i < 3; i++) {
		session = -1;
		if (i) {
			jetwatt_block_signals(&set);
			EXPECT_TRUE(sigismember(&set, SIGTERM));
			EXPECT_FALSE(sigismember(&set, SIGHUP));
			session = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
		}
		ASSERT_EQ(0, kill(getpid(), SIGHUP));
		sigpending(&waiting);
		EXPECT_TRUE(sigismember(&waiting, SIGHUP));
		if (session >= 0)
			EXPECT_EQ(-1, read(session, &si, sizeof(si)));
		ASSERT_EQ((ssize_t)sizeof(si), read(r.hangup, &si, sizeof(si)));
		EXPECT_EQ(SIGHUP, (int)si.ssi_signo);
		close(session);
	}
	close(r.hangup);
}

/* Under nohup the end of the terminal reloads nothing. */
TEST(ignored_hangup_stays_ignored)
{
	struct jetwattd_run r = { .hangup = -1 };
	struct signalfd_siginfo si;

	signal(SIGHUP, SIG_IGN);
	ASSERT_EQ(0, jetwattd_reload_open(&r));
	ASSERT_EQ(0, kill(getpid(), SIGHUP));
	EXPECT_EQ(-1, read(r.hangup, &si, sizeof(si)));
	close(r.hangup);
}

TEST_HARNESS_MAIN
