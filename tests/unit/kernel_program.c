// SPDX-License-Identifier: GPL-2.0-only
/* Files that the compilation of the kernel program leaves. */
#include "../../user/job/kernel_program.c"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "kselftest_harness.h"

/* No space is left for the source of the program. */
TEST(nothing_is_left_if_the_source_cannot_be_written)
{
	struct rlimit most = { 100, 100 };
	struct jetwatt_kernel_program p;
	char dir[] = "/tmp/kernel-program-XXXXXX";

	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_EQ(0, setenv("TMPDIR", dir, 1));
	signal(SIGXFSZ, SIG_IGN);
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &most));
	EXPECT_EQ(JETWATT_EXIT_UNSUPPORTED, jetwatt_kernel_program_get(&p, NULL));
	jetwatt_kernel_program_remove(&p);
	/* Only an empty directory can be removed. */
	EXPECT_EQ(0, rmdir(dir)) {
		TH_LOG("%s: %s", dir, strerror(errno));
	}
}

TEST_HARNESS_MAIN
