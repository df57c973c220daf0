// SPDX-License-Identifier: MIT OR GPL-2.0
#define _GNU_SOURCE
#include "service.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Waits until the socket is ready or the deadline has come. Returns 0 in the
 * second case.
 */
static int wait_for(int fd, short events, long deadline)
{
	for (;;) {
		struct pollfd ready = {.fd = fd, .events = events};
		long left = deadline - now_ms();
		int done = poll(&ready, 1, left > 0 ? (int)left : 0);

		if (done >= 0 || errno != EINTR)
			return done;
	}
}

/*
 * Connects to nvqos. While the socket's queue is full, a nonblocking connect()
 * fails with EAGAIN, so it is repeated.
 */
static bool join(int fd, const struct service *service, long deadline)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(service->path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(address.sun_path, service->path);
	while (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		const struct timespec pause = {.tv_nsec = 10000000};

		if (errno != EAGAIN && errno != EINTR)
			return false;
		if (now_ms() >= deadline) {
			errno = ETIMEDOUT;
			return false;
		}
		nanosleep(&pause, NULL);
	}
	return true;
}

static bool put(int fd, const char *text, size_t length, long deadline)
{
	while (length) {
		ssize_t done = send(fd, text, length, MSG_NOSIGNAL);

		if (done > 0) {
			text += done;
			length -= (size_t)done;
		} else if (errno == EAGAIN || errno == EINTR) {
			if (wait_for(fd, POLLOUT, deadline) == 0) {
				errno = ETIMEDOUT;
				return false;
			}
		} else {
			return false;
		}
	}
	return true;
}

/* Reads a line and removes its line feed. */
static bool get(int fd, char *line, size_t size, long deadline)
{
	size_t used = 0;

	for (;;) {
		ssize_t done;
		char *end;

		if (wait_for(fd, POLLIN, deadline) == 0) {
			errno = ETIMEDOUT;
			return false;
		}
		done = recv(fd, line + used, size - 1 - used, MSG_DONTWAIT);
		if (done < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (done <= 0) {
			if (done == 0)
				errno = ECONNRESET;
			return false;
		}
		used += (size_t)done;
		line[used] = 0;
		end = memchr(line, '\n', used);
		if (end) {
			*end = 0;
			return true;
		}
		if (used == size - 1) {
			errno = EMSGSIZE;
			return false;
		}
	}
}

/*
 * Returns the text after the word; NULL: the line does not begin with the word.
 */
static const char *after(const char *line, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(line, word, length) != 0)
		return NULL;
	line += length;
	return *line == ' ' ? line + 1 : *line ? NULL : line;
}

static enum answer understand(char *line, char *sentence, size_t size)
{
	static const struct {
		const char *word;
		enum answer answer;
	} words[] = {{"ok", ANSWER_OK},
		     {"refused", ANSWER_REFUSED},
		     {"error", ANSWER_ERROR}};

	for (char *at = line; *at; at++)
		if (!isprint((unsigned char)*at) && !(*at & 0x80))
			*at = '?';
	for (size_t at = 0; at < sizeof(words) / sizeof(*words); at++) {
		const char *rest = after(line, words[at].word);

		if (!rest || (!*rest && words[at].answer != ANSWER_OK))
			continue;
		snprintf(sentence, size, "%s", rest);
		return words[at].answer;
	}
	snprintf(sentence, size, "its answer '%.60s' is none of nvqos",
		 line);
	return ANSWER_NONE;
}

enum answer service_ask(const struct service *service, const char *line,
			char *sentence, size_t size)
{
	long deadline = now_ms() + service->timeout_ms;
	char answer[ENTRIES_SIZE];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const char *what = "connecting";
	enum answer result = ANSWER_NONE;

	if (fd < 0) {
		snprintf(sentence, size, "no socket: %s",
			 strerror(errno));
		return ANSWER_NONE;
	}
	if (join(fd, service, deadline)) {
		what = "asking";
		if (put(fd, line, strlen(line), deadline) &&
		    put(fd, "\n", 1, deadline)) {
			what = "waiting for its answer";
			if (get(fd, answer, sizeof(answer), deadline)) {
				result = understand(answer, sentence, size);
				what = NULL;
			}
		}
	}
	if (what && errno == ETIMEDOUT)
		snprintf(sentence, size, "%s took longer than %g s",
			 what, service->timeout_ms / 1000.0);
	else if (what)
		snprintf(sentence, size, "%s failed: %s", what,
			 strerror(errno));
	close(fd);
	return result;
}
