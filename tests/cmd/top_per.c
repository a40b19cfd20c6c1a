// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=4 icount timeout=120 files="/lib/terminfo/l/linux:/lib/terminfo/l/linux" modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
/*
 * Test jetwatt top --per on a terminal, on the simulated board: the row of the work unit must have
 * the energy and time per minibatch of a training job that counts its minibatches in a file.
 */
#include "test_board.h"

#include <poll.h>
#include <pty.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"

#define COUNT	"/tmp/top_per.count"
#define WINDOW_S	8	/* of jetwatt top, after the key + */

static const char job[] =
	"train --progress 1 | { n=0; while read -r word _; do [ $word = step ] || continue\n"
	"n=$((n + 1)); echo $n > " COUNT ".new; mv " COUNT ".new " COUNT "; done; }";

struct point {
	double t_ns, uj, units;
};

static struct point now(void)
{
	struct point p = { .t_ns = truth("t_ns"), .uj = truth("energy_uj") };
	char line[128];

	if (!get_line(COUNT, line, sizeof(line)))
		p.units = strtod(line, NULL);
	return p;
}

static pid_t spawn_job(void)
{
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", job, NULL);
		_exit(127);
	}
	setpgid(pid, pid);
	return pid;
}

/* Read the terminal for a time, and append to @text; start again when it is full. */
static void collect(int fd, int ms, char *text, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t until = now_ns() + ms * 1000000ull, t;
	size_t n = strlen(text);
	ssize_t got;

	while ((t = now_ns()) < until && poll(&p, 1, (until - t) / 1000000 + 1) > 0) {
		if (n + 4096 > size)
			n = 0;
		got = read(fd, text + n, 4095);
		if (got <= 0)
			return;
		n += got;
		text[n] = '\0';
	}
}

/* Replace each control sequence by a space. */
static void plain(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == 27 && text[1] == '[') {
			for (text += 2; *text && !(*text >= '@' && *text <= '~'); text++)
				;
			*to++ = ' ';
			if (!*text)
				break;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

TEST(row_of_a_unit)
{
	static const struct winsize size = { .ws_row = 30, .ws_col = 100 }, other = { 31, 100, 0, 0 };
	static char text[1 << 20];
	double joule = 0, ms = 0, per_s = 0, j, m;
	struct point a, b;
	pid_t jobs, top;
	char *row;
	int fd, status;

	ASSERT_TRUE(!mkdir("/dev/pts", 0755) || errno == EEXIST);
	ASSERT_EQ(0, mount("devpts", "/dev/pts", "devpts", 0, "ptmxmode=0666,mode=0620"));
	jobs = spawn_job();
	ASSERT_LT(0, jobs);
	sleep_us(3000000);
	top = forkpty(&fd, NULL, NULL, &size);
	ASSERT_LE(0, top);
	if (!top) {
		setenv("TERM", "linux", 1);
		execlp("jetwatt", "jetwatt", "top", "--per", "step=" COUNT, NULL);
		_exit(127);
	}
	collect(fd, 2000, text, sizeof(text));
	EXPECT_EQ(1, write(fd, "+", 1));
	a = now();
	collect(fd, WINDOW_S * 1000 + 500, text, sizeof(text));
	/* After a resize, the whole screen is drawn. */
	text[0] = '\0';
	EXPECT_EQ(0, ioctl(fd, TIOCSWINSZ, &other));
	collect(fd, 500, text, sizeof(text));
	b = now();
	EXPECT_EQ(1, write(fd, "q", 1));
	EXPECT_EQ(top, waitpid(top, &status, 0));
	EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status));
	kill(-jobs, SIGKILL);
	waitpid(jobs, NULL, 0);

	plain(text);
	row = strstr(text, "step");
	ASSERT_NE(NULL, row) {
		TH_LOG("%s", text);
	}
	EXPECT_EQ(3, sscanf(row + 4, "%lf %lf %lf", &joule, &ms, &per_s)) {
		TH_LOG("%.80s", row);
	}
	j = (b.uj - a.uj) * 1e-6 / (b.units - a.units);
	m = (b.t_ns - a.t_ns) * 1e-6 / (b.units - a.units);
	TH_LOG("jetwatt top: %g J, %g ms, %g /s; the plant: %g J, %g ms, of %g steps", joule, ms, per_s,
	       j, m, b.units - a.units);
	EXPECT_GT(0.03, fabs(joule / j - 1));
	EXPECT_GT(0.03, fabs(ms / m - 1));
	EXPECT_GT(0.01, fabs(per_s * ms / 1e3 - 1));
}

TEST_HARNESS_MAIN
