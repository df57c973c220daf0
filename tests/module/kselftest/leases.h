/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Makes requests that are undone when the file is closed. */
#ifndef LEASES_H
#define LEASES_H

#include "controls.h"

/* Returns whether the control can be leased. */
bool is_leasable(const char *file);

/*
 * Finds the working_requests() that can be leased and change something that can
 * be read. Skips the test if there are none.
 */
size_t need_leases(const struct gpu *gpu, struct request requests[REQUESTS_MAX]);

/* Writes "lease " and the request. Returns 0 or its errno. */
int lease_through(int fd, const char *text);

/* Takes a lease and returns its descriptor. Ends the test if it is refused. */
int lease(const struct gpu *gpu, const char *file, const char *text);

/* Take several leases, and end them. */
void lease_all(const struct gpu *gpu, const struct request *requests,
	       size_t count, int *fds);
void close_all(const int *fds, size_t count);

#endif
