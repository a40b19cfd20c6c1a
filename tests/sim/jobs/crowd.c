// SPDX-License-Identifier: GPL-2.0-only
/*
 * A job with very many idle tasks: PROCESSES processes with THREADS threads each.
 * The program prints "ready" when all tasks run, and exits after SECONDS seconds.
 *
 *   crowd PROCESSES THREADS SECONDS
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void process(int threads, int ready, int go)
{
	pthread_attr_t attr;
	pthread_t thread;
	char c;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	for (int i = 1; i < threads; i++) {
		errno = pthread_create(&thread, &attr, nothing, NULL);
		if (errno) {
			perror("crowd: thread");
			_exit(1);
		}
	}
	/* A child process ends when its parent closes the pipe. */
	if (write(ready, "r", 1) != 1 || read(go, &c, 1) < 0)
		_exit(1);
	_exit(0);
}

int main(int argc, char **argv)
{
	int ready[2], go[2], failed = 0, status, n;
	char c;

	if (argc != 4 || pipe(ready) || pipe(go)) {
		fprintf(stderr, "usage: crowd PROCESSES THREADS SECONDS\n");
		return 2;
	}
	n = atoi(argv[1]);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			close(go[1]);
			process(atoi(argv[2]), ready[1], go[0]);
		}
	}
	close(ready[1]);
	for (int i = 0; i < n; i++)
		failed |= read(ready[0], &c, 1) != 1;
	puts("ready");
	fflush(stdout);
	sleep(atoi(argv[3]));
	close(go[1]);
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
