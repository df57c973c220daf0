// SPDX-License-Identifier: MIT OR GPL-2.0
#include "model.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"

#define PORT "/dev/virtio-ports/nvdebug.model"

/*
 * Returns the number of the GPU's model. Models are numbered by the PCI slot,
 * which GPUs of SoCs have as well.
 */
static size_t model_of(const struct gpu *gpu)
{
	char mine[VALUE_MAX], other[VALUE_MAX];
	struct gpu gpus[GPUS_MAX + 1];
	size_t count = gpus_find(gpus), before = 0;

	gpu_pci_address(gpu, mine);
	for (size_t i = 0; i < count; i++) {
		gpu_pci_address(&gpus[i], other);
		before += strcmp(other, mine) < 0;
	}
	return before;
}

int model_open(const struct gpu *gpu)
{
	char port[80];
	int fd;

	snprintf(port, sizeof(port), PORT "%zu", model_of(gpu));
	fd = open(port, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		ktap_skip("%s: %s; is %s a model's?", port, strerror(errno),
			  gpu->name);
	return fd;
}

const char *model_ask(int fd, const char *format, ...)
{
	static char *reply;
	static size_t room;
	char request[200];
	size_t used = 0;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(request, sizeof(request), format, args);
	va_end(args);
	ASSERT(write(fd, request, (size_t)length) == length &&
	       write(fd, "\n", 1) == 1, "asking the model: %s",
	       strerror(errno));
	do {
		ssize_t got;

		if (room - used < 4096) {
			room = 2 * room + 8192;
			reply = realloc(reply, room);
			ASSERT(reply, "no memory for a reply");
		}
		got = read(fd, reply + used, room - used - 1);
		ASSERT(got > 0, "the model does not reply: %s",
		       got ? strerror(errno) : "end of file");
		used += (size_t)got;
	} while (reply[used - 1] != '\n');
	reply[used - 1] = '\0';
	ASSERT(!strncmp(reply, "{\"ok\":true", 10), "\"%s\": the model says %s",
	       request, reply);
	return reply;
}
