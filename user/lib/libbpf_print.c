// SPDX-License-Identifier: LGPL-2.1-only
#include "lib/libbpf_print.h"

#include <pthread.h>

static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int redirected;		/* number of threads that redirect messages; print_lock */
/* The print function of the program, which print_of_thread() has replaced. Written with print_lock
 * held. */
static libbpf_print_fn_t program_print;
static _Thread_local libbpf_print_fn_t thread_print;	/* NULL: this thread does not redirect */

static int print_of_thread(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	libbpf_print_fn_t print = thread_print;

	if (!print)
		print = __atomic_load_n(&program_print, __ATOMIC_RELAXED);
	return print ? print(level, fmt, ap) : 0;
}

/* The lock is not held while the thread uses libbpf, because loading a program takes long. */
void jetwatt_libbpf_print_begin(libbpf_print_fn_t print)
{
	thread_print = print;
	pthread_mutex_lock(&print_lock);
	if (!redirected++)
		__atomic_store_n(&program_print, libbpf_set_print(print_of_thread), __ATOMIC_RELAXED);
	pthread_mutex_unlock(&print_lock);
}

void jetwatt_libbpf_print_end(void)
{
	pthread_mutex_lock(&print_lock);
	if (!--redirected)
		libbpf_set_print(program_print);
	pthread_mutex_unlock(&print_lock);
	thread_print = NULL;
}
