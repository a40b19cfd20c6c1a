// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a command for which uname(2) returns a kernel version 2.6.x, which stands for a kernel that
 * is too old for jetwatt. Without arguments, as the test runner calls it, the program tests itself.
 */
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/utsname.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct utsname u;

	personality(PER_LINUX | UNAME26);
	if (argc > 1) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		return 127;
	}
	uname(&u);
	printf("TAP version 13\n1..1\n%s 1 the kernel says %s\n",
	       strncmp(u.release, "2.6.", 4) ? "not ok" : "ok", u.release);
	return strncmp(u.release, "2.6.", 4) != 0;
}
