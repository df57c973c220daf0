/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Requests at random that a GPU's controls would take. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include "controls.h"
#include "random.h"

#define REQUEST_MAX 100

/* The channels and TSGs that requests can name. */
struct named {
	struct channels channels;
	struct tsgs tsgs;
};

/* Reads the names. Ends the test if a runlist cannot be read. */
struct named named_read(const struct gpu *gpu);

/*
 * Makes a request for this file. Returns its length; 0 if there is nothing to
 * name.
 */
size_t any_request(const struct named *named, struct rng *rng, const char *file,
		   char text[REQUEST_MAX]);

#endif
