// SPDX-License-Identifier: MIT OR GPL-2.0
#include "klog.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ktap.h"

#define LOG "/dev/kmsg"

int klog_open(void)
{
	int fd = open(LOG, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	ASSERT(fd >= 0 && lseek(fd, 0, SEEK_END) == 0, LOG ": %s",
	       strerror(errno));
	return fd;
}

/*
 * Reads records until there are no more. One read is one record:
 * "LEVEL,NUMBER,TIME,FLAGS;text", then more about it.
 */
size_t klog_lines(int fd, char **text)
{
	char record[8192];
	size_t lines = 0, size;
	FILE *out = open_memstream(text, &size);

	ASSERT(out, "no memory for the log");
	for (;;) {
		ssize_t got = read(fd, record, sizeof(record) - 1);
		const char *at;

		ASSERT(got >= 0 || errno != EPIPE,
		       LOG ": records were overwritten");
		if (got <= 0)
			break;
		record[got] = '\0';
		at = strchr(record, ';');
		if (!at || !strstr(at, "nvdebug"))
			continue;
		fprintf(out, "%.*s\n", (int)strcspn(at + 1, "\n"), at + 1);
		lines++;
	}
	fclose(out);
	return lines;
}
