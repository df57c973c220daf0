/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_SECURITY_H
#define SHIM_LINUX_SECURITY_H

#include <shim.h>

#define security_locked_down(what)	(shim.locked_down)

#endif
