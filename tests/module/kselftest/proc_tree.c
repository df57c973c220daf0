// SPDX-License-Identifier: MIT OR GPL-2.0
/* Tests that a GPU has the files that its `info` promises. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"
#include "tree.h"

/* The buffer size with which libsmctrl reads a number. */
#define NUMBER_BYTES 18

/* Returns whether the generation has the file, and `info` does not deny it. */
static bool is_promised(const struct gpu *gpu, const struct file_kind *kind)
{
	char value[VALUE_MAX];

	if (!file_fits(kind, gpu_generation(gpu)))
		return false;
	if (kind->feature)
		return gpu_feature(gpu, kind->feature);
	if (!strcmp(kind->name, "local_memory"))
		gpu_info(gpu, "video_memory", value);
	else if (!strcmp(kind->name, "translate"))
		gpu_info(gpu, "page_tables", value);
	else
		return true;
	return strcmp(value, "-") != 0;
}

/* Files with a number in the name are left to other tests. */
static void test_files(const struct gpu *gpu)
{
	for (size_t i = 0; i < file_kind_count; i++) {
		const struct file_kind *kind = &file_kinds[i];
		bool there = gpu_has(gpu, kind->name);

		EXPECT(strchr(kind->name, '#') ||
		       there == is_promised(gpu, kind), "%s is %s", kind->name,
		       there ? "there" : "missing");
	}
}

/*
 * Every chip of a known generation has these features, whatever is in `info`.
 */
static void test_features(const struct gpu *gpu)
{
	enum generation generation = gpu_generation(gpu);

	for (size_t i = 0; i < file_kind_count; i++) {
		const struct file_kind *kind = &file_kinds[i];

		EXPECT(!kind->feature || kind->flags & FILE_OF_SOME ||
		       !file_fits(kind, generation) ||
		       gpu_feature(gpu, kind->feature),
		       "%s, but not feature %s", kind->name, kind->feature);
	}
}

/* Both files exist for the numbers that `info` lists, and for no others. */
static void test_runlists(const struct gpu *gpu)
{
	unsigned int there[RUNLISTS_MAX], number;
	size_t count = gpu_runlists(gpu, there, RUNLISTS_MAX), listed = 0;
	char value[VALUE_MAX], *at = value;
	int end;

	gpu_info(gpu, "runlists", value);
	for (; sscanf(at, "%u%n", &number, &end) == 1; at += end) {
		char file[32];

		listed++;
		snprintf(file, sizeof(file), "runlist%u", number);
		EXPECT(gpu_has(gpu, file), "%s is missing", file);
		strcat(file, "_brief");
		EXPECT(gpu_has(gpu, file), "%s is missing", file);
	}
	EXPECT(listed == count, "%zu runlists have a file, listed are %zu",
	       count, listed);
	EXPECT(!count || gpu_feature(gpu, "runlist"),
	       "runlist files without the feature");
}

static void test_documented(const struct gpu *gpu)
{
	struct files all;

	gpu_files(gpu, 0, &all);
	for (size_t i = 0; i < all.count; i++)
		EXPECT(file_kind(all.name[i]), "%s: nobody has documented it",
		       all.name[i]);
}

/* Reads a number as libsmctrl does: in one read, hexadecimal. */
static unsigned long number_in(const struct gpu *gpu, const char *file)
{
	int fd = gpu_open(gpu, file, O_RDONLY);
	char text[NUMBER_BYTES + 1] = "", *end;
	unsigned long number;
	ssize_t size;

	ASSERT(fd >= 0, "%s: %s", file, strerror(errno));
	size = read(fd, text, NUMBER_BYTES);
	close(fd);
	ASSERT(size > 0, "%s: read: %zd", file, size);
	number = strtoul(text, &end, 16);
	EXPECT(!strncmp(text, "0x", 2) && !strcmp(end, "\n"),
	       "%s: \"%s\" is no hexadecimal number", file, text);
	return number;
}

static bool mask_fits(unsigned long mask, unsigned long bits)
{
	return bits >= 64 || !(mask >> bits);
}

static void test_geometry(const struct gpu *gpu)
{
	unsigned long gpcs, tpcs, off;
	char file[48];

	need_file(gpu, "num_gpcs");
	gpcs = number_in(gpu, "num_gpcs");
	tpcs = number_in(gpu, "num_tpc_per_gpc");
	off = number_in(gpu, "gpc_mask");
	EXPECT(gpcs && tpcs && mask_fits(off, gpcs) &&
	       __builtin_popcountl(off) < (int)gpcs,
	       "%lu GPCs of %lu TPCs, mask %#lx", gpcs, tpcs, off);
	for (unsigned long gpc = 0; gpc < gpcs; gpc++) {
		snprintf(file, sizeof(file), "gpc%lu_tpc_mask", gpc);
		EXPECT(mask_fits(number_in(gpu, file), tpcs),
		       "%s: more bits than TPCs", file);
	}
	snprintf(file, sizeof(file), "gpc%lu_tpc_mask", gpcs);
	EXPECT(!gpu_has(gpu, file), "%s is there", file);
	number_in(gpu, "num_ces");
	number_in(gpu, "num_fbps");
	if (gpu_has(gpu, "num_ltcs"))
		number_in(gpu, "num_ltcs");
}

static void test_ptimer(const struct gpu *gpu)
{
	unsigned long long last = 0;

	need_file(gpu, "ptimer");
	for (int i = 0; i < 100; i++) {
		char *text = gpu_read(gpu, "ptimer", NULL), *end;
		unsigned long long now;

		ASSERT(text, "ptimer: %s", strerror(errno));
		now = strtoull(text, &end, 10);
		EXPECT(!strcmp(end, "\n") && now > last,
		       "%llu ns, then \"%s\"", last, text);
		last = now;
		free(text);
	}
}

static const struct suite_test tests[] = {
	{ "files", "a file is there if its feature and generation have it",
	  test_files, 0 },
	{ "features", "features that every chip of a generation has",
	  test_features, 0 },
	{ "runlists", "runlist files are those that info lists", test_runlists,
	  0 },
	{ "documented", "there is no file that nobody has documented",
	  test_documented, 0 },
	{ "geometry", "numbers and masks of the chip's design agree",
	  test_geometry, 0 },
	{ "ptimer", "the GPU's clock goes on", test_ptimer, 0 },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
