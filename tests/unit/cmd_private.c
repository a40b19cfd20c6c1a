// SPDX-License-Identifier: GPL-2.0-only
/* Private data that a board report must hide, and data that it must keep. */
#include "board_tree.h"
#include "kselftest_harness.h"

#include "../../user/cmd/doctor/report_private.c"

FIXTURE(board) {
	struct tree t;
	struct jetwatt_private p;
};

FIXTURE_SETUP(board) {
	tree_orin(&self->t);
	tree_put(&self->t, "proc/device-tree/serial-number", "1421123029384");
	tree_put(&self->t, "etc/machine-id", "5f3c9a17e2b84d60a1c7f2e94b8d3306\n");
	tree_put(&self->t, "proc/cmdline", "root=PARTUUID=8a3e51c0-11aa-4c5e-a0bb-000000000001 "
		 "androidboot.serialno=0424419023765 console=ttyTCU0\n");
	tree_put(&self->t, "etc/passwd", "root:x:0:0::/root:/bin/sh\n"
		 "alice:x:1000:1000::/home/alice:/bin/sh\nnvidia:x:1001:1001::/home/nvidia:/bin/sh\n"
		 "daemon:x:2:2::/:/bin/sh\n");
	unsetenv("SUDO_USER");
	jetwatt_private_find(&self->p, self->t.root);
}

FIXTURE_TEARDOWN(board) {
	tree_free(&self->t);
}

TEST_F(board, private_data_is_hidden)
{
	static const struct { const char *text, *shown; } t[] = {
		{ "libcuda in /home/alice/cuda/lib64", "libcuda in /home/[user]/cuda/lib64" },
		{ "/home/bob", "/home/[user]" },
		{ "held by alice, pid 5", "held by [name], pid 5" },
		{ "board 1421123029384 is", "board [id] is" },
		{ "x0424419023765x", "x[id]x" },
		{ "5F3C9A17E2B84D60A1C7F2E94B8D3306", "[id]" },
		{ "8a3e51c0-11aa-4c5e-a0bb-000000000001", "[id]" },
		{ "6f0d2c1e-0000-4000-8000-000000000001", "[id]" },
		{ "eth0 48:b0:2d:7A:11:05 up", "eth0 [address] up" },
		/* data that identifies nobody */
		{ "malice, alice_2 and alices", "malice, alice_2 and alices" },
		{ "nvidia,p3701-0000 tegra root daemon", "nvidia,p3701-0000 tegra root daemon" },
		{ "12:34:56 and 00:11:22:33:44:55:66", "12:34:56 and 00:11:22:33:44:55:66" },
		{ "5.15.148-tegra", "5.15.148-tegra" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char *s = jetwatt_private_hide(&self->p, t[i].text, true);

		EXPECT_STREQ(t[i].shown, s);
		free(s);
	}
}

/* Labels of rails come from the vendor, so a label is not hidden even if it equals a user's
 * name. */
TEST_F(board, user_names_are_hidden_in_free_text_only)
{
	char *s = jetwatt_private_hide(&self->p, "\"label\": \"alice\", \"x\": \"/home/alice\"", false);

	EXPECT_STREQ("\"label\": \"alice\", \"x\": \"/home/[user]\"", s);
	free(s);
}

TEST_HARNESS_MAIN
