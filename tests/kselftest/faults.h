/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Allocations and copies to and from user space that fail when they are told
 * to (Documentation/fault-injection of the kernel).
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>

/* Skips the test if this kernel has no fault injection. */
void faults_need(void);

/*
 * A walk makes the 1st, the 2nd, the 3rd, … of what can fail in this task fail,
 * each in a run of its own:
 *
 *	for (walk = faults_walk(); faults_more(&walk);) {
 *		faults_arm(&walk);
 *		system call, whose result is kept
 *		faults_disarm(&walk);
 *		look at what became of it
 *	}
 *
 * The last run has no failure in it.
 */
struct faults {
	unsigned int nth;
	bool hit; /* the run had its failure */
};

struct faults faults_walk(void);
bool faults_more(struct faults *walk);
void faults_arm(const struct faults *walk);
void faults_disarm(struct faults *walk); /* errno stays */

/* Is it what a failed allocation or copy is reported as? */
bool faults_errno(int error);

#endif
