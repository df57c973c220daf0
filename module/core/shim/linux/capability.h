/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A program with the core in it has all capabilities, unless it sets others. */
#ifndef SHIM_LINUX_CAPABILITY_H
#define SHIM_LINUX_CAPABILITY_H

#include <shim.h>

#define CAP_SYS_RAWIO		17
#define CAP_SYS_ADMIN		21

#define capable(capability)	(shim.lacks != (capability))

#endif
