// SPDX-License-Identifier: MIT OR GPL-2.0
#include "leases.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "ktap.h"

bool is_leasable(const char *file)
{
	static const char *const files[] = { DISABLE, ENABLE, SWITCH,
					     TIMESLICE, SCHEDULING, MODE };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(file, files[i]))
			return true;
	return false;
}

/*
 * ENABLE is left out: with all channels enabled, as workloads have them, it
 * changes nothing.
 */
size_t need_leases(const struct gpu *gpu, struct request requests[REQUESTS_MAX])
{
	size_t count = need_requests(gpu, requests), kept = 0;

	for (size_t i = 0; i < count; i++)
		if (is_leasable(requests[i].file) &&
		    strcmp(requests[i].file, ENABLE))
			requests[kept++] = requests[i];
	if (!kept)
		ktap_skip("%s has no leases", gpu->name);
	return kept;
}

int lease_through(int fd, const char *text)
{
	char request[200];
	int length = snprintf(request, sizeof(request), "lease %s", text);

	return write(fd, request, (size_t)length) == length ? 0 : errno;
}

int lease(const struct gpu *gpu, const char *file, const char *text)
{
	int fd = gpu_open(gpu, file, O_WRONLY);
	int error;

	ASSERT(fd >= 0, "%s/%s: %s", gpu->name, file, strerror(errno));
	error = lease_through(fd, text);
	ASSERT(!error, "%s/%s: \"lease %s\": %s", gpu->name, file, text,
	       strerror(error));
	return fd;
}

void lease_all(const struct gpu *gpu, const struct request *requests,
	       size_t count, int *fds)
{
	for (size_t i = 0; i < count; i++)
		fds[i] = lease(gpu, requests[i].file, requests[i].text);
}

void close_all(const int *fds, size_t count)
{
	while (count)
		close(fds[--count]);
}
