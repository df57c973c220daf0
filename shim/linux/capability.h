/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Who has the core in a program of theirs may do all, unless they say otherwise. */
#ifndef SHIM_LINUX_CAPABILITY_H
#define SHIM_LINUX_CAPABILITY_H

#include <shim.h>

#define CAP_SYS_RAWIO		17
#define CAP_SYS_ADMIN		21

#define capable(capability)	(shim.lacks != (capability))

#endif
