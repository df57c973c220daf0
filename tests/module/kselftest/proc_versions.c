// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The driver submits one version of a list after the other, at any moment of a
 * read. A text shows one version as a whole, or is marked as torn. Needs the
 * model behind the GPU.
 *
 * proc_versions [--rounds COUNT] [NAME]...
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "controls.h"
#include "model.h"
#include "options.h"
#include "pci.h"
#include "random.h"
#include "suite.h"
#include "tally.h"
#include "tree.h"
#include "versions.h"

#define READERS 8
#define WRITERS 2
#define RUNLIST 0

static unsigned long rounds = 2;

enum { WHOLE, TORN, CONTEXTS, REFUSED, ROTATED, WROTE };

static const struct tally_kind kinds[] = {
	[WHOLE] = { "lists read as one version", { 0 } },
	[TORN] = { "lists marked torn", { 0 } },
	[CONTEXTS] = { "contexts of one version", { 0 } },
	[REFUSED] = { "contexts, refused", { EBUSY } },
	[ROTATED] = { "versions submitted", { 0 } },
	[WROTE] = { "controls", { EBUSY, ETIMEDOUT } },
};

/* A GPU with a workload of this test's, and its previous workload. */
struct subject {
	const struct gpu *gpu;
	int model;
	char workload[64];
	struct versions versions;
	struct tally *tally;
};

static void subject_begin(struct subject *subject, const struct gpu *gpu,
			  const char *workload)
{
	const char *key = "\"workload\":\"", *at;
	char *text;

	subject->gpu = gpu;
	subject->model = model_open(gpu);
	at = strstr(model_ask(subject->model, "info"), key);
	ASSERT(at && sscanf(at + strlen(key), "%63[^\"]",
			    subject->workload) == 1, "no workload's name");
	model_ask(subject->model, "restart %s", workload);
	text = gpu_runlist(gpu, RUNLIST);
	versions_learn(&subject->versions, RUNLIST, text);
	free(text);
	ASSERT(subject->versions.count > 2, "%s: a list of %zu TSGs", workload,
	       subject->versions.count);
	subject->tally = tally_make(kinds, sizeof(kinds) / sizeof(*kinds));
	model_ask(subject->model, "rotate %u", RUNLIST);
}

static void subject_end(struct subject *subject)
{
	model_ask(subject->model, "fault none");
	model_ask(subject->model, "restart %s", subject->workload);
	close(subject->model);
	tally_note(subject->tally);
	tally_free(subject->tally);
	versions_forget(&subject->versions);
}

static void read_list(const struct subject *subject, const char *file)
{
	char *text = gpu_read(subject->gpu, file, NULL);
	enum version version;

	ASSERT(text, "%s: %s", file, strerror(errno));
	version = versions_of_runlist(&subject->versions, text);
	EXPECT(version != VERSION_MIXED, "%s: a mixture of two versions", file);
	tally_count(subject->tally, version == VERSION_TORN ? TORN : WHOLE, 0);
	free(text);
}

static void read_contexts(const struct subject *subject)
{
	char *text = gpu_read(subject->gpu, "contexts", NULL);

	if (!text) {
		tally_count(subject->tally, REFUSED, errno);
		return;
	}
	EXPECT(versions_of_contexts(&subject->versions, text) == VERSION_WHOLE,
	       "contexts: a mixture of two versions");
	tally_count(subject->tally, CONTEXTS, 0);
	free(text);
}

static void read_everything(const struct subject *subject)
{
	read_list(subject, "runlist0");
	read_list(subject, "runlist0_brief");
	read_contexts(subject);
}

/*
 * A new version comes in the middle of a read, at every word of the list in
 * turn, and more and less often than a reader tries again.
 */
static void test_moments(const struct gpu *gpu)
{
	struct subject subject;

	need_file(gpu, "runlist0");
	subject_begin(&subject, gpu, "three-tasks");
	for (unsigned int every = 1; every <= 110; every += 1 + every / 16) {
		model_ask(subject.model, "fault none");
		model_ask(subject.model, "fault rotate-runlist %u %u", RUNLIST,
			  every);
		read_everything(&subject);
	}
	EXPECT(tally_done(subject.tally, WHOLE), "no list was read");
	EXPECT(tally_done(subject.tally, TORN), "no list was torn");
	EXPECT(tally_done(subject.tally, CONTEXTS), "no contexts were read");
	subject_end(&subject);
}

/* Makes a request that changes nothing in a list. */
static void write_once(const struct subject *subject, struct rng *rng)
{
	const struct gpu *gpu = subject->gpu;
	size_t i = rng_below(rng, subject->versions.count);
	unsigned int tsg = subject->versions.ids[i];
	int error = 0;

	switch (rng_below(rng, 4)) {
	case 0:
		error = control_format(gpu, PREEMPT_TSG, "%u:%u", RUNLIST, tsg);
		break;
	case 1:
		error = control_format(gpu, PREEMPT_RUNLIST, "%u", RUNLIST);
		break;
	case 2:
		error = control_format(gpu, SCHEDULING, "%u %s", RUNLIST,
				       rng_once_in(rng, 2) ? "on" : "off");
		break;
	default:
		error = control_format(gpu, RESUBMIT, "%u", RUNLIST);
		break;
	}
	tally_count(subject->tally, WROTE, error);
}

static void rotate_once(const struct subject *subject)
{
	model_ask(subject->model, "rotate %u", RUNLIST);
	tally_count(subject->tally, ROTATED, 0);
	/* Without a pause no control would see its list taken. */
	nap();
}

/* Starts the driver, which is number 0, or a writer. */
static int start(const struct subject *subject, size_t number)
{
	struct rng rng = rng_of(1, number);
	int pid = ktap_fork();

	if (pid)
		return pid;
	while (!tally_has_ended(subject->tally)) {
		if (number)
			write_once(subject, &rng);
		else
			rotate_once(subject);
	}
	ktap_end();
}

static void read_among_others(const struct gpu *gpu, const char *workload,
			      bool some_whole)
{
	int others[1 + WRITERS], readers[READERS];
	struct subject subject;

	need_file(gpu, TIMESLICE);
	subject_begin(&subject, gpu, workload);
	for (size_t i = 0; i < 1 + WRITERS; i++)
		others[i] = start(&subject, i);
	for (size_t i = 0; i < READERS; i++) {
		readers[i] = ktap_fork();
		if (readers[i])
			continue;
		for (unsigned long round = 0; round < rounds; round++)
			read_everything(&subject);
		ktap_end();
	}
	for (size_t i = 0; i < READERS; i++)
		ktap_wait(readers[i]);
	tally_end(subject.tally);
	for (size_t i = 0; i < 1 + WRITERS; i++)
		ktap_wait(others[i]);
	EXPECT(!some_whole || tally_done(subject.tally, WHOLE),
	       "no list was read whole");
	EXPECT(tally_done(subject.tally, ROTATED), "no version was submitted");
	subject_end(&subject);
}

static void test_crowd(const struct gpu *gpu)
{
	read_among_others(gpu, "three-tasks", true);
}

/*
 * The list takes several bursts, and the others have their turns between these.
 * So there may always be a new version before the last burst.
 */
static void test_crowd_long(const struct gpu *gpu)
{
	read_among_others(gpu, "many-64", false);
}

/*
 * The list is in system memory, which is read without the GPU's help while a
 * driver is bound.
 */
static void test_crowd_sysmem(const struct gpu *gpu)
{
	pci_bind(gpu);
	read_among_others(gpu, "sysmem", true);
	pci_unbind(gpu);
}

static const struct suite_test tests[] = {
	{ "moments", "a version is submitted at each moment of a read",
	  test_moments, 0 },
	{ "crowd", "readers, writers and a driver at one list", test_crowd, 0 },
	{ "crowd_long", "the same at a list of several bursts",
	  test_crowd_long, 0 },
	{ "crowd_sysmem", "the same for a list in system memory",
	  test_crowd_sysmem, 0 },
};

int main(int argc, char **argv)
{
	static const struct option options[] = { { "--rounds", &rounds } };

	argc = OPTIONS_TAKE(argc, argv, options);
	return SUITE_MAIN(argc, argv, tests);
}
