// SPDX-License-Identifier: MIT OR GPL-2.0
#include "topology.h"

#include <stdio.h>
#include <stdlib.h>

#include "ktap.h"
#include "tree.h"

/*
 * Removes whether the window may be moved. That is policy: kernel lockdown
 * changes it.
 */
static void drop_policy(char *text)
{
	char *line = strstr(text, "feature pram_window: ");
	char *end = line ? strchr(line, '\n') : NULL;

	if (end)
		memmove(line, end + 1, strlen(end + 1) + 1);
}

char *topology_text(const struct gpu *gpu)
{
	struct files files;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	ASSERT(out, "no memory for the topology");
	gpu_files(gpu, 0444, &files);
	for (size_t i = 0; i < files.count; i++) {
		char *one;

		if (file_is(files.name[i], FILE_MOVES))
			continue;
		one = gpu_read(gpu, files.name[i], NULL);
		EXPECT(one || file_is(files.name[i], FILE_UNCONNECTED),
		       "%s/%s: %s", gpu->name, files.name[i], strerror(errno));
		if (one)
			drop_policy(one);
		fprintf(out, "%s:\n%s", files.name[i], one ? one : "-\n");
		free(one);
	}
	fclose(out);
	return text;
}

void topology_read(struct topology *topology)
{
	topology->count = gpus_find(topology->gpus);
	for (size_t i = 0; i < topology->count; i++)
		topology->text[i] = topology_text(&topology->gpus[i]);
}

void topology_free(struct topology *topology)
{
	for (size_t i = 0; i < topology->count; i++)
		free(topology->text[i]);
}

bool topology_is(const struct topology *expected)
{
	struct topology now;
	bool same;

	topology_read(&now);
	same = now.count == expected->count;
	for (size_t i = 0; i < now.count && same; i++)
		same = !strcmp(now.gpus[i].name, expected->gpus[i].name) &&
		       !strcmp(now.text[i], expected->text[i]);
	topology_free(&now);
	return same;
}

void topology_expect(const struct topology *expected, const char *when)
{
	struct topology now;

	topology_read(&now);
	EXPECT(now.count == expected->count, "%s: %zu GPUs, were %zu", when,
	       now.count, expected->count);
	for (size_t i = 0; i < now.count && i < expected->count; i++) {
		if (!strcmp(now.gpus[i].name, expected->gpus[i].name) &&
		    !strcmp(now.text[i], expected->text[i]))
			continue;
		EXPECT(false, "%s: %s is not as it was", when,
		       expected->gpus[i].name);
		ktap_note_difference(expected->text[i], now.text[i]);
	}
	topology_free(&now);
}
