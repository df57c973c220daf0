// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The GPU fails in the middle of work: the model behind it makes one access
 * after the other go wrong, for everything that the GPU's files can be asked
 * for. The errno has to be one that docs/proc.md names for the fault. A text
 * that is read without an error has to be true. The log and the time stay
 * bounded, and after the fault everything works again.
 *
 * proc_hostile [--points COUNT] [NAME]...: makes COUNT accesses of each go
 * wrong, evenly spread (0: every access; default 8).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "klog.h"
#include "model.h"
#include "module.h"
#include "options.h"
#include "pci.h"
#include "suite.h"
#include "sweep.h"
#include "topology.h"

#define LINES_LOAD 4
#define ACCESSES_LOAD 20000

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define SWEEP(gpu, faults) \
	sweep_faults(gpu, faults, COUNT(faults))

static void test_vanish(const struct gpu *gpu)
{
	static const struct sweep_fault faults[] = {
		{ "all-ones-after %lu", { ENODEV }, { ENODEV }, .times = 2 },
	};

	SWEEP(gpu, faults);
}

/*
 * The GPU is away for some accesses only. Their words may look like data,
 * because memory can hold anything.
 */
static void test_return(const struct gpu *gpu)
{
	/*
	 * EINVAL: with an entry of ones the list lacks the target of the
	 * request.
	 */
	static const struct sweep_fault faults[] = {
		{ "all-ones-after %lu 1", { ENODEV, EIO, EBUSY, EFAULT, EINVAL },
		  { ENODEV, EIO, EBUSY, EFAULT, EINVAL }, .lies = true,
		  .times = 4 },
		{ "all-ones-after %lu 20", { ENODEV, EIO, EBUSY, EFAULT, EINVAL },
		  { ENODEV, EIO, EBUSY, EFAULT, EINVAL }, .lies = true,
		  .times = 4 },
	};

	SWEEP(gpu, faults);
}

static void test_errors(const struct gpu *gpu)
{
	/* EINVAL: a list with the entry 0xbad00200 lacks the target. */
	static const struct sweep_fault faults[] = {
		{ "wrong-after %lu 0xbadf1100 1000000", { EIO }, { EIO },
		  .times = 4 },
		{ "wrong-after %lu 0xbad00200", { EIO, EFAULT, EINVAL },
		  { EIO, EFAULT, EINVAL, EBUSY }, .lies = true, .times = 4 },
	};

	SWEEP(gpu, faults);
}

/*
 * Every register answers with each kind of error word that is described
 * anywhere.
 */
static void test_words(const struct gpu *gpu)
{
	static const char *const words[] = {
		"0xbadf0200", "0xbad00100", "0xbad00200", "0xbad00f00",
		"0xbad0ac00", "0xbad0b000", "0xbad0da00", "0xbad0fb00",
		"0xbadf1000", "0xbadf1100", "0xbadf1201", "0xbadf1300",
		"0xbadf1400", "0xbadf1500", "0xbadf1600", "0xbadf1700",
		"0xbadf1800", "0xbadf1900", "0xbadf2000", "0xbadf2100",
		"0xbadf2200", "0xbadf2300", "0xbadf2400", "0xbadf2500",
		"0xbadf2600", "0xbadf2700", "0xbadf2800", "0xbadf3000",
		"0xbadf3100", "0xbadf4000", "0xbadf4100", "0xbadf5040",
		"0xbadf5100", "0xbadf5200", "0xbadf5300", "0xbadf5400",
		"0xbadf5500", "0xbadf5700", "0xbadf5900", "0xbadf6000",
		"0xbadfffff",
	};
	static const struct sweep_fault fault = {
		"pri-error %s", { EIO }, { EIO }, .whole = true, .times = 4,
	};

	sweep_words(gpu, &fault, words, sweep_points ? 1 : COUNT(words));
}

/*
 * The most important blocks come first: unless every access is tried, only some
 * of them are.
 */
static const char *const blocks[] = {
	"PRAMIN", "PCCSR", "CHRAM", "RUNLIST", "PFIFO", "PBUS_WINDOW", "PMC",
	"PTOP", "PBDMA", "CE", "FUSE", "PGRAPH", "PFB", "PRI", "PBUS",
	"BAR_BLOCK", "PTIMER", "USERMODE", "OTHER", "BAR1", "BAR2",
};

static size_t block_count(void)
{
	return sweep_points ? 6 : COUNT(blocks);
}

static void test_blocks(const struct gpu *gpu)
{
	static const struct sweep_fault fault = {
		"pri-error %s 0xbadf5100", { EIO }, { EIO }, .whole = true,
		.times = 4, .slow = true, .some = true,
	};

	sweep_words(gpu, &fault, blocks, block_count());
}

static void test_units(const struct gpu *gpu)
{
	static const struct sweep_fault fault = {
		"all-ones %s", { EIO, ENODEV }, { EIO, ENODEV }, .whole = true,
		.times = 4, .slow = true, .some = true,
	};

	sweep_words(gpu, &fault, blocks, block_count());
}

static void test_moves(const struct gpu *gpu)
{
	static const struct sweep_fault faults[] = {
		{ "move-runlist 0 %lu 1", { EBUSY }, { EBUSY }, .lies = true,
		  .moves = true, .times = 8 },
		{ "move-runlist 0 %lu", { EBUSY }, { EBUSY }, .lies = true,
		  .moves = true, .times = 8 },
		{ "move-window %lu", { EBUSY }, { EBUSY }, .moves = true,
		  .times = 8 },
	};

	SWEEP(gpu, faults);
}

static void test_lost(const struct gpu *gpu)
{
	static const struct sweep_fault faults[] = {
		{ "lose-writes-after %lu 1", { EBUSY },
		  { EBUSY, EIO, ETIMEDOUT }, .awaits = true },
		{ "lose-writes-after %lu", { EBUSY }, { EBUSY, EIO, ETIMEDOUT },
		  .awaits = true },
	};

	SWEEP(gpu, faults);
}

static void test_frozen(const struct gpu *gpu)
{
	static const struct sweep_fault faults[] = {
		{ "freeze-after %lu", { 0 }, { ETIMEDOUT }, .slow = true },
	};

	SWEEP(gpu, faults);
}

static void test_wrong(const struct gpu *gpu)
{
	static const struct sweep_fault faults[] = {
		{ "wrong-after %lu 0x00000000",
		  { EIO, EFAULT, EBUSY, EINVAL, ENODEV },
		  { EIO, EFAULT, EBUSY, EINVAL, ETIMEDOUT }, .lies = true,
		  .slow = true },
		{ "wrong-after %lu 0x7fffffff",
		  { EIO, EFAULT, EBUSY, EINVAL, ENODEV },
		  { EIO, EFAULT, EBUSY, EINVAL, ETIMEDOUT }, .lies = true,
		  .slow = true },
	};

	SWEEP(gpu, faults);
}

/*
 * Reads the other GPUs. Their folders may get other numbers, but the texts
 * stay.
 */
static size_t others_read(const char *bad, char *texts[GPUS_MAX])
{
	static struct gpu gpus[GPUS_MAX + 1];
	size_t count = gpus_find(gpus), kept = 0;
	char address[VALUE_MAX];

	for (size_t i = 0; i < count; i++) {
		gpu_info(&gpus[i], "pci_address", address);
		if (strcmp(address, bad))
			texts[kept++] = topology_text(&gpus[i]);
	}
	return kept;
}

static void others_expect(const char *bad, char *const before[GPUS_MAX],
			  size_t count, const char *when)
{
	char *now[GPUS_MAX];
	size_t kept = others_read(bad, now);

	EXPECT(kept == count, "%s: %zu other GPUs, of %zu", when, kept, count);
	for (size_t i = 0; i < kept; i++) {
		EXPECT(i >= count || !strcmp(before[i], now[i]),
		       "%s: another GPU is not as it was", when);
		free(now[i]);
	}
}

/*
 * Reads every file of every GPU, whatever the bad GPU is taken for: each file
 * either opens or fails.
 */
static void read_everything(void)
{
	static struct gpu gpus[GPUS_MAX + 1];
	static struct files files;
	size_t count = gpus_find(gpus);

	for (size_t i = 0; i < count; i++) {
		gpu_files(&gpus[i], 0400, &files);
		for (size_t f = 0; f < files.count; f++) {
			ktap_alarm(SWEEP_DEADLINE_S);
			free(gpu_read(&gpus[i], files.name[f], NULL));
		}
	}
}

struct load {
	int model, log;
	unsigned long whole; /* accesses of a load */
	char bad[VALUE_MAX]; /* PCI address */
	char *others[GPUS_MAX];
	size_t count;
};

static void load_once(struct load *load, const struct sweep_fault *fault,
		      unsigned long n, struct sweep_tally *tally)
{
	unsigned long accesses, hits;
	char when[128], *said;
	size_t lines;
	int error;

	snprintf(when, sizeof(when), "%.60s: load, access %lu of %lu",
		 fault->spec, n, load->whole);
	ktap_alarm(SWEEP_DEADLINE_S);
	module_must_unload();
	klog_lines(load->log, &said);
	free(said);
	sweep_fault_begin(load->model, fault, n);
	error = module_load("");
	accesses = sweep_fault_end(load->model, &hits);
	lines = sweep_log_lines("self-tests", load->log, &said);
	ASSERT(!error, "%s: %s", when, strerror(error));
	EXPECT(lines <= load->count + LINES_LOAD, "%s: %zu lines: %s", when,
	       lines, said);
	EXPECT(accesses <= 4 * load->whole + ACCESSES_LOAD, "%s: %lu accesses",
	       when, accesses);
	free(said);
	others_expect(load->bad, load->others, load->count, when);
	read_everything();
	tally->injected += hits > 0;
	tally->survived[OP_READ][0] += hits > 0;
	if (accesses > tally->accesses)
		tally->accesses = accesses;
	if (lines > tally->lines)
		tally->lines = lines;
}

static void test_load(const struct gpu *gpu)
{
	static const struct sweep_fault faults[] = {
		{ .spec = "all-ones-after %lu" },
		{ .spec = "wrong-after %lu 0xbadf1100 1000000" },
		{ .spec = "wrong-after %lu 0" },
		{ .spec = "wrong-after %lu 0x7fffffff" },
		{ .spec = "wrong-after %lu 0x7fffffff 1000000" },
		/* Rows of tables that never end: */
		{ .spec = "wrong-after %lu 0x80000001 1000000" },
		{ .spec = "wrong-after %lu 0xfffffffe 1000000" },
	};
	static struct load load;
	struct topology before;
	unsigned long step;

	module_need();
	load.model = model_open(gpu);
	load.log = klog_open();
	gpu_info(gpu, "pci_address", load.bad);
	topology_read(&before);
	load.count = others_read(load.bad, load.others);
	module_must_unload();
	sweep_fault_end(load.model, NULL);
	module_must_load("");
	load.whole = sweep_fault_end(load.model, NULL);
	step = sweep_points && load.whole > sweep_points ?
	       (load.whole + sweep_points - 1) / sweep_points : 1;
	for (size_t f = 0; f < COUNT(faults); f++) {
		struct sweep_tally tally = { 0 };

		for (unsigned long n = 0; n < load.whole; n += step)
			load_once(&load, &faults[f], n, &tally);
		sweep_note(gpu, &faults[f], &tally);
		EXPECT(tally.injected, "%s: nothing was hit", faults[f].spec);
	}
	module_must_unload();
	module_must_load("");
	topology_expect(&before, "after bad loads");
	topology_free(&before);
	model_ask(load.model, "violations reset");
}

static void expect_no_memory(const struct gpu *gpu,
			     const char *const *directories, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct op op = { .kind = OP_ASK, .file = "translate" };
		char *text;
		int error;

		snprintf(op.request, sizeof(op.request), "%s 0x10000",
			 directories[i]);
		error = op_run(gpu, &op, &text);
		EXPECT(error == EFAULT || error == ERANGE ||
		       (!error && strstr(text, "result: -\n") &&
			!strstr(text, "error: -\n")),
		       "%s: %s", op.request, error ? strerror(error) : text);
		free(text);
	}
}

/*
 * Addresses without memory, or with memory that may not be read. System memory
 * is looked at only while a driver is bound.
 */
static void test_addresses(const struct gpu *gpu)
{
	static const char *const video[] = {
		"0xfffffffffffff000:vid", "0x10000000000:vid",
		"0x7ffffffff000:vid",
	};
	static const char *const system[] = {
		"0xfffffffffffff000:coh", "0xa0000:coh", /* VGA's */
		"0xf0000:coh", /* firmware */
		"0xfec00000:coh", "0xfee00000:ncoh", /* interrupt controllers */
		"0xfffff000:coh", "0x100000000000:ncoh",
		"0x7ffffffffffff000:coh", "0x8000000000000000:ncoh",
	};

	expect_no_memory(gpu, video, COUNT(video));
	pci_bind(gpu);
	expect_no_memory(gpu, system, COUNT(system));
	pci_unbind(gpu);
}

static const struct suite_test tests[] = {
	{ "vanish", "the GPU goes off the bus", test_vanish, 0 },
	{ "return", "it does and comes back", test_return, 0 },
	{ "errors", "the register bus says no", test_errors, 0 },
	{ "words", "with every kind of error", test_words, 0 },
	{ "blocks", "of some registers only", test_blocks, 0 },
	{ "units", "a unit has no power", test_units, 0 },
	{ "moves", "the driver moves lists and the window", test_moves, 0 },
	{ "lost", "writes change nothing", test_lost, 0 },
	{ "frozen", "what is pending stays so", test_frozen, 0 },
	{ "addresses", "tables where no memory is", test_addresses, 0 },
	{ "wrong", "registers and memory hold nonsense", test_wrong, 0 },
	{ "load", "all of that while the module is loaded", test_load, 0 },
};

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "--points", &sweep_points },
	};

	argc = OPTIONS_TAKE(argc, argv, options);
	return SUITE_MAIN(argc, argv, tests);
}
