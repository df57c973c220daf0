/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/**
 * @file engine_mark.h
 * @brief An engine marks when it has requests: two lines in its loop.
 *
 *     nvdebug_mark("busy");    // a request came, and there was none
 *     nvdebug_mark("idle");    // the last request has ended
 *
 * For the goals ttft and tpot it makes three marks for each request in place of these: "request ID",
 * "first ID" with the first token, and "end ID TOKENS". From them nvqos also sees when it is busy.
 *
 * nvqos with `--socket` then pauses the neighbours of an engine with the goal `latency` while it is
 * busy (docs/qos.md). The call sends a datagram, takes about 2 us, and never waits: if nvqos does not
 * run, or is behind, the mark is lost. It is for the process that uses the GPU, and needs no library.
 * The Python of it is `nvdebugctl.mark()`.
 */
#ifndef NVDEBUG_ENGINE_MARK_H
#define NVDEBUG_ENGINE_MARK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/** The usual place of nvqos' socket for marks; the variable NVDEBUG_MARKS names another one. */
#define NVDEBUG_MARKS_PATH "/run/nvdebug/nvqos.sock.marks"

/**
 * Sends a mark. May be called by several threads at once.
 *
 * @param text "busy", "idle", "request ID", "first ID" or "end ID TOKENS", below 100 bytes
 * @return 0, or an errno: the mark was not sent (ENOENT or ECONNREFUSED: no nvqos takes marks;
 *         EAGAIN: it is behind)
 */
static inline int nvdebug_mark(const char *text)
{
	static int shared = -1;
	int own = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
	struct sockaddr_un to;
	struct timespec now;
	const char *path = getenv("NVDEBUG_MARKS");
	char message[128];
	int length;

	if (own < 0) {
		int none = -1;

		own = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (own < 0)
			return errno;
		if (!__atomic_compare_exchange_n(&shared, &none, own, 0, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE)) {
			close(own);
			own = none;
		}
	}
	if (!path)
		path = NVDEBUG_MARKS_PATH;
	memset(&to, 0, sizeof(to));
	to.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(to.sun_path))
		return ENAMETOOLONG;
	strcpy(to.sun_path, path);
	clock_gettime(CLOCK_MONOTONIC, &now);
	length = snprintf(message, sizeof(message), "%lld%09ld - %s", (long long)now.tv_sec,
			  now.tv_nsec, text);
	if (length < 0 || (size_t)length >= sizeof(message))
		return EMSGSIZE;
	if (sendto(own, message, (size_t)length, MSG_NOSIGNAL, (const struct sockaddr *)&to,
		   sizeof(to)) < 0)
		return errno;
	return 0;
}

#endif
