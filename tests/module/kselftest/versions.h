/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Lists of which the model submits one version after the other, so that a
 * mixture of two is detected ("Versions of a runlist" in docs/model.md).
 */
#ifndef VERSIONS_H
#define VERSIONS_H

#include "gpus.h"

/* A list as the workload has it. */
struct versions {
	unsigned int runlist;
	size_t count;
	char *tsgs[256]; /* malloc()ed: the titles of a TSG and its channels */
	unsigned int ids[256];
};

enum version {
	VERSION_WHOLE,
	VERSION_TORN, /* and marked so */
	VERSION_MIXED,
};

/* From a runlist file, before the first version is submitted. */
void versions_learn(struct versions *versions, unsigned int runlist,
		    const char *text);
void versions_forget(struct versions *versions);

/* What a runlistY or runlistY_brief shows; a mixture is noted. */
enum version versions_of_runlist(const struct versions *versions,
				 const char *text);
/* The same of `contexts`, which is never torn. */
enum version versions_of_contexts(const struct versions *versions,
				  const char *text);

#endif
