// SPDX-License-Identifier: GPL-2.0-only
/* libbpf has one print function per process: threads that use libjetwatt leave it as it was. */
#include <bpf/libbpf.h>
#include <pthread.h>

#include "kselftest_harness.h"

#include "jetwatt.h"
#include "lib/libbpf_print.h"

static _Atomic int by_program, by_library;
static pthread_barrier_t turn;

static int program_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	by_program++;
	return 0;
}

static int library_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	by_library++;
	return 0;
}

/* Make libbpf print a message. */
static void fail_in_libbpf(void)
{
	struct bpf_object *o = bpf_object__open("/nonexistent.o");

	if (!libbpf_get_error(o))
		bpf_object__close(o);
}

static void *open_often(void *arg)
{
	struct jetwatt_arrivals *a;

	for (int i = 0; i < 200000; i++)
		jetwatt_arrivals_open(&a, "/nonexistent");
	return arg;
}

TEST(print_function_is_restored_by_threads)
{
	pthread_t thread[4];

	libbpf_set_print(program_print);
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, open_often, NULL));
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	EXPECT_TRUE(libbpf_set_print(NULL) == program_print);
}

static void *redirect(void *arg)
{
	jetwatt_libbpf_print_begin(library_print);
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);	/* the other thread has ended its redirection */
	fail_in_libbpf();
	jetwatt_libbpf_print_end();
	return arg;
}

TEST(messages_of_other_threads_go_to_the_program)
{
	pthread_t thread;

	libbpf_set_print(program_print);
	pthread_barrier_init(&turn, NULL, 2);
	jetwatt_libbpf_print_begin(library_print);
	ASSERT_EQ(0, pthread_create(&thread, NULL, redirect, NULL));
	pthread_barrier_wait(&turn);
	fail_in_libbpf();
	EXPECT_LT(0, by_library);
	jetwatt_libbpf_print_end();
	by_library = 0;
	EXPECT_EQ(0, by_program);
	fail_in_libbpf();
	EXPECT_LT(0, by_program);
	by_program = 0;
	pthread_barrier_wait(&turn);
	pthread_join(thread, NULL);
	EXPECT_LT(0, by_library);
	EXPECT_EQ(0, by_program);
	EXPECT_TRUE(libbpf_set_print(NULL) == program_print);
}

TEST_HARNESS_MAIN
