// SPDX-License-Identifier: MIT OR GPL-2.0
#define _GNU_SOURCE
#include "tally.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "ktap.h"

struct tally {
	const struct tally_kind *kinds;
	size_t count;
	bool ended;
	unsigned long seen[TALLY_KINDS][TALLY_ERRNOS]; /* by errno, 0: done */
};

struct tally *tally_make(const struct tally_kind *kinds, size_t count)
{
	struct tally *tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ASSERT(tally != MAP_FAILED && count <= TALLY_KINDS,
	       "no memory for a tally");
	tally->kinds = kinds;
	tally->count = count;
	return tally;
}

void tally_free(struct tally *tally)
{
	munmap(tally, sizeof(*tally));
}

static bool is_allowed(const struct tally_kind *kind, int error)
{
	for (size_t i = 0; i < TALLY_ALLOWED && kind->allowed[i]; i++)
		if (kind->allowed[i] == error)
			return true;
	return !error;
}

bool tally_count(struct tally *tally, size_t kind, int error)
{
	int place = error < TALLY_ERRNOS ? error : TALLY_ERRNOS - 1;

	__atomic_fetch_add(&tally->seen[kind][place], 1, __ATOMIC_RELAXED);
	EXPECT(is_allowed(&tally->kinds[kind], error), "%s: %s",
	       tally->kinds[kind].name, strerror(error));
	return !error;
}

bool tally_call(struct tally *tally, size_t kind, long result)
{
	return tally_count(tally, kind, result < 0 ? errno : 0);
}

void tally_end(struct tally *tally)
{
	__atomic_store_n(&tally->ended, true, __ATOMIC_RELAXED);
}

bool tally_has_ended(const struct tally *tally)
{
	return __atomic_load_n(&tally->ended, __ATOMIC_RELAXED);
}

static unsigned long tried(const struct tally *tally, size_t kind)
{
	unsigned long sum = 0;

	for (int error = 0; error < TALLY_ERRNOS; error++)
		sum += __atomic_load_n(&tally->seen[kind][error],
				       __ATOMIC_RELAXED);
	return sum;
}

unsigned long tally_total(const struct tally *tally)
{
	unsigned long sum = 0;

	for (size_t kind = 0; kind < tally->count; kind++)
		sum += tried(tally, kind);
	return sum;
}

unsigned long tally_done(const struct tally *tally, size_t kind)
{
	return __atomic_load_n(&tally->seen[kind][0], __ATOMIC_RELAXED);
}

void tally_note(const struct tally *tally)
{
	for (size_t kind = 0; kind < tally->count; kind++) {
		char errors[400] = "";
		size_t used = 0;

		if (!tried(tally, kind))
			continue;
		for (int error = 1; error < TALLY_ERRNOS; error++)
			if (tally->seen[kind][error] && used < sizeof(errors))
				used += (size_t)snprintf(errors + used,
					sizeof(errors) - used, ", %s %lu",
					strerrorname_np(error) ?: "unknown",
					tally->seen[kind][error]);
		ktap_note("%s: %lu done%s", tally->kinds[kind].name,
			  tally_done(tally, kind), errors);
	}
}
