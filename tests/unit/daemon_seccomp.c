// SPDX-License-Identifier: GPL-2.0-only
/* System calls that jetwattd and jetwatt-files deny to themselves. The test makes raw system calls:
 * a sanitizer makes additional calls inside the C library's functions, which would be denied
 * too. */
#include "../../user/util/seccomp.c"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define END(status)	syscall(SYS_exit_group, status)

static volatile char word[8] = "ours";

/* Try, in a child process, calls that access process @pid, and unshare(). @fence installs the
 * filter; NULL: no filter. Return: number of the first call that is not denied; 0: all are denied;
 * 99: the filter was not installed. */
static int reaches(int (*fence)(void), pid_t pid, int fd)
{
	char text[8] = "theirs";
	struct iovec from = { text, sizeof(text) }, to = { (void *)word, sizeof(text) };
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fence && fence())
		return 99;
	if (syscall(SYS_process_vm_writev, pid, &from, 1, &to, 1, 0) >= 0 || errno != EPERM)
		return 1;
	if (syscall(SYS_process_vm_readv, pid, &from, 1, &to, 1, 0) >= 0 || errno != EPERM)
		return 2;
	if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0 || errno != EPERM)
		return 3;
	if (!syscall(SYS_ptrace, PTRACE_SEIZE, pid, NULL, NULL) || errno != EPERM)
		return 4;
	if (syscall(SYS_kcmp, pid, pid, 0, 0, 0) >= 0 || errno != EPERM)
		return 5;
	if (!syscall(SYS_unshare, 0) || errno != EPERM)
		return 6;
	return 0;
}

static int child(int (*fence)(void), pid_t pid, int fd)
{
	pid_t c = fork();
	int status;

	if (!c)
		END(reaches(fence, pid, fd));
	return waitpid(c, &status, 0) == c && WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

/* Start a waiting process as the target of the calls. The parent is no suitable target, because
 * ptrace rules treat it differently. */
static pid_t victim(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	return pid;
}

TEST(other_processes_are_out_of_reach)
{
	pid_t pid = victim();
	int fd = open("/dev/null", O_RDONLY);

	/* Without the filter, the first of the calls succeeds, so its denial in the test is due to
	 * the filter. */
	EXPECT_EQ(child(NULL, pid, fd), 1);
	EXPECT_EQ(child(jetwatt_seccomp_deny, pid, fd), 0);
	EXPECT_EQ(child(jetwatt_seccomp_links_only, pid, fd), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int go[2];

/* Body of a thread that was started before the filter was installed. */
static void *before(void *arg)
{
	const pid_t *pid = arg;
	char c, text[8] = "theirs";
	struct iovec from = { text, sizeof(text) }, to = { (void *)word, sizeof(text) };

	if (read(go[0], &c, 1) != 1)
		END(2);
	END(syscall(SYS_process_vm_writev, *pid, &from, 1, &to, 1, 0) < 0 && errno == EPERM ? 0 : 1);
	return NULL;
}

TEST(existing_threads_get_the_filter)
{
	pid_t pid = victim(), c;
	pthread_t thread;
	int status;

	ASSERT_EQ(pipe(go), 0);
	c = fork();
	if (!c) {
		if (pthread_create(&thread, NULL, before, &pid) || jetwatt_seccomp_deny())
			END(3);
		if (write(go[1], "x", 1) != 1)
			END(4);
		for (;;)
			pause();
	}
	EXPECT_EQ(waitpid(c, &status, 0), c);
	EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status)) TH_LOG("%x", status);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Without the filter, root's calls fail with another error (ENOSYS: the kernel lacks the call), because the
 * arguments are not valid, or succeed (kexec_load). */
TEST(changes_of_the_system_are_denied)
{
	static const int call[] = {
		SYS_mount, SYS_umount2, SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig,
		SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_quotactl, 443 /* quotactl_fd */, SYS_kexec_load, SYS_kexec_file_load,
		SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
	};
	pid_t c = fork();
	int status;

	if (!c) {
		if (jetwatt_seccomp_deny())
			END(99);
		for (size_t i = 0; i < sizeof(call) / sizeof(call[0]); i++)
			if (syscall(call[i], -1, NULL, 0, NULL, 0) >= 0 || errno != EPERM)
				END(i + 1);
		END(0);
	}
	ASSERT_EQ(waitpid(c, &status, 0), c);
	EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status)) TH_LOG("%x", status);
}

/* Some of the system calls that jetwattd needs still work. */
TEST(allowed_calls_still_work)
{
	pid_t c = fork();
	int status;

	if (!c) {
		int fd[2];

		if (jetwatt_seccomp_deny())
			END(1);
		if (pipe(fd) || write(fd[1], "x", 1) != 1 || open("/dev/null", O_RDWR) < 0)
			END(2);
		c = fork();
		if (!c)
			END(7);
		END(waitpid(c, &status, 0) == c && WEXITSTATUS(status) == 7 ? 0 : 3);
	}
	ASSERT_EQ(waitpid(c, &status, 0), c);
	EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status)) TH_LOG("%x", status);
}

/* jetwatt-files may read symbolic links and answer requests, but may not open or create a file or
 * start a process. */
TEST(jetwatt_files_can_only_read_links)
{
	pid_t c = fork();
	int status;

	if (!c) {
		struct sockaddr none = { .sa_family = AF_UNIX };
		pid_t parent = getppid();
		char path[64];
		int s[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s) || jetwatt_seccomp_links_only())
			END(1);
		if (syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path)) <= 0)
			END(2);
		if (syscall(SYS_sendto, s[0], "x", 1, 0, NULL, 0) != 1 ||
		    syscall(SYS_recvfrom, s[1], path, 1, 0, NULL, NULL) != 1 || syscall(SYS_close, s[0]))
			END(3);
		if (syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY) >= 0 || errno != EPERM)
			END(4);
		if (syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0) >= 0 ||
		    !syscall(SYS_connect, s[1], &none, sizeof(none)))
			END(5);
		if (syscall(SYS_write, s[1], "x", 1) >= 0 || syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0 || errno != EPERM)
			END(6);
		if (!syscall(SYS_kill, parent, 0) || errno != EPERM)
			END(7);
		END(0);
	}
	ASSERT_EQ(waitpid(c, &status, 0), c);
	EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status)) TH_LOG("%x", status);
}

TEST_HARNESS_MAIN
