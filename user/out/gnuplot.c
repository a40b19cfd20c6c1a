// SPDX-License-Identifier: GPL-2.0-only
/* Draws SVG and PNG files by running gnuplot as a child process. */
#include "out/report.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/outfile.h"

extern char **environ;

/* Open a file in memory that has no name (memfd). Unlike a pipe, such a file never blocks this
 * process or the child process gnuplot. */
static int open_scratch(int *fd)
{
	*fd = memfd_create("jetwatt-plot", MFD_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

static int write_script(int fd, const struct jetwatt_report *r, enum jetwatt_gnuplot what, int png)
{
	int copy = dup(fd), err;
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");

	if (!f) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		return err;
	}
	err = jetwatt_gnuplot_script(f, r, what, png);
	if (fclose(f) && !err)
		err = -EIO;
	return err ? err : lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static int run_gnuplot(int in, int out, int said)
{
	/* -d: ignore the user's gnuplot settings. */
	char *argv[] = { "gnuplot", "-d", "-", NULL };
	posix_spawn_file_actions_t a;
	int err, status;
	pid_t pid;

	err = -posix_spawn_file_actions_init(&a);
	if (err)
		return err;
	posix_spawn_file_actions_adddup2(&a, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&a, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&a, said, STDERR_FILENO);
	err = -posix_spawnp(&pid, "gnuplot", &a, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&a);
	if (err)
		return err == -ENOENT || err == -EACCES ? -ENOEXEC : err;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EPROTO;
}

/* Copy to @why the first line of gnuplot's messages that contains a lower-case letter. */
static void first_message(int fd, char *why, size_t len)
{
	ssize_t n = pread(fd, why, len - 1, 0);
	char *line;

	why[n > 0 ? n : 0] = '\0';
	for (line = strtok(why, "\n"); line; line = strtok(NULL, "\n"))
		if (strpbrk(line, "abcdefghijklmnopqrstuvwxyz")) {
			memmove(why, line, strlen(line) + 1);
			return;
		}
	why[0] = '\0';
}

int jetwatt_gnuplot(const char *path, const struct jetwatt_report *r, enum jetwatt_gnuplot what,
		    char *why, size_t len)
{
	const char *end = strrchr(path, '.');
	int in = -1, said = -1, err;
	struct jetwatt_outfile out;
	struct stat st;

	why[0] = '\0';
	if (!end || (strcmp(end, ".svg") && strcmp(end, ".png")))
		return -EINVAL;
	err = jetwatt_outfile_open(&out, path, 0666);
	if (err)
		return err;
	err = open_scratch(&in);
	if (!err)
		err = open_scratch(&said);
	if (!err)
		err = write_script(in, r, what, !strcmp(end, ".png"));
	if (!err)
		err = run_gnuplot(in, fileno(out.f), said);
	if (!err && !fstat(fileno(out.f), &st) && S_ISREG(st.st_mode) && !st.st_size)
		err = -EPROTO;
	if (err == -EPROTO)
		first_message(said, why, len);
	err = jetwatt_outfile_end(&out, err);
	if (in >= 0)
		close(in);
	if (said >= 0)
		close(said);
	return err;
}
