/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Requests that are undone when the file is closed. */
#ifndef LEASES_H
#define LEASES_H

#include "controls.h"

/* Can this control be leased? */
bool is_leasable(const char *file);

/*
 * Of working_requests() those that can be leased and change something that can
 * be read. Skips the test if there are none.
 */
size_t need_leases(const struct gpu *gpu, struct request requests[REQUESTS_MAX]);

/* Writes "lease " and the request; 0, or why it failed. */
int lease_through(int fd, const char *text);

/* The descriptor of a lease; ends the test if it is refused. */
int lease(const struct gpu *gpu, const char *file, const char *text);

/* Several leases and their end. */
void lease_all(const struct gpu *gpu, const struct request *requests,
	       size_t count, int *fds);
void close_all(const int *fds, size_t count);

#endif
