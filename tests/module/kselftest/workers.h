/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Failures (faults.h) in the kernel's workers, in which the module looks for
 * GPUs that have come. It is not known which worker does that, so the n-th
 * allocation of each worker fails.
 */
#ifndef WORKERS_H
#define WORKERS_H

void workers_arm(unsigned int nth);
/*
 * Ends the failures. Returns how many allocations the worker that came closest
 * still had before its n-th.
 */
unsigned int workers_disarm(void);

#endif
