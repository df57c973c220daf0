/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The nvqos of this node, behind its socket: one line is asked, one line is
 * the answer. No call takes longer than its time limit, whatever nvqos does.
 */
#ifndef NVDEBUG_SLURM_SERVICE_H
#define NVDEBUG_SLURM_SERVICE_H

#include "options.h"

struct service {
	const char *path;
	int timeout_ms; /* of one request with its answer */
};

enum answer {
	ANSWER_OK,
	ANSWER_REFUSED, /* it cannot be kept; the sentence has the numbers */
	ANSWER_ERROR,	/* nvqos could not do it */
	ANSWER_NONE,	/* there is no nvqos, or it gives no answer */
};

/*
 * Sends a line, which has no line feed. The sentence is nvqos's own, empty
 * with an "ok" that has none; with ANSWER_NONE, why there is no answer.
 */
enum answer service_ask(const struct service *service, const char *line,
			char sentence[static SENTENCE_SIZE]);

#endif
