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
 * A walk makes the 1st, the 2nd, the 3rd, … of what can fail in this task fail,
 * each in a run of its own:
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
	unsigned int left; /* that the run would have had to go on for its failure */
	bool hit; /* it had it */
};

#define FAULTS_NEVER 100000

extern unsigned long faults_every; /* 1; of so many only one fails */

struct faults faults_walk(void);
struct faults faults_walk_from(unsigned int nth);
bool faults_more(struct faults *walk);
void faults_arm(const struct faults *walk);
void faults_disarm(struct faults *walk); /* errno stays */

/*
 * From now until faults_never() so many in a hundred of what can fail in this
 * process do. errno stays.
 */
void faults_often(unsigned int percent);
void faults_never(void);

/* Is it what a failed allocation or copy is reported as? */
bool faults_errno(int error);

/*
 * Counts a run for faults_note(), and fails the test if it was refused (`error`
 * is not 0) for another reason than its failure.
 */
void faults_count(const struct faults *walk, int error, const char *what);
void faults_note(void);

#endif
