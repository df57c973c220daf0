/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Asks the nvqos of this node over its socket. A request is one line, and so is
 * its answer. No call takes longer than its time limit, even if nvqos hangs.
 */
#ifndef NVDEBUG_SLURM_SERVICE_H
#define NVDEBUG_SLURM_SERVICE_H

#include "options.h"

/* Bytes of the longest answer that is taken, which is about 32 GPUs. */
#define ENTRIES_SIZE 8192

struct service {
	const char *path;
	int timeout_ms; /* for a request and its answer */
};

enum answer {
	ANSWER_OK,
	/* The goal cannot be kept; the sentence has the numbers. */
	ANSWER_REFUSED,
	ANSWER_ERROR, /* nvqos failed */
	ANSWER_NONE, /* there is no nvqos, or it does not answer */
};

/*
 * Sends a line, which has no line feed. The sentence is nvqos's own, without what
 * does not fit into @size bytes, and empty if an "ok" comes without one. With
 * ANSWER_NONE, the sentence explains why there is no answer.
 */
enum answer service_ask(const struct service *service, const char *line,
			char *sentence, size_t size);

#endif
