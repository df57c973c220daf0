// SPDX-License-Identifier: MIT OR GPL-2.0
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/string.h>

#include "access/params.h"

struct nvdebug_params nvdebug_params = {
	.burst_us = 300,
	.state_uid = -1,
	.state_gid = -1,
};

/* The names of enum nvdebug_pram_window's values. */
static const char * const pram_windows[] = { "auto", "never" };

static char *pram_window = "auto";
module_param(pram_window, charp, 0444);
MODULE_PARM_DESC(pram_window,
		 "May the window into video memory be moved? auto (default): while no driver is bound; never");
module_param_named(burst_us, nvdebug_params.burst_us, uint, 0444);
MODULE_PARM_DESC(burst_us,
		 "Microseconds after which reading through that window turns interrupts on for a moment (default: 300)");
module_param_named(read_only, nvdebug_params.read_only, bool, 0444);
MODULE_PARM_DESC(read_only, "Refuse every write to a control file (default: no)");
module_param_named(state_uid, nvdebug_params.state_uid, int, 0444);
MODULE_PARM_DESC(state_uid,
		 "User that may read scheduling state (default: root only)");
module_param_named(state_gid, nvdebug_params.state_gid, int, 0444);
MODULE_PARM_DESC(state_gid,
		 "Group that may read scheduling state (default: none, root only)");
module_param_named(state_all, nvdebug_params.state_all, bool, 0444);
MODULE_PARM_DESC(state_all,
		 "Everybody may read scheduling state, but without addresses (default: no)");

int nvdebug_params_check(void)
{
	int window = sysfs_match_string(pram_windows, pram_window);

	if (window < 0) {
		pr_err("pram_window=%s: must be auto or never\n",
		       pram_window);
		return -EINVAL;
	}
	nvdebug_params.pram_window = window;
	if (nvdebug_params.state_uid < -1) {
		pr_err("state_uid=%d: not a user\n", nvdebug_params.state_uid);
		return -EINVAL;
	}
	if (nvdebug_params.state_gid < -1) {
		pr_err("state_gid=%d: not a group\n", nvdebug_params.state_gid);
		return -EINVAL;
	}
	return 0;
}
