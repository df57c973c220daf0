// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Tests of the writes to the files of controls. tests/module/core tests the
 * actions and refusals of controls, proc_lease.c their ways to memory through
 * the kernel.
 */
#include <fcntl.h>
#include <unistd.h>

#include "state.h"
#include "suite.h"
#include "tree.h"

#define BYTES_MAX 4095

/* ---- sizes of writes ---- */

static void refuse(const struct gpu *gpu, const char *file, const void *bytes,
		   size_t size, int error)
{
	int got = control_bytes(gpu, file, bytes, size);

	EXPECT(got == error, "%s: %zu bytes: %s, want %s", file, size,
	       got ? strerror(got) : "taken", strerror(error));
}

/* A bad buffer and too many bytes are refused. */
static void test_limits(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_requests(gpu, requests);
	struct state before = state_read(gpu);
	static char text[1 << 16];

	for (size_t r = 0; r < count; r++) {
		const char *file = requests[r].file;

		refuse(gpu, file, (void *)16, 4, EFAULT);
		memset(text, ' ', sizeof(text));
		memcpy(text, requests[r].text, strlen(requests[r].text));
		refuse(gpu, file, text, BYTES_MAX + 1, E2BIG);
		refuse(gpu, file, text, sizeof(text), E2BIG);
	}
	state_expect(gpu, &before, "after refused writes");
	/* A request of the largest size is accepted. */
	for (size_t r = 0; r < count; r++) {
		size_t length = strlen(requests[r].text);

		if (strcmp(requests[r].file, PREEMPT_RUNLIST) &&
		    strcmp(requests[r].file, RESUBMIT))
			continue;
		memset(text, ' ', sizeof(text));
		memcpy(text + BYTES_MAX - length, requests[r].text, length);
		EXPECT(!control_bytes(gpu, requests[r].file, text, BYTES_MAX),
		       "%s: %d bytes are not taken", requests[r].file,
		       BYTES_MAX);
	}
	state_expect(gpu, &before, "after the longest writes");
}

/* Several writes go through one descriptor, and the last of them is bad. */
static void test_one_open(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_requests(gpu, requests);

	for (size_t r = 0; r < count; r++) {
		ssize_t length = (ssize_t)strlen(requests[r].text);
		struct state before;
		int fd;

		if (strcmp(requests[r].file, PREEMPT_TSG) &&
		    strcmp(requests[r].file, PREEMPT_RUNLIST) &&
		    strcmp(requests[r].file, RESUBMIT))
			continue;
		before = state_read(gpu);
		fd = gpu_open(gpu, requests[r].file, O_WRONLY);
		ASSERT(fd >= 0, "%s: open: %s", requests[r].file,
		       strerror(errno));
		for (int i = 0; i < 3; i++)
			EXPECT(write(fd, requests[r].text, (size_t)length) ==
			       length, "%s: write %d: %s", requests[r].file, i,
			       strerror(errno));
		EXPECT(write(fd, "x", 1) < 0 && errno == EINVAL,
		       "%s: junk after good requests", requests[r].file);
		close(fd);
		state_expect(gpu, &before, requests[r].file);
		state_free(&before);
	}
}

/* ---- opens for the wrong direction ---- */

static void test_read_of_control(const struct gpu *gpu)
{
	static const int flags[] = { O_RDONLY, O_RDWR };
	struct state before = state_read(gpu);
	struct files files;

	gpu_controls(gpu, &files);
	for (size_t i = 0; i < files.count; i++) {
		for (int f = 0; f < 2; f++) {
			int fd;
			char byte;
			ssize_t got;

			if (file_kind(files.name[i])->mode & 0400)
				continue;
			fd = gpu_open(gpu, files.name[i], flags[f]);
			if (fd < 0)
				continue;
			got = read(fd, &byte, 1);
			EXPECT(got < 0, "%s: read gave %zd", files.name[i],
			       got);
			close(fd);
		}
	}
	state_expect(gpu, &before, "after reading controls");
}

static void test_write_of_read_only(const struct gpu *gpu)
{
	static const int flags[] = { O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC };
	struct files files;

	gpu_files(gpu, 0400, &files);
	for (size_t i = 0; i < files.count; i++) {
		for (int f = 0; f < 3; f++) {
			int fd;

			if (file_kind(files.name[i])->mode & 0200)
				continue;
			fd = gpu_open(gpu, files.name[i], flags[f]);
			if (fd < 0)
				continue;
			EXPECT(write(fd, "0\n", 2) < 0, "%s: took a write",
			       files.name[i]);
			close(fd);
		}
	}
}

static const struct suite_test tests[] = {
	{ "limits", "bad buffers and requests that are too long", test_limits,
	  SUITE_CONTROLS },
	{ "one_open", "several writes through one descriptor", test_one_open,
	  SUITE_CONTROLS },
	{ "read_of_control", "a control cannot be read", test_read_of_control,
	  SUITE_CONTROLS },
	{ "write_of_read_only", "other files cannot be written",
	  test_write_of_read_only, SUITE_CONTROLS },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
