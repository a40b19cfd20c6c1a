// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create the device nodes on which jobs wait for the GPU: that of tsg.c, and either that of JetPack
 * 5 (nvhost.c) or those of JetPack 6 (host1x.c).
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "boards.h"
#include "drivers.h"

static char *waits;
module_param(waits, charp, 0444);
MODULE_PARM_DESC(waits, "nodes on which jobs wait for the GPU: jp5 (nvhost-ctrl) or jp6 (host1x-fence, dri/renderD128); default: the board's");

static bool is_jp5(void)
{
	return !strcmp(waits, "jp5");
}

int sim_waits_register(void)
{
	int err;

	if (!waits)
		waits = sim_model_board()->waits;
	if (!is_jp5() && strcmp(waits, "jp6")) {
		pr_err("jetwatt-sim: unknown release \"%s\"; known: jp5, jp6\n", waits);
		return -EINVAL;
	}
	err = sim_tsg_add();
	if (err)
		return err;
	err = is_jp5() ? sim_nvhost_add() : sim_host1x_add();
	if (err)
		sim_tsg_remove();
	return err;
}

void sim_waits_unregister(void)
{
	if (is_jp5())
		sim_nvhost_remove();
	else
		sim_host1x_remove();
	sim_tsg_remove();
}
