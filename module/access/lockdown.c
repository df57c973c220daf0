// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitmap.h>
#include <linux/bitops.h>

#include "access/lockdown.h"

static DECLARE_BITMAP(refused, LOCKDOWN_CONFIDENTIALITY_MAX);

bool nvdebug_known_locked_down(enum lockdown_reason what)
{
	return test_bit(what, refused);
}

bool nvdebug_locked_down(enum lockdown_reason what)
{
	if (nvdebug_known_locked_down(what))
		return true;
	if (!security_locked_down(what))
		return false;
	set_bit(what, refused);
	return true;
}
