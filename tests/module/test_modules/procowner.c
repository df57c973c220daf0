// SPDX-License-Identifier: MIT OR GPL-2.0
/* Owns /proc/gpu0, as another module that inspects GPUs would. */
#include <linux/module.h>
#include <linux/proc_fs.h>

static struct proc_dir_entry *folder;

static int __init procowner_init(void)
{
	folder = proc_mkdir("gpu0", NULL);
	return folder ? 0 : -ENOMEM;
}

static void __exit procowner_exit(void)
{
	proc_remove(folder);
}

module_init(procowner_init);
module_exit(procowner_exit);
MODULE_DESCRIPTION("Owns /proc/gpu0 for a test");
MODULE_LICENSE("Dual MIT/GPL");
