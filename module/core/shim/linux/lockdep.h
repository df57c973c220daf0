/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_LOCKDEP_H
#define SHIM_LINUX_LOCKDEP_H

#define lockdep_assert_held(lock) \
	do { if (!(lock)->held) abort(); } while (0)

#endif
