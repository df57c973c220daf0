/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Failures, as faults.h has them, in the kernel's workers: where the module
 * looks for GPUs that have come. Which of them does that is not known, so it is
 * the n-th of each.
 */
#ifndef WORKERS_H
#define WORKERS_H

void workers_arm(unsigned int nth);
/* How many more the one that has come closest to its n-th would have had. */
unsigned int workers_disarm(void);

#endif
