/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Allocations and copies to and from user space that are made to fail
 * (Documentation/fault-injection of the kernel).
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>

/* Skips the test if this kernel has no fault injection. */
void faults_need(void);

/*
 * A walk makes the 1st, the 2nd, the 3rd, … allocation or copy of this task
 * fail, each in a run of its own:
 *
 *	for (walk = faults_walk(); faults_more(&walk);) {
 *		faults_arm(&walk);
 *		system call; its result is kept
 *		faults_disarm(&walk);
 *		look at what became of it
 *	}
 *
 * The last run has no failure in it.
 */
struct faults {
	unsigned int nth;
	/*
	 * Allocations and copies that the run would still have needed to fail.
	 */
	unsigned int left;
	bool hit; /* the run had its failure */
};

#define FAULTS_NEVER 100000

extern unsigned long faults_every; /* one of so many is made to fail */

struct faults faults_walk(void);
struct faults faults_walk_from(unsigned int nth);
bool faults_more(struct faults *walk);
void faults_arm(const struct faults *walk);
void faults_disarm(struct faults *walk); /* does not change errno */

/*
 * Makes `percent` of the allocations and copies of this process fail, until
 * faults_never(). Does not change errno.
 */
void faults_often(unsigned int percent);
void faults_never(void);

/* Returns whether a failed allocation or copy is reported as this errno. */
bool faults_errno(int error);

/*
 * Counts a run for faults_note(). Fails the test if the run was refused
 * (`error` is not 0) for another reason than its failure.
 */
void faults_count(const struct faults *walk, int error, const char *what);
void faults_note(void);

#endif
