// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * System calls at random on every file of every GPU. Root makes them, a user,
 * and a user with files that root had opened, while the models behind the GPUs
 * misbehave and GPUs and module come and go. A seed decides the calls of each
 * process.
 *
 * proc_fuzz [--seed NUMBER] [--calls COUNT] [NAME]...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

#include "churn.h"
#include "fuzz_calls.h"
#include "fuzzer.h"
#include "model.h"
#include "module.h"
#include "options.h"
#include "pci.h"
#include "suite.h"

#define PROCESSES 6
#define USER 1000
#define GPUS_EVERY 4000
#define MODULE_EVERY 4000
#define FAULT_EVERY 150
#define CALL_MS 20
#define TAKEN_PERCENT 10

static unsigned long seed = 1, calls = 2000;
static struct tally *tally;
static struct fuzz_files files;

/* ---- processes ---- */

static void open_as_root(struct fuzzer *f)
{
	for (size_t i = 0; i < FUZZ_SLOTS; i++) {
		char path[128];

		fuzz_path(f, path);
		f->slots[i] = open(path, O_RDWR | O_CLOEXEC);
		if (f->slots[i] < 0)
			f->slots[i] = open(path, O_WRONLY | O_CLOEXEC);
	}
}

static void become_user(void)
{
	ASSERT(!setgroups(0, NULL) && !setresgid(USER, USER, USER) &&
	       !setresuid(USER, USER, USER), "becoming a user: %s",
	       strerror(errno));
}

static void fuzzer_begin(struct fuzzer *f, size_t number)
{
	memset(f, 0, sizeof(*f));
	f->files = &files;
	f->rng = rng_of(seed, number);
	f->root = number % 2 == 0;
	for (size_t i = 0; i < FUZZ_SLOTS; i++)
		f->slots[i] = -1;
	f->room = mmap(NULL, FUZZ_ROOM, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	f->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	/* A small kernel has no inotify. */
	ASSERT(f->room != MAP_FAILED && (f->inotify >= 0 || errno == ENOSYS) &&
	       !mprotect(f->room + FUZZ_ROOM - 4096, 4096, PROT_READ) &&
	       !pipe2(f->pipe, O_NONBLOCK | O_CLOEXEC), "no means to fuzz: %s",
	       strerror(errno));
	/* Leases and watches of folders send this signal. */
	ASSERT(signal(SIGIO, SIG_IGN) != SIG_ERR, "signal: %s",
	       strerror(errno));
	/* Every other user is handed files that he could not open. */
	if (number % 4 == 1)
		open_as_root(f);
	if (!f->root)
		become_user();
}

static void fuzz(size_t number)
{
	static struct fuzzer f;

	fuzzer_begin(&f, number);
	for (unsigned long i = 0; i < calls; i++) {
		long result;
		size_t call = fuzz_call(&f, &result);
		/*
		 * The GPU or the module has gone: without a pause nearly all
		 * calls would fail like this one.
		 */
		bool gone = result < 0 && errno == ENOENT;

		tally_call(tally, call, result);
		if (gone)
			nap();
	}
}

static void any_fault(struct rng *rng, char *fault, size_t size)
{
	static const char *const forms[] = { "random %llu 0.001",
		"random %llu 0.05", "all-ones-after %llu 500", "pri-error",
		"all-ones", "move-runlist 0 %llu", "rotate-runlist 0 %llu",
		"move-window %llu", "freeze-after %llu 50000",
		"lose-writes-after %llu 10", "wrong-after %llu 0xbadf1100 3" };

	snprintf(fault, size, RNG_PICK(rng, forms),
		 (unsigned long long)(1 + rng_below(rng, 1000)));
}

static int start_faults(const int *models)
{
	struct rng rng = rng_of(seed, 2000);
	unsigned long turn = 0;
	int pid = ktap_fork();

	if (pid)
		return pid;
	while (!tally_has_ended(tally)) {
		int model = models[rng_below(&rng, files.gpus)];
		char fault[80];

		if (tally_total(tally) < turn) {
			nap();
			continue;
		}
		turn = tally_total(tally) + rng_below(&rng, FAULT_EVERY);
		model_ask(model, "fault none");
		model_ask(model, "corrupt undo");
		/*
		 * Half of the time there is no fault; otherwise nearly all
		 * calls would be refused at once.
		 */
		if (rng_once_in(&rng, 2))
			continue;
		if (rng_once_in(&rng, 5))
			model_ask(model, "corrupt %zu",
				  rng_below(&rng, 100000));
		any_fault(&rng, fault, sizeof(fault));
		model_ask(model, "fault %s", fault);
		tally_count(tally, FUZZ_FAULTS, 0);
	}
	ktap_end();
}

/* ---- the tests ---- */

/* Returns the text of each file that stands still; malloc()ed. */
static char *read_all(const struct gpu *gpu, const int model)
{
	static struct files shown;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	ASSERT(out, "no memory for a GPU's files");
	model_ask(model, "fault none");
	model_ask(model, "corrupt undo");
	model_ask(model, "restart");
	gpu_texts(gpu, 0400, &shown);
	for (size_t i = 0; i < shown.count; i++) {
		char *one;

		if (file_is(shown.name[i], FILE_MOVES))
			continue;
		one = gpu_read(gpu, shown.name[i], NULL);
		EXPECT(one || file_is(shown.name[i], FILE_UNCONNECTED),
		       "%s/%s: %s", gpu->name, shown.name[i], strerror(errno));
		fprintf(out, "%s:\n%s", shown.name[i], one ? one : "-\n");
		free(one);
	}
	fclose(out);
	return text;
}

static void run_crowd(const struct gpu *gpus, const int *models)
{
	const struct churn churn = {
		.removed = FUZZ_CHURNS, .rescanned = FUZZ_CHURNS + 1,
		.unloaded = FUZZ_CHURNS + 2, .loaded = FUZZ_CHURNS + 3,
		.tally = tally, .seed = seed,
	};
	struct churn of_gpus = churn, of_module = churn;
	int pids[PROCESSES], others[3];

	of_gpus.every = GPUS_EVERY;
	of_module.every = MODULE_EVERY;
	others[0] = start_faults(models);
	others[1] = churn_start_gpus(&of_gpus, gpus);
	others[2] = churn_start_module(&of_module);
	for (size_t i = 0; i < PROCESSES; i++) {
		pids[i] = ktap_fork();
		if (pids[i])
			continue;
		fuzz(i);
		ktap_end();
	}
	for (size_t i = 0; i < PROCESSES; i++)
		ktap_wait(pids[i]);
	tally_end(tally);
	for (size_t i = 0; i < 3; i++)
		ktap_wait(others[i]);
}

static void test_calls(const struct gpu *gpus)
{
	char *before[GPUS_MAX];
	int models[GPUS_MAX];
	size_t n;

	module_need();
	/* The test must not wait without end for a process that hangs. */
	ktap_alarm(300 + calls * CALL_MS * PROCESSES / 1000);
	for (n = 0; gpus[n].name[0]; n++) {
		const struct gpu *gpu = &gpus[n];

		models[n] = model_open(gpu);
		gpu_files(gpu, 0, &files.names[n]);
		gpu_files(gpu, 0400, &files.readable[n]);
		gpu_files(gpu, 0200, &files.writable[n]);
		before[n] = read_all(gpu, models[n]);
		files.named[n] = named_read(gpu);
	}
	files.gpus = n;
	tally = tally_make(fuzz_kinds, FUZZ_KINDS);
	files.writes = writes_make();
	ktap_note("seed %lu, %u processes of %lu calls", seed, PROCESSES,
		  calls);
	run_crowd(gpus, models);
	tally_note(tally);
	EXPECT(writes_note(files.writes) >= TAKEN_PERCENT, "too little was taken to "
	       "get far");

	for (size_t i = 0; i < n; i++)
		model_ask(models[i], "fault none");
	module_must_unload();
	/* A GPU that did not answer when it was found has no folder. */
	module_must_load("");
	for (size_t i = 0; i < n; i++) {
		char *after = read_all(&gpus[i], models[i]);

		EXPECT(!strcmp(before[i], after),
		       "%s does not show what it did before", gpus[i].name);
		if (strcmp(before[i], after))
			ktap_note_difference(before[i], after);
		free(after);
	}
}

static const struct suite_test tests[] = {
	{ "calls", "system calls at random on every file", test_calls,
	  SUITE_ALL },
};

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "--seed", &seed }, { "--calls", &calls },
	};

	argc = OPTIONS_TAKE(argc, argv, options);
	return SUITE_MAIN(argc, argv, tests);
}
