// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Everything at once: readers and writers of all GPUs, holders of leases that
 * are killed, GPUs that leave and come back, the module that is unloaded and
 * loaded. A seed decides the actions of each process; their order among the
 * processes is the kernel's choice.
 *
 * proc_stress [--seed NUMBER] [--rounds COUNT] [NAME]...
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boxes.h"
#include "churn.h"
#include "leases.h"
#include "model.h"
#include "module.h"
#include "options.h"
#include "pci.h"
#include "state.h"
#include "suite.h"
#include "topology.h"
#include "tree.h"

#define READERS 8
#define WRITERS 4
#define KEPT 6
#define PREADS 8
/* The most bytes that are read from a file byte by byte. */
#define BYTES_MAX 2000
#define ROUND_S 5
#define NAPS_MAX 1000
/* Actions of readers and writers between two comings and goings. */
#define GPUS_EVERY 60
#define MODULE_EVERY 150

static unsigned long seed = 1, rounds = 60;

enum {
	OPENS, READS, CONTROL_OPENS, WRITES, LEASES, LATE_LEASES, CLOSED,
	KILLED, CHURNS,
};

/*
 * docs/proc.md has all of these errors. A file that has gone gives ENOENT; a
 * file that goes while it is open, EIO. After GPUs have come back in another
 * order, a folder may belong to another GPU, which lacks a file or a target.
 */
#define WRITE_ERRORS EINVAL, ERANGE, EIO, ENODEV, EBUSY, ETIMEDOUT, EOPNOTSUPP

static const struct tally_kind kinds[] = {
	[OPENS] = { "opens to read", { ENOENT, ENODEV, EIO, EBUSY } },
	[READS] = { "reads", { EIO, ENODATA } },
	[CONTROL_OPENS] = { "opens to write", { ENOENT, ENODEV, EIO } },
	[WRITES] = { "writes", { WRITE_ERRORS } },
	[LEASES] = { "leases", { WRITE_ERRORS } },
	[LATE_LEASES] = { "leases through a file of another process",
			  { WRITE_ERRORS } },
	[CLOSED] = { "leases closed", { 0 } },
	[KILLED] = { "holders of leases killed", { 0 } },
	CHURN_KINDS(CHURNS),
};

/* A GPU, with its state in the beginning. */
struct subject {
	const struct gpu *gpu;
	struct address address;
	struct files files; /* files to read */
	struct state state;
	char (*targets)[TARGET_MAX]; /* one for each channel of the state */
	char *topology;
};

static struct subject subjects[GPUS_MAX];
static size_t subject_count;
static struct tally *tally;

static void find_subjects(const struct gpu *gpus)
{
	subject_count = 0;
	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++) {
		struct subject *subject = &subjects[subject_count++];

		subject->gpu = gpu;
		need_pci(gpu, &subject->address);
		gpu_files(gpu, 0400, &subject->files);
		subject->state = state_read(gpu);
		subject->targets = calloc(subject->state.channels.count,
					  sizeof(*subject->targets));
		for (size_t i = 0; i < subject->state.channels.count; i++)
			target_of(gpu, &subject->state.channels.at[i],
				  subject->targets[i]);
		subject->topology = topology_text(gpu);
	}
}

/* Picks a GPU that is there, or was a moment ago. */
static const struct subject *pick_subject(struct rng *rng)
{
	const struct subject *subject = &subjects[rng_below(rng, subject_count)];

	for (int naps = 0; naps < NAPS_MAX && !folder_exists(subject->gpu);
	     naps++)
		nap();
	return subject;
}

/* ---- readers ---- */

/* An open file, with its whole text. */
struct kept {
	int fd;
	char *text;
	size_t size;
};

static void drop(struct kept *kept)
{
	if (!kept->text)
		return;
	close(kept->fd);
	free(kept->text);
	kept->text = NULL;
}

/*
 * Reads on from the present offset in pieces of any size. NULL if the file was
 * cut off.
 */
static char *read_on(int fd, struct rng *rng, size_t *size)
{
	static const size_t pieces[] = { 1, 18, 97, 1000, 4096, 65536 };
	size_t piece = RNG_PICK(rng, pieces), room = 1 << 16;
	char *text = malloc(room + piece + 1);
	ssize_t got;

	ASSERT(text, "no memory for a file");
	*size = 0;
	while ((got = read(fd, text + *size, piece)) > 0) {
		*size += (size_t)got;
		if (*size > BYTES_MAX && piece < 1000)
			piece = 65536;
		if (*size + piece < room)
			continue;
		room = 2 * room + piece;
		text = realloc(text, room + piece + 1);
		ASSERT(text, "no memory for a file");
	}
	text[*size] = '\0';
	if (tally_call(tally, READS, got))
		return text;
	free(text);
	return NULL;
}

/* Expects the same bytes as before, or a file that is cut off. */
static void read_again(const struct kept *kept, struct rng *rng)
{
	char buffer[512];

	for (int i = 0; i < PREADS; i++) {
		size_t at = rng_below(rng, kept->size + 2);
		size_t length = 1 + rng_below(rng, sizeof(buffer));
		size_t left = at < kept->size ? kept->size - at : 0;
		ssize_t got = pread(kept->fd, buffer, length, (off_t)at);

		if (!tally_call(tally, READS, got))
			return;
		EXPECT((size_t)got == (left < length ? left : length) &&
		       !memcmp(buffer, kept->text + at, (size_t)got),
		       "%zd bytes at %zu of %zu are others than before", got,
		       at, kept->size);
	}
}

static void judge(const struct subject *subject, const char *file,
		  const char *text)
{
	const char *fault;
	struct line line;

	EXPECT(*text, "%s/%s: empty", subject->gpu->name, file);
	if (strncmp(file, "runlist", 7))
		return;
	fault = boxes_fault(text, &line);
	EXPECT(!fault, "%s/%s: %s: \"%s\"", subject->gpu->name, file, fault,
	       line.text);
}

static int open_to_read(const struct subject *subject, const char *file)
{
	int fd = gpu_open(subject->gpu, file, O_RDONLY);

	tally_call(tally, OPENS, fd);
	return fd;
}

/* Reads two files at once, and keeps one of them open for later. */
static void read_round(struct rng *rng, struct kept *kept)
{
	const struct subject *subject = pick_subject(rng);
	const char *file = subject->files.name[rng_below(rng,
							 subject->files.count)];
	int other = rng_once_in(rng, 3) ? open_to_read(subject, file) : -1;
	int fd = open_to_read(subject, file);
	char *text;
	size_t size;

	drop(kept);
	if (fd >= 0) {
		kept->fd = fd;
		kept->text = read_on(fd, rng, &kept->size);
		if (!kept->text) {
			close(fd);
		} else {
			judge(subject, file, kept->text);
			read_again(kept, rng);
		}
	}
	if (other < 0)
		return;
	lseek(other, 1, SEEK_SET);
	text = read_on(other, rng, &size);
	free(text);
	close(other);
}

static void be_reader(size_t number)
{
	struct rng rng = rng_of(seed, number);
	struct kept kept[KEPT] = { 0 };

	for (unsigned long round = 0; round < rounds; round++) {
		size_t at = rng_below(&rng, KEPT);

		read_round(&rng, &kept[at]);
		at = rng_below(&rng, KEPT);
		if (kept[at].text)
			read_again(&kept[at], &rng);
	}
	for (size_t i = 0; i < KEPT; i++)
		drop(&kept[i]);
}

/* ---- writers ---- */

/*
 * Returns the TSG that belongs to this writer on the GPU; NULL: all belong to
 * others.
 */
static const struct tsg *tsg_of(const struct subject *subject, size_t writer)
{
	const struct tsgs *tsgs = &subject->state.tsgs;

	return writer < tsgs->count ? &tsgs->at[writer] : NULL;
}

static const struct channel *channel_of(const struct subject *subject,
					const struct tsg *tsg, struct rng *rng)
{
	const struct channels *channels = &subject->state.channels;
	size_t from = rng_below(rng, channels->count);

	for (size_t i = 0; i < channels->count; i++) {
		const struct channel *channel =
			&channels->at[(from + i) % channels->count];

		if (channel->in_tsg && channel->runlist == tsg->runlist &&
		    channel->tsg == tsg->id)
			return channel;
	}
	return NULL;
}

static const char *target(const struct subject *subject,
			  const struct channel *channel)
{
	return subject->targets[channel - subject->state.channels.at];
}

/* Changes the writer's own TSG and its channels. */
static void own_request(const struct subject *subject, const struct tsg *tsg,
			struct rng *rng, struct request *request)
{
	static const char *const modes[] = { "wfi", "cta", "cilp" };
	const struct channel *channel = channel_of(subject, tsg, rng);
	size_t room = sizeof(request->text);

	switch (rng_below(rng, channel ? 3 : 1)) {
	case 0:
		request->file = TIMESLICE;
		snprintf(request->text, room, "%u:%u %zu", tsg->runlist,
			 tsg->id, 100 + rng_below(rng, 9000));
		break;
	case 1:
		request->file = DISABLE;
		snprintf(request->text, room, "%s", target(subject, channel));
		break;
	default:
		request->file = MODE;
		snprintf(request->text, room, "%u:%u %s", channel->runlist,
			 channel->id, RNG_PICK(rng, modes));
		break;
	}
}

/* Makes a request that changes the state that all writers share. */
static void shared_request(const struct subject *subject, struct rng *rng,
			   struct request *request)
{
	const struct tsgs *tsgs = &subject->state.tsgs;
	const struct tsg *tsg = &tsgs->at[rng_below(rng, tsgs->count)];
	bool gate = rng_once_in(rng, 2);

	request->file = gate ? SCHEDULING : SWITCH;
	snprintf(request->text, sizeof(request->text), gate ? "%u off" : "%u:%u",
		 tsg->runlist, tsg->id);
}

static void other_request(const struct subject *subject, struct rng *rng,
			  struct request *request)
{
	struct request all[REQUESTS_MAX] = {
		{ PREEMPT_TSG, "" }, { PREEMPT_RUNLIST, "" }, { RESUBMIT, "" },
		{ SCHEDULING, "on" }, { ENABLE, "" },
	};
	const struct tsgs *tsgs = &subject->state.tsgs;
	const struct tsg *tsg = &tsgs->at[rng_below(rng, tsgs->count)];
	const struct channel *channel = channel_of(subject, tsg, rng);
	size_t room = sizeof(request->text);

	*request = all[rng_below(rng, channel ? 5 : 4)];
	if (!strcmp(request->file, ENABLE))
		snprintf(request->text, room, "%s", target(subject, channel));
	else if (!strcmp(request->file, PREEMPT_TSG))
		snprintf(request->text, room, "%u:%u", tsg->runlist, tsg->id);
	else if (!strcmp(request->file, SCHEDULING))
		snprintf(request->text, room, "%u on", tsg->runlist);
	else
		snprintf(request->text, room, "%u", tsg->runlist);
}

/*
 * Takes a lease in a process that is killed in the middle of its next request,
 * or while it does nothing. A child of that process has the file as well, and
 * goes after it.
 */
static void lease_and_be_killed(int fd, const struct request *request,
				struct rng *rng)
{
	int pid = fork(), child;

	ASSERT(pid >= 0, "fork: %s", strerror(errno));
	if (pid) {
		close(fd);
		for (size_t naps = rng_below(rng, 3); naps; naps--)
			nap();
		EXPECT(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid,
		       "killing: %s", strerror(errno));
		tally_count(tally, KILLED, 0);
		return;
	}
	tally_count(tally, LEASES, lease_through(fd, request->text));
	child = rng_once_in(rng, 2) ? fork() : -1;
	if (!child) {
		nap();
		tally_count(tally, LATE_LEASES,
			    lease_through(fd, request->text));
		_exit(0);
	}
	for (;;)
		if (lease_through(fd, request->text))
			pause();
}

static void write_round(size_t writer, struct rng *rng, bool only_leases)
{
	const struct subject *subject = pick_subject(rng);
	const struct tsg *tsg = tsg_of(subject, writer);
	bool leased = only_leases || rng_once_in(rng, 2);
	struct request request;
	size_t naps;
	int fd;

	if (!leased && rng_once_in(rng, 2))
		other_request(subject, rng, &request);
	else if (tsg && !rng_once_in(rng, 3))
		own_request(subject, tsg, rng, &request);
	else
		shared_request(subject, rng, &request);
	fd = gpu_open(subject->gpu, request.file, O_WRONLY);
	if (!tally_call(tally, CONTROL_OPENS, fd))
		return;
	if (!leased) {
		tally_call(tally, WRITES, write(fd, request.text,
						strlen(request.text)));
		close(fd);
		return;
	}
	if (rng_once_in(rng, 3)) {
		lease_and_be_killed(fd, &request, rng);
		return;
	}
	tally_count(tally, LEASES, lease_through(fd, request.text));
	for (naps = rng_below(rng, 3); naps; naps--)
		nap();
	close(fd);
	tally_count(tally, CLOSED, 0);
}

static void be_writer(size_t number, bool only_leases)
{
	struct rng rng = rng_of(seed, READERS + number);

	/*
	 * This process inherits the children that a killed holder leaves
	 * behind.
	 */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (unsigned long round = 0; round < rounds; round++)
		write_round(number, &rng, only_leases);
	while (wait(NULL) > 0)
		;
}

/* ---- the tests ---- */

static void run_crowd(const struct gpu *gpus, bool only_leases)
{
	const struct churn churn = {
		.removed = CHURNS, .rescanned = CHURNS + 1,
		.unloaded = CHURNS + 2, .loaded = CHURNS + 3,
		.tally = tally, .seed = seed,
	};
	struct churn of_gpus = churn, of_module = churn;
	int pids[READERS + WRITERS], churns[2];

	of_gpus.every = GPUS_EVERY;
	of_module.every = MODULE_EVERY;
	churns[0] = churn_start_gpus(&of_gpus, gpus);
	churns[1] = churn_start_module(&of_module);
	for (size_t i = 0; i < READERS + WRITERS; i++) {
		pids[i] = ktap_fork();
		if (pids[i])
			continue;
		if (i < READERS)
			be_reader(i);
		else
			be_writer(i - READERS, only_leases);
		ktap_end();
	}
	for (size_t i = 0; i < READERS + WRITERS; i++)
		ktap_wait(pids[i]);
	tally_end(tally);
	for (size_t i = 0; i < 2; i++)
		ktap_wait(churns[i]);
}

static void begin(const struct gpu *gpus)
{
	module_need();
	/* The test must not wait without end for a process that hangs. */
	ktap_alarm(180 + ROUND_S * rounds);
	find_subjects(gpus);
	tally = tally_make(kinds, sizeof(kinds) / sizeof(*kinds));
	ktap_note("seed %lu, %u readers and %u writers of %lu rounds", seed,
		  READERS, WRITERS, rounds);
}

/* Returns the folder that this GPU has now. */
static const struct gpu *find_again(const struct subject *subject)
{
	static struct gpu now[GPUS_MAX + 1];
	size_t count = gpus_find(now);

	for (size_t i = 0; i < count; i++) {
		char address[VALUE_MAX];

		expect_files(&now[i], "after all");
		gpu_pci_address(&now[i], address);
		if (!strcmp(address, subject->address.text))
			return &now[i];
	}
	ASSERT(false, "%s has no folder", subject->address.text);
	return NULL;
}

/* Expects the GPUs' state and numbers from the beginning. */
static void end(void)
{
	tally_note(tally);
	for (size_t kind = OPENS; kind < CHURNS + 4; kind++)
		EXPECT(kind == WRITES || kind == LATE_LEASES ||
		       tally_done(tally, kind),
		       "%s: none", kinds[kind].name);
	module_must_unload();
	module_must_load("");
	for (size_t i = 0; i < subject_count; i++) {
		char *topology = topology_text(subjects[i].gpu);

		EXPECT(!strcmp(topology, subjects[i].topology),
		       "%s: other hardware than before", subjects[i].gpu->name);
		free(topology);
		state_expect(subjects[i].gpu, &subjects[i].state, "after all");
	}
	tally_free(tally);
}

/* Once no process holds a lease, all GPUs have their old state. */
static void test_leases(const struct gpu *gpus)
{
	begin(gpus);
	run_crowd(gpus, true);
	for (size_t i = 0; i < subject_count; i++)
		state_expect(find_again(&subjects[i]), &subjects[i].state,
			     "after the leases");
	end();
}

/* Changes that stay are undone by starting the models again. */
static void test_everything(const struct gpu *gpus)
{
	int models[GPUS_MAX];

	for (size_t i = 0; gpus[i].name[0]; i++)
		models[i] = model_open(&gpus[i]);
	begin(gpus);
	run_crowd(gpus, false);
	for (size_t i = 0; i < subject_count; i++)
		model_ask(models[i], "restart");
	end();
}

static const struct suite_test tests[] = {
	{ "leases", "nothing is left of leases, however they end", test_leases,
	  SUITE_ALL },
	{ "everything", "all controls, with and without leases",
	  test_everything, SUITE_ALL },
};

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "--seed", &seed }, { "--rounds", &rounds },
	};

	argc = OPTIONS_TAKE(argc, argv, options);
	return SUITE_MAIN(argc, argv, tests);
}
