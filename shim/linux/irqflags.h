/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_IRQFLAGS_H
#define SHIM_LINUX_IRQFLAGS_H

#define local_irq_save(flags)		((void)((flags) = 0))
#define local_irq_restore(flags)	((void)(flags))

#endif
