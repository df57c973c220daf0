/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Modes in which the GPU is not accessed: partitioned (MIG), or closed to the
 * CPU (confidential computing).
 */
#ifndef NVDEBUG_CORE_MODES_H
#define NVDEBUG_CORE_MODES_H

enum nvdebug_mode {
	NVDEBUG_MODE_NONE,	/* the chip has no such mode */
	NVDEBUG_MODE_UNKNOWN,
	NVDEBUG_MODE_OFF,
	NVDEBUG_MODE_ON,
};

struct nvdebug_modes {
	enum nvdebug_mode mig;
	enum nvdebug_mode cc;
};

#endif
