// SPDX-License-Identifier: GPL-2.0-only
/* The check of the kernel module's signature by jetwatt doctor, in simulated system directories. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/doctor/module_signature.c"

#include "kselftest_harness.h"

#define RELEASE	"6.8.12-tegra"

FIXTURE(system) {
	char root[64];
};

static void put(const char *root, const char *path, const char *text)
{
	char full[256], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

FIXTURE_SETUP(system)
{
	strcpy(self->root, "/tmp/sign.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->root));
}

FIXTURE_TEARDOWN(system)
{
	char cmd[96];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", self->root);
	EXPECT_EQ(0, system(cmd));
}

#define ENFORCE		"/sys/module/module/parameters/sig_enforce"
#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define INSTALLED	"/lib/modules/" RELEASE "/updates/dkms/jetwatt.ko"

TEST_F(system, unsigned_module_is_allowed)
{
	EXPECT_EQ(JETWATT_SIGNATURE_NOT_ENFORCED,
		  jetwatt_module_signature_check(self->root, RELEASE, false));
	put(self->root, ENFORCE, "N\n");
	put(self->root, LOCKDOWN, "[none] integrity confidentiality\n");
	EXPECT_EQ(JETWATT_SIGNATURE_NOT_ENFORCED,
		  jetwatt_module_signature_check(self->root, RELEASE, true));
}

TEST_F(system, lockdown_requires_a_signature)
{
	put(self->root, LOCKDOWN, "none [integrity] confidentiality\n");
	EXPECT_EQ(JETWATT_SIGNATURE_NO_MODULE,
		  jetwatt_module_signature_check(self->root, RELEASE, false));
	EXPECT_EQ(JETWATT_SIGNATURE_TRUSTED,
		  jetwatt_module_signature_check(self->root, RELEASE, true));
}

TEST_F(system, unsigned_or_untrusted_module_is_rejected)
{
	put(self->root, ENFORCE, "Y\n");
	put(self->root, INSTALLED, "ELF");
	EXPECT_EQ(JETWATT_SIGNATURE_MISSING,
		  jetwatt_module_signature_check(self->root, RELEASE, false));
	put(self->root, INSTALLED, "ELF, and what is not quite " MARK "!");
	EXPECT_EQ(JETWATT_SIGNATURE_MISSING,
		  jetwatt_module_signature_check(self->root, RELEASE, false));
	put(self->root, INSTALLED, "ELF" MARK);
	EXPECT_EQ(JETWATT_SIGNATURE_UNVERIFIED,
		  jetwatt_module_signature_check(self->root, RELEASE, false));
	EXPECT_EQ(JETWATT_SIGNATURE_TRUSTED,
		  jetwatt_module_signature_check(self->root, RELEASE, true));
	EXPECT_EQ(JETWATT_SIGNATURE_NO_MODULE,
		  jetwatt_module_signature_check(self->root, "5.10.104-tegra", false));
}

TEST_HARNESS_MAIN
