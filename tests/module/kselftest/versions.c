// SPDX-License-Identifier: MIT OR GPL-2.0
#include "versions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "ktap.h"

#define TSGS_MAX 256

/* A TSG as a list shows it. */
struct shown {
	unsigned int id;
	unsigned long timeout;
	char *titles; /* malloc()ed */
};

static size_t list_tsgs(const char *text, struct shown *shown)
{
	enum box_kind kind = BOX_KINDS;
	size_t count = 0, size = 0;
	FILE *out = NULL;
	struct line line;

	while (next_line(&text, &line)) {
		if (line.title)
			kind = line.kind;
		if (line.title && kind == BOX_TSG) {
			ASSERT(count < TSGS_MAX, "a list with too many TSGs");
			if (out)
				fclose(out);
			shown[count].id = line.number;
			out = open_memstream(&shown[count++].titles, &size);
			ASSERT(out, "no memory for a list");
		}
		if (kind == BOX_TSG && !strcmp(line.key, "Timeout"))
			shown[count - 1].timeout = strtoul(line.value, NULL, 10);
		if (out && line.title && (kind == BOX_TSG ||
					  kind == BOX_CHANNEL))
			fprintf(out, "%s\n", line.text);
	}
	if (out)
		fclose(out);
	return count;
}

static void free_tsgs(struct shown *shown, size_t count)
{
	while (count)
		free(shown[--count].titles);
}

void versions_learn(struct versions *versions, unsigned int runlist,
		    const char *text)
{
	struct shown shown[TSGS_MAX];

	versions->runlist = runlist;
	versions->count = list_tsgs(text, shown);
	for (size_t i = 0; i < versions->count; i++) {
		versions->tsgs[i] = shown[i].titles;
		versions->ids[i] = shown[i].id;
	}
}

void versions_forget(struct versions *versions)
{
	while (versions->count)
		free(versions->tsgs[--versions->count]);
}

/* Returns whether the list is the version that its first TSG is marked with. */
static bool is_whole(const struct versions *versions, const struct shown *shown,
		     size_t count)
{
	unsigned long version = count ? shown[0].timeout : 0;

	if (count != versions->count) {
		ktap_note("%zu TSGs of %zu", count, versions->count);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		size_t place = (i + version) % count;

		if (shown[i].timeout == version &&
		    !strcmp(shown[i].titles, versions->tsgs[place]))
			continue;
		ktap_note("version %lu: TSG %u in place %zu has the mark %lu; there was TSG %u",
			  version, shown[i].id, i, shown[i].timeout,
			  versions->ids[place]);
		return false;
	}
	return true;
}

static bool is_torn(const char *text)
{
	struct line line;

	while (next_line(&text, &line))
		if (!strcmp(line.key, "Snapshot"))
			return !strcmp(line.value, "torn");
	return false;
}

enum version versions_of_runlist(const struct versions *versions,
				 const char *text)
{
	struct shown shown[TSGS_MAX];
	size_t count;
	bool whole;

	if (is_torn(text))
		return VERSION_TORN;
	count = list_tsgs(text, shown);
	whole = is_whole(versions, shown, count);
	free_tsgs(shown, count);
	return whole ? VERSION_WHOLE : VERSION_MIXED;
}

static size_t place_of(const struct versions *versions, unsigned int tsg)
{
	size_t i = 0;

	while (i < versions->count && versions->ids[i] != tsg)
		i++;
	return i;
}

enum version versions_of_contexts(const struct versions *versions,
				  const char *text)
{
	size_t count = versions->count, first = 0, seen = 0;
	unsigned int runlist, tsg, last = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		size_t place;

		if (sscanf(text, "%u %u ", &runlist, &tsg) != 2 ||
		    runlist != versions->runlist || (seen && tsg == last))
			continue;
		place = place_of(versions, tsg);
		if (!seen)
			first = place;
		if (place == count || place != (first + seen) % count) {
			ktap_note("contexts: TSG %u follows TSG %u", tsg, last);
			return VERSION_MIXED;
		}
		last = tsg;
		seen++;
	}
	if (seen == count)
		return VERSION_WHOLE;
	ktap_note("contexts: %zu of %zu TSGs", seen, count);
	return VERSION_MIXED;
}
