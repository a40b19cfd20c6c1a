// SPDX-License-Identifier: GPL-2.0-only
/* Parsing of marks and of /proc/PID/maps, and delivery of marks. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "lib/library.h"
#include "lib/marks.h"

static int parse(const char *s, struct jetwatt_marks_line *l)
{
	return jetwatt_marks_parse(s, strlen(s), l);
}

TEST(lines_of_marks_are_parsed)
{
	struct jetwatt_marks_line l;
	char longest[80] = "begin ";

	ASSERT_EQ(0, parse("begin train @123/45/6/7", &l));
	EXPECT_EQ(JETWATT_MARKS_BEGIN, l.verb);
	EXPECT_STREQ("train", l.name);
	EXPECT_EQ(123, l.time_ns);
	EXPECT_EQ(45, l.tid);
	EXPECT_EQ(6, l.lost);
	EXPECT_EQ(7, l.pid);
	ASSERT_EQ(0, parse("end train", &l));
	EXPECT_EQ(JETWATT_MARKS_END, l.verb);
	EXPECT_EQ(0, l.time_ns);
	ASSERT_EQ(0, parse("step", &l));
	EXPECT_EQ(JETWATT_MARKS_POINT, l.verb);
	ASSERT_EQ(0, parse("begin", &l));
	EXPECT_EQ(JETWATT_MARKS_POINT, l.verb);
	EXPECT_EQ(-EINVAL, parse("", &l));
	EXPECT_EQ(-EINVAL, parse("begin ", &l));
	EXPECT_EQ(-EINVAL, parse("begin a b", &l));
	EXPECT_EQ(-EINVAL, parse("begin a @", &l));
	EXPECT_EQ(-EINVAL, parse("begin a @1/2", &l));
	EXPECT_EQ(-EINVAL, parse("a\tb", &l));
	EXPECT_EQ(-EINVAL, jetwatt_marks_parse("a\0b", 3, &l));
	memset(longest + 6, 'x', 63);
	EXPECT_EQ(0, parse(longest, &l));
	memset(longest + 6, 'x', 64);
	EXPECT_EQ(-EINVAL, parse(longest, &l));
}

TEST(lines_of_proc_maps_are_parsed)
{
	struct jetwatt_library l;

	ASSERT_EQ(1, jetwatt_library_line("7f00-8000 r-xp 00001000 08:01 77   /usr/lib/tegra/libcuda.so.1.1\n", &l));
	EXPECT_EQ(0x7f00, l.start);
	EXPECT_EQ(0x8000, l.end);
	EXPECT_STREQ("/usr/lib/tegra/libcuda.so.1.1", l.path);
	EXPECT_EQ(1, jetwatt_library_line("1-2 r--p 0 08:01 77 /w/libcudart-d0da41ae.so.11.0 (deleted)\n", &l));
	EXPECT_EQ(0, jetwatt_library_line("1-2 r--p 0 08:01 77 /w/libcudadebugger.so.1\n", &l));
	EXPECT_EQ(0, jetwatt_library_line("1-2 r--p 0 08:01 77 libcuda.so.1\n", &l));
	EXPECT_EQ(0, jetwatt_library_line("1-2 rw-p 0 00:00 0 \n", &l));
	EXPECT_EQ(0, jetwatt_library_line("1-2 rw-p 0 00:00 0 [heap]\n", &l));
	EXPECT_EQ(0, jetwatt_library_line("nonsense", &l));
	EXPECT_EQ(0, jetwatt_library_line("", &l));
}

TEST(file_that_is_no_library_is_refused)
{
	struct jetwatt_library_call call[JETWATT_LIBRARY_CALLS_MAX];

	EXPECT_EQ(-ENOENT, jetwatt_library_calls("/nonexistent", call));
	EXPECT_EQ(-ENOEXEC, jetwatt_library_calls("/proc/self/maps", call));
	EXPECT_EQ(-ENOEXEC, jetwatt_library_calls("/dev/null", call));
}

struct received {
	int nr;
	struct jetwatt_sync s[16];
};

static void hear(const struct jetwatt_sync *s, void *arg)
{
	struct received *h = arg;

	if (h->nr < 16)
		h->s[h->nr] = *s;
	h->nr++;
}

static void set_mark_fd(int fd)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", fd);
	setenv("JETWATT_MARK_FD", number, 1);
}

FIXTURE(way) {
	struct jetwatt_probe *probe;
	struct received received;
	int fd[2];
};

FIXTURE_SETUP(way)
{
	struct jetwatt_probe_opts o = { .backends = JETWATT_BACKEND_MARKER };

	ASSERT_EQ(0, jetwatt_mark_pair(self->fd));
	o.mark_fd = self->fd[0];
	ASSERT_EQ(0, jetwatt_probe_open(&self->probe, &o, hear, &self->received));
	set_mark_fd(self->fd[1]);
}

FIXTURE_TEARDOWN(way)
{
	jetwatt_probe_close(self->probe);
	close(self->fd[0]);
	close(self->fd[1]);
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

TEST_F(way, pairs_nest)
{
	struct jetwatt_probe_state st;
	uint64_t before = now(), after;

	EXPECT_EQ(0, jetwatt_mark_begin("epoch"));
	EXPECT_EQ(0, jetwatt_mark_begin("train"));
	EXPECT_EQ(0, jetwatt_mark_end("train"));
	EXPECT_EQ(0, jetwatt_mark("step"));
	EXPECT_EQ(0, jetwatt_mark_end("epoch"));
	EXPECT_EQ(-EINVAL, jetwatt_mark_begin("two words"));
	EXPECT_EQ(-EINVAL, jetwatt_mark_begin(""));
	EXPECT_EQ(-EINVAL, jetwatt_mark_begin(NULL));
	after = now();
	/* A begin mark is delivered as a separate event, so that the energy up to that time can be
	 * recorded. */
	ASSERT_EQ(5, jetwatt_probe_dispatch(self->probe));
	EXPECT_EQ(JETWATT_SYNC_MARK_BEGIN, self->received.s[0].call);
	EXPECT_EQ(JETWATT_SYNC_MARK_BEGIN, self->received.s[1].call);
	memmove(self->received.s, self->received.s + 2, 3 * sizeof(self->received.s[0]));
	jetwatt_probe_state(self->probe, &st);
	for (int i = 0; i < 3; i++) {
		const struct jetwatt_sync *s = &self->received.s[i];

		EXPECT_EQ(JETWATT_SYNC_MARK, s->call);
		EXPECT_EQ(getpid(), (pid_t)s->tgid);
		EXPECT_EQ(gettid(), (pid_t)s->tid);
		EXPECT_LE(before, s->enter_ns);
		EXPECT_LE(s->enter_ns, s->exit_ns);
		EXPECT_LE(s->exit_ns, after);
	}
	EXPECT_STREQ("train", st.mark[self->received.s[0].ret]);
	EXPECT_STREQ("step", st.mark[self->received.s[1].ret]);
	EXPECT_EQ(self->received.s[1].enter_ns, self->received.s[1].exit_ns);
	EXPECT_STREQ("epoch", st.mark[self->received.s[2].ret]);
	EXPECT_EQ(0, jetwatt_probe_lost(self->probe));
}

TEST_F(way, marks_written_by_hand)
{
	ASSERT_EQ(12, write(self->fd[1], "begin x\nstep", 12));
	ASSERT_EQ(6, write(self->fd[1], "end x\n", 6));
	ASSERT_EQ(6, write(self->fd[1], "end y\n", 6));
	ASSERT_EQ(8, write(self->fd[1], "a b c d\n", 8));
	ASSERT_EQ(3, jetwatt_probe_dispatch(self->probe));
	EXPECT_EQ(getpid(), (pid_t)self->received.s[0].tgid);
	/* two lines are rejected: an end mark without a begin mark, and a malformed line */
	EXPECT_EQ(2, jetwatt_probe_lost(self->probe));
}

/* Some minibatches or threads end without an end mark: later pairs are still complete, and none begins with the
 * begin mark of another minibatch. */
TEST_F(way, begin_marks_without_end_marks_are_forgotten)
{
	char line[64];
	int n;

	for (int i = 0; i < 2 * JETWATT_MARKS_OPEN; i++) {
		n = snprintf(line, sizeof(line), "begin step @%d/%d/0/0\n", 1000 + i, i % 2 ? 10 : 1000 + i);
		ASSERT_EQ(n, write(self->fd[1], line, n));
		if (i % 50 == 49)
			ASSERT_LT(0, jetwatt_probe_dispatch(self->probe));
	}
	ASSERT_LT(0, jetwatt_probe_dispatch(self->probe));
	self->received.nr = 0;
	for (int i = 0; i < 2; i++) {
		n = snprintf(line, sizeof(line), "begin step @%d/10/0/0\nend step @%d/10/0/0\n", 5000 + i, 6000 + i);
		ASSERT_EQ(n, write(self->fd[1], line, n));
	}
	ASSERT_EQ(4, jetwatt_probe_dispatch(self->probe));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(JETWATT_SYNC_MARK, self->received.s[2 * i + 1].call);
		EXPECT_EQ(5000 + i, (int)self->received.s[2 * i + 1].enter_ns);
		EXPECT_EQ(6000 + i, (int)self->received.s[2 * i + 1].exit_ns);
	}
	EXPECT_EQ(0, jetwatt_probe_lost(self->probe));
}

/* A buffered stream writes many marks at once. Of more than 4096 bytes, the end is lost; the last line
 * may be cut, and a part of a mark must not be reported as a mark. */
TEST_F(way, marks_cut_by_the_buffer_are_lost)
{
	struct jetwatt_probe_state st;
	char text[JETWATT_MARKS_DATAGRAM + 10];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = "step\n"[i % 5];
	ASSERT_EQ((ssize_t)sizeof(text), write(self->fd[1], text, sizeof(text)));
	ASSERT_LT(0, jetwatt_probe_dispatch(self->probe));
	EXPECT_EQ(JETWATT_MARKS_DATAGRAM / 5, self->received.nr);
	EXPECT_EQ(1, jetwatt_probe_lost(self->probe));
	jetwatt_probe_state(self->probe, &st);
	EXPECT_EQ(1, st.marks);
	/* The first 4096 bytes end with a complete line. */
	memset(text, 'x', sizeof(text));
	for (size_t i = 15; i < sizeof(text); i += 16)
		text[i] = '\n';
	ASSERT_EQ((ssize_t)sizeof(text), write(self->fd[1], text, sizeof(text)));
	ASSERT_LT(0, jetwatt_probe_dispatch(self->probe));
	EXPECT_EQ(2, jetwatt_probe_lost(self->probe));
	/* A datagram of the full length without a final newline is complete. */
	ASSERT_EQ(JETWATT_MARKS_DATAGRAM, write(self->fd[1], text + 6, JETWATT_MARKS_DATAGRAM));
	ASSERT_LT(0, jetwatt_probe_dispatch(self->probe));
	EXPECT_EQ(2, jetwatt_probe_lost(self->probe));
}

/* If a mark does not fit into the full channel, the marked program does not wait, and the mark is
 * counted as lost. */
TEST_F(way, full_channel_drops_and_counts)
{
	int sent = 0, refused = 0;

	for (int i = 0; i < 5000; i++)
		if (jetwatt_mark("step"))
			refused++;
		else
			sent++;
	EXPECT_LT(100, sent);
	ASSERT_LT(0, refused);
	while (self->received.nr < sent)
		ASSERT_LT(0, jetwatt_probe_dispatch(self->probe));
	EXPECT_EQ(0, jetwatt_mark("step"));
	EXPECT_EQ(1, jetwatt_probe_dispatch(self->probe));
	EXPECT_EQ(refused, (int)jetwatt_probe_lost(self->probe));
}

/* If the measuring process has ended, the marked program neither dies nor blocks. */
TEST_F(way, program_survives_without_a_reader)
{
	EXPECT_EQ(0, jetwatt_mark("step"));
	shutdown(self->fd[0], SHUT_RDWR);
	EXPECT_EQ(0, jetwatt_mark("step"));
}

/* A program that writes marks without libjetwatt survives if the reader of the marks is killed. The
 * channel is a datagram socket, because writing to a pipe or to a stream socket without a reader would
 * raise SIGPIPE. */
TEST(program_survives_a_killed_reader)
{
	int fd[2];

	ASSERT_EQ(0, jetwatt_mark_pair(fd));
	close(fd[0]);
	EXPECT_EQ(-1, write(fd[1], "step\n", 5));
	close(fd[1]);
}

TEST(without_measurement_marks_do_nothing)
{
	unsetenv("JETWATT_MARK_FD");
	EXPECT_EQ(0, jetwatt_mark("step"));
	EXPECT_EQ(0, jetwatt_mark_begin("step"));
}

/* A program that was started without its parent's descriptors may have a file of its own, or another
 * socket, at the number in JETWATT_MARK_FD. */
TEST(marks_are_not_written_to_other_files)
{
	int file = open(".", O_TMPFILE | O_RDWR, 0600), fd[2];
	char byte;

	if (file < 0)
		SKIP(return, "this filesystem has no unnamed files");
	set_mark_fd(file);
	EXPECT_EQ(0, jetwatt_mark("step"));
	EXPECT_EQ(0, lseek(file, 0, SEEK_END));
	/* A socket that takes the number after the first mark gets no mark either. */
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd));
	ASSERT_EQ(file, dup2(fd[1], file));
	EXPECT_EQ(0, jetwatt_mark("step"));
	EXPECT_EQ(-1, recv(fd[0], &byte, 1, MSG_DONTWAIT));
}

TEST(marks_are_not_sent_to_other_sockets)
{
	int fd[2];
	char byte;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	set_mark_fd(fd[1]);
	EXPECT_EQ(0, jetwatt_mark("step"));
	EXPECT_EQ(-1, recv(fd[0], &byte, 1, MSG_DONTWAIT));
}

/* A program that closes the descriptor after its first mark gives the number to its next file. */
TEST_F(way, marks_arrive_after_the_number_is_used_again)
{
	int file = open(".", O_TMPFILE | O_RDWR, 0600);

	if (file < 0)
		SKIP(return, "this filesystem has no unnamed files");
	EXPECT_EQ(0, jetwatt_mark("step"));
	ASSERT_EQ(self->fd[1], dup2(file, self->fd[1]));
	EXPECT_EQ(0, jetwatt_mark("step"));
	EXPECT_EQ(0, lseek(file, 0, SEEK_END));
	EXPECT_EQ(2, jetwatt_probe_dispatch(self->probe));
}

TEST_HARNESS_MAIN
