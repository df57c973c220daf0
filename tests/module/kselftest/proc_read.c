// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Tests that an open file is one snapshot, in whatever pieces it is read. The
 * form of runlists: tests/module/core/boxes_test.cpp.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "suite.h"
#include "tree.h"

#define READABLE 0400
#define HUGE_SIZE (16U << 20)

/* An open file, and the text that a first read of it gave. */
struct text {
	const char *file;
	int fd;
	char *text;
	size_t size;
};

/* Calls `check` with every readable file of the GPU that its hardware lets open. */
static void for_each_text(const struct gpu *gpu,
			  void (*check)(const struct text *text))
{
	struct files files;

	gpu_texts(gpu, READABLE, &files);
	ASSERT(files.count, "%s: no readable file", gpu->name);
	for (size_t i = 0; i < files.count; i++) {
		struct text text = { .file = files.name[i] };

		text.fd = gpu_open(gpu, text.file, O_RDONLY);
		if (text.fd < 0) {
			EXPECT(errno == ENODEV &&
			       file_is(text.file, FILE_UNCONNECTED),
			       "%s/%s: open: %s", gpu->name, text.file,
			       strerror(errno));
			continue;
		}
		text.text = read_to_end(text.fd, &text.size);
		ASSERT(text.text, "%s/%s: read: %s", gpu->name, text.file,
		       strerror(errno));
		check(&text);
		free(text.text);
		close(text.fd);
	}
}

/* Fails unless the snapshot has `bytes` at `offset`. */
static void expect_piece(const struct text *text, size_t offset,
			 const char *bytes, ssize_t size)
{
	EXPECT(size >= 0, "%s: at %zu: %s", text->file, offset,
	       strerror(errno));
	EXPECT(size < 0 || (offset + (size_t)size <= text->size &&
			    !memcmp(text->text + offset, bytes, (size_t)size)),
	       "%s: %zd bytes at %zu differ from the first read", text->file,
	       size, offset);
}

static void rewind_to(const struct text *text, off_t offset)
{
	ASSERT(lseek(text->fd, offset, SEEK_SET) == offset,
	       "%s: lseek to %lld: %s", text->file, (long long)offset,
	       strerror(errno));
}

/* Reads the whole file from the beginning, `size` bytes at a time. */
static void expect_in_pieces_of(const struct text *text, size_t size)
{
	char *buffer = malloc(size);
	size_t offset = 0;
	ssize_t got;

	ASSERT(buffer, "no memory for a buffer");
	rewind_to(text, 0);
	do {
		got = read(text->fd, buffer, size);
		expect_piece(text, offset, buffer, got);
		offset += got > 0 ? (size_t)got : 0;
	} while (got > 0 && offset <= text->size);
	EXPECT(offset == text->size, "%s: %zu of %zu bytes in pieces of %zu",
	       text->file, offset, text->size, size);
	free(buffer);
}

static void check_lines(const struct text *text)
{
	EXPECT(text->size && text->text[text->size - 1] == '\n',
	       "%s: does not end in a newline", text->file);
	for (size_t i = 0; i < text->size; i++) {
		char byte = text->text[i];

		if (byte == '\n' || (byte >= ' ' && byte <= '~'))
			continue;
		EXPECT(false, "%s: byte %#x at %zu", text->file,
		       (unsigned char)byte, i);
		return;
	}
}

static void test_lines(const struct gpu *gpu)
{
	for_each_text(gpu, check_lines);
}

static void check_bytes(const struct text *text)
{
	expect_in_pieces_of(text, 1);
}

static void test_bytes(const struct gpu *gpu)
{
	for_each_text(gpu, check_bytes);
}

static void check_odd_pieces(const struct text *text)
{
	static const size_t sizes[] = { 3, 7, 61, 509, 4095, 4096, 4097 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		expect_in_pieces_of(text, sizes[i]);
}

static void test_odd_pieces(const struct gpu *gpu)
{
	for_each_text(gpu, check_odd_pieces);
}

static void check_huge_buffer(const struct text *text)
{
	expect_in_pieces_of(text, HUGE_SIZE);
}

static void test_huge_buffer(const struct gpu *gpu)
{
	for_each_text(gpu, check_huge_buffer);
}

/*
 * Reads at 600 places or so at most, from the last to the first, in every size
 * modulo a prime.
 */
static void check_pread(const struct text *text)
{
	size_t step = text->size / 600 + 13, size = 1;
	off_t before = lseek(text->fd, 0, SEEK_CUR);
	char buffer[101];

	for (size_t at = text->size; at > 0; at -= at < step ? at : step) {
		ssize_t got = pread(text->fd, buffer, size, (off_t)at - 1);

		expect_piece(text, at - 1, buffer, got);
		EXPECT(got != 0, "%s: nothing at %zu", text->file, at - 1);
		size = (size + 29) % sizeof(buffer) + 1;
	}
	EXPECT(lseek(text->fd, 0, SEEK_CUR) == before,
	       "%s: pread moved the file's offset", text->file);
}

static void test_pread(const struct gpu *gpu)
{
	for_each_text(gpu, check_pread);
}

static void check_readv(const struct text *text)
{
	char first[5], second[1], third[700];
	struct iovec parts[] = {
		{ first, sizeof(first) },
		{ second, sizeof(second) },
		{ third, sizeof(third) },
	};
	size_t offset = 0;
	ssize_t got;

	rewind_to(text, 0);
	do {
		got = readv(text->fd, parts, 3);
		EXPECT(got >= 0, "%s: readv: %s", text->file, strerror(errno));
		for (size_t i = 0, left = got > 0 ? (size_t)got : 0; left; i++) {
			size_t size = left < parts[i].iov_len ?
				      left : parts[i].iov_len;

			expect_piece(text, offset, parts[i].iov_base,
				     (ssize_t)size);
			offset += size;
			left -= size;
		}
	} while (got > 0 && offset <= text->size);
	EXPECT(offset == text->size, "%s: %zu of %zu bytes", text->file, offset,
	       text->size);
}

static void test_readv(const struct gpu *gpu)
{
	for_each_text(gpu, check_readv);
}

static void check_end(const struct text *text)
{
	off_t size = (off_t)text->size;
	static const off_t beyond[] = { 0, 1, 4096, 1LL << 31, 1LL << 40 };
	char byte;

	EXPECT(read(text->fd, &byte, 1) == 0, "%s: read at the end",
	       text->file);
	EXPECT(read(text->fd, &byte, 1) == 0, "%s: second read at the end",
	       text->file);
	for (size_t i = 0; i < sizeof(beyond) / sizeof(*beyond); i++) {
		off_t offset = size + beyond[i];

		EXPECT(pread(text->fd, &byte, 1, offset) == 0,
		       "%s: pread at end + %lld", text->file,
		       (long long)beyond[i]);
		rewind_to(text, offset);
		EXPECT(read(text->fd, &byte, 1) == 0, "%s: read at end + %lld",
		       text->file, (long long)beyond[i]);
	}
	EXPECT(lseek(text->fd, -1, SEEK_SET) < 0, "%s: lseek to -1",
	       text->file);
	expect_in_pieces_of(text, 4096);
}

static void test_end(const struct gpu *gpu)
{
	for_each_text(gpu, check_end);
}

/* A fault half way must not lose or invent bytes. */
static void check_bad_buffer(const struct text *text)
{
	long page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t got;

	ASSERT(pages != MAP_FAILED && !mprotect(pages + page, (size_t)page,
						PROT_NONE),
	       "mmap: %s", strerror(errno));
	rewind_to(text, 0);
	got = read(text->fd, pages + page, 64);
	EXPECT(got < 0 && errno == EFAULT, "%s: read to nowhere gave %zd (%s)",
	       text->file, got, strerror(errno));
	rewind_to(text, 0);
	got = read(text->fd, pages + page - 3, 64);
	EXPECT((got < 0 && errno == EFAULT) || (got > 0 && got <= 3),
	       "%s: read to 3 good bytes gave %zd", text->file, got);
	expect_piece(text, 0, pages + page - 3, got > 0 ? got : 0);
	rewind_to(text, 0);
	EXPECT(read(text->fd, pages, 0) == 0, "%s: read of no bytes",
	       text->file);
	expect_in_pieces_of(text, 4096);
	munmap(pages, 2 * (size_t)page);
}

static void test_bad_buffer(const struct gpu *gpu)
{
	for_each_text(gpu, check_bad_buffer);
}

/* Reads two opens of each file in turns, then compares each with itself. */
static void test_two_opens(const struct gpu *gpu)
{
	struct files files;

	gpu_texts(gpu, READABLE, &files);
	for (size_t i = 0; i < files.count; i++) {
		struct text texts[2] = { { .file = files.name[i] },
					 { .file = files.name[i] } };
		static const size_t sizes[2] = { 7, 5 };
		size_t offsets[2] = { 0, 0 };
		bool more = true;

		for (int t = 0; t < 2; t++)
			texts[t].fd = gpu_open(gpu, files.name[i], O_RDONLY);
		if (texts[0].fd < 0 &&
		    file_is(files.name[i], FILE_UNCONNECTED))
			continue;
		ASSERT(texts[0].fd >= 0 && texts[1].fd >= 0, "%s: open: %s",
		       files.name[i], strerror(errno));
		texts[0].text = read_to_end(texts[0].fd, &texts[0].size);
		texts[1].text = read_to_end(texts[1].fd, &texts[1].size);
		ASSERT(texts[0].text && texts[1].text, "%s: read: %s",
		       files.name[i], strerror(errno));
		rewind_to(&texts[0], 0);
		rewind_to(&texts[1], 0);
		while (more) {
			more = false;
			for (int t = 0; t < 2; t++) {
				char buffer[8];
				ssize_t got = read(texts[t].fd, buffer,
						   sizes[t]);

				expect_piece(&texts[t], offsets[t], buffer,
					     got);
				offsets[t] += got > 0 ? (size_t)got : 0;
				more |= got > 0;
			}
		}
		for (int t = 0; t < 2; t++) {
			EXPECT(offsets[t] == texts[t].size,
			       "%s: open %d gave %zu of %zu bytes",
			       files.name[i], t, offsets[t], texts[t].size);
			close(texts[t].fd);
			free(texts[t].text);
		}
	}
}

/* World-readable text does not change while the wiring does not. */
static void test_topology_is_steady(const struct gpu *gpu)
{
	struct files files;

	gpu_files(gpu, 0444, &files);
	for (size_t i = 0; i < files.count; i++) {
		char *first, *second;

		/* The module may have been loaded with state_all=1. */
		if (file_is_state(files.name[i]) ||
		    file_is(files.name[i], FILE_MOVES))
			continue;
		first = gpu_read(gpu, files.name[i], NULL);
		second = gpu_read(gpu, files.name[i], NULL);
		if (!first && file_is(files.name[i], FILE_UNCONNECTED)) {
			EXPECT(!second, "%s: connected by itself",
			       files.name[i]);
			continue;
		}
		ASSERT(first && second, "%s: %s", files.name[i],
		       strerror(errno));
		EXPECT(!strcmp(first, second), "%s: two opens differ",
		       files.name[i]);
		free(first);
		free(second);
	}
}

/* An old descriptor keeps the old state, a new one shows the present state. */
static void test_snapshot_is_kept(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);
	struct channel channel = channels.at[0];
	struct text old;
	char file[32];

	snprintf(file, sizeof(file), "runlist%u", channel.runlist);
	old.file = file;
	old.fd = gpu_open(gpu, file, O_RDONLY);
	ASSERT(old.fd >= 0, "%s: open: %s", file, strerror(errno));
	old.text = read_to_end(old.fd, &old.size);
	ASSERT(old.text, "%s: read: %s", file, strerror(errno));
	set_enabled(gpu, &channel, false);
	EXPECT(!is_enabled(gpu, &channel), "%s: channel %u is still enabled",
	       file, channel.id);
	expect_in_pieces_of(&old, 4096);
	set_enabled(gpu, &channel, true);
	EXPECT(is_enabled(gpu, &channel), "%s: channel %u is still disabled",
	       file, channel.id);
	expect_in_pieces_of(&old, 61);
}

/* The snapshot is taken at open, not at the first read. */
static void test_snapshot_is_of_open(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1), seen = { NULL, 0 };
	struct channel channel = channels.at[0], *found;
	char file[32], *text;
	int fd;

	snprintf(file, sizeof(file), "runlist%u", channel.runlist);
	fd = gpu_open(gpu, file, O_RDONLY);
	ASSERT(fd >= 0, "%s: open: %s", file, strerror(errno));
	set_enabled(gpu, &channel, false);
	text = read_to_end(fd, NULL);
	ASSERT(text, "%s: read: %s", file, strerror(errno));
	runlist_channels(text, channel.runlist, &seen);
	found = channels_find(&seen, &channel);
	EXPECT(found && found->enabled,
	       "%s: channel %u is not as it was at open", file, channel.id);
	set_enabled(gpu, &channel, true);
}

static const struct suite_test tests[] = {
	{ "lines", "files are printable lines that end in newlines",
	  test_lines, 0 },
	{ "bytes", "byte by byte gives what a whole read gives",
	  test_bytes, 0 },
	{ "odd_pieces", "pieces of odd sizes add up to the whole",
	  test_odd_pieces, 0 },
	{ "huge_buffer", "a buffer far larger than the file",
	  test_huge_buffer, 0 },
	{ "pread", "pread at odd offsets, backwards", test_pread, 0 },
	{ "readv", "scattered reads", test_readv, 0 },
	{ "end", "reads and seeks at and beyond the end", test_end, 0 },
	{ "bad_buffer", "a bad buffer is EFAULT and harms nothing",
	  test_bad_buffer, 0 },
	{ "two_opens", "two opens of one file, read in turns",
	  test_two_opens, 0 },
	{ "topology_is_steady", "world-readable files read the same each time",
	  test_topology_is_steady, 0 },
	{ "snapshot_is_kept", "an open file keeps its text after a change",
	  test_snapshot_is_kept, SUITE_CONTROLS },
	{ "snapshot_is_of_open", "the text is of open, not of the first read",
	  test_snapshot_is_of_open, SUITE_CONTROLS },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
