/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_IRQFLAGS_H
#define SHIM_LINUX_IRQFLAGS_H

#include <shim.h>

#define local_irq_save(flags)		((flags) = shim.irqs_off, \
					 shim.irqs_off = true)
#define local_irq_restore(flags)	(shim.irqs_off = (flags))

#endif
