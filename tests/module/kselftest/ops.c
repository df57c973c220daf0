// SPDX-License-Identifier: MIT OR GPL-2.0
#include "ops.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ktap.h"
#include "leases.h"
#include "tree.h"

const char *const op_kind_names[OP_KINDS] = { "read", "ask", "control",
					      "lease" };

static int run_read(const struct gpu *gpu, const struct op *op, char **text)
{
	*text = gpu_read(gpu, op->file, NULL);
	return *text ? 0 : errno;
}

static int run_ask(const struct gpu *gpu, const struct op *op, char **text)
{
	ssize_t length = (ssize_t)strlen(op->request);
	int fd = gpu_open(gpu, op->file, O_RDWR), error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, op->request, (size_t)length) == length)
		*text = read_to_end(fd, NULL);
	if (!*text)
		error = errno;
	close(fd);
	return error;
}

static int run_lease(const struct gpu *gpu, const struct op *op)
{
	int fd = gpu_open(gpu, op->file, O_WRONLY), error;

	if (fd < 0)
		return errno;
	error = lease_through(fd, op->request);
	close(fd);
	return error;
}

int op_run(const struct gpu *gpu, const struct op *op, char **text)
{
	*text = NULL;
	switch (op->kind) {
	case OP_READ:
		return run_read(gpu, op, text);
	case OP_ASK:
		return run_ask(gpu, op, text);
	case OP_CONTROL:
		return control(gpu, op->file, op->request);
	default:
		return run_lease(gpu, op);
	}
}

char *op_steady(const struct op *op, const char *text)
{
	char *steady;

	if (!strncmp(op->file, "runlist", 7))
		return runlist_skeleton(text);
	steady = strdup(file_is(op->file, FILE_MOVES) ? "" : text);
	ASSERT(steady, "no memory for %s", op->file);
	return steady;
}

static bool has_driver(const struct gpu *gpu)
{
	char value[VALUE_MAX];

	gpu_info(gpu, "driver", value);
	return strcmp(value, "-");
}

/* Adds the operation if it works. Files that are wired to nothing do not. */
static void add(const struct gpu *gpu, struct op *ops, size_t *count,
		struct op op)
{
	char *text;
	int error = op_run(gpu, &op, &text);

	if (error && file_is(op.file, FILE_UNCONNECTED))
		return;
	/* The context image is in video memory that only the window shows. */
	if (error == EOPNOTSUPP && !strcmp(op.file, "preemption_mode") &&
	    has_driver(gpu))
		return;
	ASSERT(!error, "%s/%s \"%s\": %s", gpu->name, op.file, op.request,
	       strerror(error));
	ASSERT(*count < OPS_MAX, "%s: more files than this test has room for",
	       gpu->name);
	if (text)
		op.expected = op_steady(&op, text);
	free(text);
	ops[(*count)++] = op;
}

static void add_requests(const struct gpu *gpu, struct op *ops, size_t *count,
			 enum op_kind kind, const struct request *requests,
			 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct op op = { .kind = kind };

		snprintf(op.file, sizeof(op.file), "%s", requests[i].file);
		snprintf(op.request, sizeof(op.request), "%s",
			 requests[i].text);
		if (kind != OP_LEASE || is_leasable(op.file))
			add(gpu, ops, count, op);
	}
}

size_t ops_find(const struct gpu *gpu, struct op ops[OPS_MAX])
{
	struct request requests[REQUESTS_MAX];
	size_t count = 0, n = need_requests(gpu, requests);
	struct channels channels = gpu_channels(gpu);
	struct files files;
	struct op ask = { .kind = OP_ASK, .file = "translate" };

	gpu_texts(gpu, 0400, &files);
	for (size_t i = 0; i < files.count; i++) {
		struct op op = { .kind = OP_READ };

		snprintf(op.file, sizeof(op.file), "%s", files.name[i]);
		add(gpu, ops, &count, op);
	}
	snprintf(ask.request, sizeof(ask.request), "%u:%u 0x10000",
		 channels.at[0].runlist, channels.at[0].id);
	add(gpu, ops, &count, ask);
	free(channels.at);
	add_requests(gpu, ops, &count, OP_LEASE, requests, n);
	add_requests(gpu, ops, &count, OP_CONTROL, requests, n);
	return count;
}
