/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Lists that the model submits in one version after the other, so that a
 * mixture of two is detected ("Versions of a runlist" in docs/model.md).
 */
#ifndef VERSIONS_H
#define VERSIONS_H

#include "gpus.h"

/* A list of the workload. */
struct versions {
	unsigned int runlist;
	size_t count;
	/* The titles of each TSG and its channels; malloc()ed. */
	char *tsgs[256];
	unsigned int ids[256];
};

enum version {
	VERSION_WHOLE,
	VERSION_TORN, /* marked as torn */
	VERSION_MIXED,
};

/* Reads the list from a runlist file, before the first version is submitted. */
void versions_learn(struct versions *versions, unsigned int runlist,
		    const char *text);
void versions_forget(struct versions *versions);

/* Returns the version in a runlistY or runlistY_brief; a mixture is noted. */
enum version versions_of_runlist(const struct versions *versions,
				 const char *text);
/* Returns the version in `contexts`, which is never torn. */
enum version versions_of_contexts(const struct versions *versions,
				  const char *text);

#endif
