// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/device.h>

#define CREATE_TRACE_POINTS
#include "host/trace.h"
