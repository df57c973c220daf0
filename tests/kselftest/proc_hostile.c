// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The GPU fails in the middle of work: the model behind it makes one access
 * after the other go wrong, of everything that its files can be asked for. The
 * errno has to be one that docs/proc.md names for the fault, what is read
 * without an error has to be true, the log and the time have to stay bounded,
 * and when the fault is over everything has to work as before.
 *
 * proc_hostile [--points COUNT] [NAME]...: at so many accesses of each, evenly
 * spread (0: at every one; default 8).
 */
#define _GNU_SOURCE /* strerrorname_np() */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "klog.h"
#include "model.h"
#include "module.h"
#include "ops.h"
#include "options.h"
#include "state.h"
#include "suite.h"
#include "topology.h"

/* What takes this long hangs. */
#define DEADLINE_S 60
/* A lease that is taken, and that leaves everything as it is when it ends. */
#define LINES_MAX 7
#define LINES_LOAD 4
#define ERRNOS_MAX 8
/* A deadline is a second, and takes a few dozen microseconds for each look. */
#define ACCESSES_AWAITED 400000
#define ACCESSES_MORE 2000
#define ACCESSES_LOAD 20000
/* Where the first of some accesses is, from one operation to the next. */
#define TURN 7

static unsigned long points = 8;

/* One way of going wrong: the model's fault, with the access's number. */
struct fault {
	char spec[64];
	/* errnos of reading and asking, and of controls and leases; 0 ends them */
	int read[ERRNOS_MAX];
	int write[ERRNOS_MAX];
	bool lies; /* what is read without an error need not be true */
	bool whole; /* it is there from the start */
	bool some; /* there may be nothing to hit */
	bool moves; /* the driver does something */
	bool awaits; /* some take a deadline or two */
	bool slow; /* each one does: every hundredth point */
	unsigned long times; /* of what a whole operation takes */
};

struct tally {
	unsigned long injected, survived[OP_KINDS][256];
	unsigned long accesses, lines; /* the most */
};

static unsigned long number_in(const char *reply, const char *key)
{
	const char *at = strstr(reply, key);

	ASSERT(at, "the model does not say %s", key);
	return strtoul(at + strlen(key) + 2, NULL, 10);
}

/* Ends what faults there are; how many accesses there were, and how many hit. */
static unsigned long fault_over(int model, unsigned long *hits)
{
	const char *reply = model_ask(model, "fault none");

	if (hits)
		*hits = number_in(reply, "hits");
	return number_in(reply, "accesses");
}

static void fault_begin(int model, const struct fault *fault, unsigned long n)
{
	char spec[100];

	if (fault->whole)
		snprintf(spec, sizeof(spec), "%s", fault->spec);
	else
		snprintf(spec, sizeof(spec), fault->spec, n);
	fault_over(model, NULL);
	model_ask(model, "fault %s", spec);
}

static bool is_among(int error, const int *errnos)
{
	for (; *errnos; errnos++)
		if (*errnos == error)
			return true;
	return false;
}

static bool is_allowed(const struct fault *fault, const struct op *op, int error)
{
	bool reads = op->kind == OP_READ || op->kind == OP_ASK;

	return !error || is_among(error, reads ? fault->read : fault->write);
}

/* Lines in the log but those with this text. */
static size_t lines_but(const char *what, int log, char **said)
{
	size_t lines = klog_lines(log, said);

	for (const char *at = *said; (at = strstr(at, what)); at++)
		lines--;
	return lines;
}

/* Does the log have that something was left as it should not be? */
static bool is_said(const char *log)
{
	static const char *const phrases[] = {
		"failed to restore", "may still", "nothing is put back", "are left to",
	};

	for (size_t i = 0; i < sizeof(phrases) / sizeof(*phrases); i++)
		if (strstr(log, phrases[i]))
			return true;
	return false;
}

struct attempt {
	const struct gpu *gpu;
	const struct fault *fault;
	const struct op *op;
	unsigned long n, whole; /* access, of so many */
	int model, log, error;
	char *text, *said;
	unsigned long hits, accesses;
	size_t lines;
};

static void attempt_make(struct attempt *a)
{
	ktap_alarm(DEADLINE_S);
	fault_begin(a->model, a->fault, a->n);
	a->error = op_run(a->gpu, a->op, &a->text);
	a->accesses = fault_over(a->model, &a->hits);
	a->lines = lines_but("callbacks suppressed", a->log, &a->said);
}

static const char *name_of(const struct attempt *a)
{
	static char name[300];

	snprintf(name, sizeof(name), "%s: %s %s \"%s\", access %lu of %lu",
		 a->fault->spec, op_kind_names[a->op->kind], a->op->file,
		 a->op->request, a->n, a->whole);
	return name;
}

/* A box or a line may have a note that its values are missing. */
static bool owns_up(const char *text)
{
	return strstr(text, "unreadable") || strstr(text, "mig: unknown") ||
	       strstr(text, "confidential_computing: unknown");
}

static void attempt_judge(const struct attempt *a)
{
	unsigned long most = a->fault->slow || a->fault->awaits ?
			     ACCESSES_AWAITED :
			     a->fault->times * a->whole + ACCESSES_MORE;
	char *steady;

	EXPECT(is_allowed(a->fault, a->op, a->error), "%s: %s", name_of(a),
	       strerror(a->error));
	EXPECT(a->lines <= LINES_MAX, "%s: %zu lines in the log: %s",
	       name_of(a), a->lines, a->said);
	EXPECT(a->accesses <= most, "%s: %lu accesses, more than %lu",
	       name_of(a), a->accesses, most);
	if (!a->text || a->fault->lies)
		return;
	steady = op_steady(a->op, a->text);
	if (strcmp(steady, a->op->expected) && !owns_up(steady)) {
		EXPECT(false, "%s: not what it is", name_of(a));
		ktap_note_difference(a->op->expected, steady);
	}
	free(steady);
}

/* A request that failed has changed nothing, or the log has it. */
static void judge_state(const struct attempt *a, const struct state *before,
			const struct state *now)
{
	if (a->fault->lies || is_said(a->said) ||
	    (!a->error && a->op->kind != OP_LEASE))
		return;
	EXPECT(false, "%s: %s, but not as it was", name_of(a),
	       strerror(a->error));
	ktap_note_difference(before->text, now->text);
	ktap_note("the log: %s", a->said);
}

/* Then all is as the driver had it, however far from that it is. */
static void expect_state(const struct attempt *a, const struct state *before)
{
	bool readable = state_is_readable(a->gpu);
	struct state now = { 0 };

	EXPECT(readable || is_said(a->said), "%s: %s, and lists are unreadable",
	       name_of(a), strerror(a->error));
	if (readable) {
		now = state_read(a->gpu);
		if (!strcmp(now.text, before->text)) {
			state_free(&now);
			return;
		}
		judge_state(a, before, &now);
		state_free(&now);
	}
	model_ask(a->model, "restart");
	state_restore(a->gpu, before);
	state_expect(a->gpu, before, "after the fault");
}

static void expect_works(const struct attempt *a)
{
	struct attempt again = *a;
	char *steady;

	again.error = op_run(a->gpu, a->op, &again.text);
	EXPECT(!again.error, "%s: afterwards: %s", name_of(a),
	       strerror(again.error));
	if (again.text) {
		steady = op_steady(a->op, again.text);
		EXPECT(!strcmp(steady, a->op->expected),
		       "%s: not as before afterwards", name_of(a));
		free(steady);
	}
	free(again.text);
}

static void count(struct tally *tally, const struct attempt *a)
{
	tally->injected++;
	tally->survived[a->op->kind][a->error & 255]++;
	if (a->accesses > tally->accesses)
		tally->accesses = a->accesses;
	if (a->lines > tally->lines)
		tally->lines = a->lines;
}

static bool changes(const struct op *op)
{
	return op->kind == OP_CONTROL || op->kind == OP_LEASE;
}

/* All accesses of one operation in turn, or some of them, in each turn others. */
static void sweep(struct attempt *a, const struct state *before, size_t turn,
		  struct tally *tally)
{
	unsigned long limit = points ? points : ~0UL, step;

	if (a->fault->whole)
		limit = 1;
	else if (a->fault->slow)
		limit = limit / 100 + 1;
	step = a->whole > limit ? (a->whole + limit - 1) / limit : 1;
	/* of what is repeated after so many accesses, 0 is none */
	a->n = a->fault->moves + turn * TURN % step;
	for (; a->n < a->whole; a->n += step) {
		klog_lines(a->log, &a->said);
		free(a->said);
		attempt_make(a);
		attempt_judge(a);
		if (changes(a->op) || a->fault->moves)
			expect_state(a, before);
		if (!changes(a->op))
			expect_works(a);
		if (a->hits)
			count(tally, a);
		free(a->text);
		free(a->said);
	}
}

static void note(const struct gpu *gpu, const struct fault *fault,
		 const struct tally *tally)
{
	char text[400];
	int used = 0;

	for (int kind = 0; kind < OP_KINDS; kind++)
		for (int error = 0; error < 256; error++)
			if (tally->survived[kind][error] && used < 350)
				used += snprintf(text + used,
						 sizeof(text) - (size_t)used,
						 ", %s %s %lu",
						 op_kind_names[kind],
						 error ? strerrorname_np(error) :
							 "none",
						 tally->survived[kind][error]);
	ktap_note("%s: %s: %lu faults%s; at most %lu accesses, %lu lines",
		  gpu->name, fault->spec, tally->injected, used ? text : "",
		  tally->accesses, tally->lines);
}

/* How many it takes without a fault. */
static unsigned long accesses_of(const struct gpu *gpu, int model,
				 const struct op *op,
				 const struct state *before)
{
	unsigned long accesses;
	char *text;

	fault_over(model, NULL);
	op_run(gpu, op, &text);
	accesses = fault_over(model, NULL);
	free(text);
	if (changes(op))
		state_restore(gpu, before);
	return accesses;
}

static void sweep_all(const struct gpu *gpu, const struct fault *faults,
		      size_t fault_count)
{
	static struct op ops[OPS_MAX];
	static unsigned long whole[OPS_MAX];
	int model = model_open(gpu), log = klog_open();
	struct state before;
	size_t op_count;

	model_ask(model, "fault none");
	model_ask(model, "restart");
	before = state_read(gpu);
	op_count = ops_find(gpu, ops);
	for (size_t i = 0; i < op_count; i++)
		whole[i] = accesses_of(gpu, model, &ops[i], &before);
	for (size_t f = 0; f < fault_count; f++) {
		struct tally tally = { 0 };

		for (size_t i = 0; i < op_count; i++) {
			struct attempt a = {
				.gpu = gpu, .fault = &faults[f], .op = &ops[i],
				.model = model, .log = log, .whole = whole[i],
			};

			sweep(&a, &before, f * op_count + i, &tally);
		}
		note(gpu, &faults[f], &tally);
		EXPECT(tally.injected || faults[f].some, "%s: nothing was hit",
		       faults[f].spec);
	}
	model_ask(model, "violations reset");
}

/* The same faults with other words in their place. */
static void sweep_words(const struct gpu *gpu, const struct fault *like,
			const char *const *words, size_t count)
{
	struct fault faults[64];

	ASSERT(count <= sizeof(faults) / sizeof(*faults), "too many words");
	for (size_t i = 0; i < count; i++) {
		faults[i] = *like;
		snprintf(faults[i].spec, sizeof(faults[i].spec), like->spec,
			 words[i]);
	}
	sweep_all(gpu, faults, count);
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define SWEEP(gpu, faults) \
	sweep_all(gpu, faults, COUNT(faults))

static void test_vanish(const struct gpu *gpu)
{
	static const struct fault faults[] = {
		{ "all-ones-after %lu", { ENODEV }, { ENODEV }, .times = 2 },
	};

	SWEEP(gpu, faults);
}

/* What is missed meanwhile may look like data: memory can hold anything. */
static void test_return(const struct gpu *gpu)
{
	/* EINVAL: what was asked for is not in a list with an entry of ones */
	static const struct fault faults[] = {
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
	/* EINVAL: as above, as an entry may be 0xbad00200 */
	static const struct fault faults[] = {
		{ "wrong-after %lu 0xbadf1100 1000000", { EIO }, { EIO },
		  .times = 4 },
		{ "wrong-after %lu 0xbad00200", { EIO, EFAULT, EINVAL },
		  { EIO, EFAULT, EINVAL, EBUSY }, .lies = true, .times = 4 },
	};

	SWEEP(gpu, faults);
}

/* All kinds of error words that anybody has described, in every register. */
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
	static const struct fault fault = {
		"pri-error %s", { EIO }, { EIO }, .whole = true, .times = 4,
	};

	sweep_words(gpu, &fault, words, points ? 1 : COUNT(words));
}

/* Those that matter most come first. */
static const char *const blocks[] = {
	"PRAMIN", "PCCSR", "CHRAM", "RUNLIST", "PFIFO", "PBUS_WINDOW", "PMC",
	"PTOP", "PBDMA", "CE", "FUSE", "PGRAPH", "PFB", "PRI", "PBUS",
	"BAR_BLOCK", "PTIMER", "USERMODE", "OTHER", "BAR1", "BAR2",
};

static size_t block_count(void)
{
	return points ? 6 : COUNT(blocks);
}

static void test_blocks(const struct gpu *gpu)
{
	static const struct fault fault = {
		"pri-error %s 0xbadf5100", { EIO }, { EIO }, .whole = true,
		.times = 4, .slow = true, .some = true,
	};

	sweep_words(gpu, &fault, blocks, block_count());
}

static void test_units(const struct gpu *gpu)
{
	static const struct fault fault = {
		"all-ones %s", { EIO, ENODEV }, { EIO, ENODEV }, .whole = true,
		.times = 4, .slow = true, .some = true,
	};

	sweep_words(gpu, &fault, blocks, block_count());
}

static void test_moves(const struct gpu *gpu)
{
	static const struct fault faults[] = {
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
	static const struct fault faults[] = {
		{ "lose-writes-after %lu 1", { EBUSY },
		  { EBUSY, EIO, ETIMEDOUT }, .awaits = true },
		{ "lose-writes-after %lu", { EBUSY }, { EBUSY, EIO, ETIMEDOUT },
		  .awaits = true },
	};

	SWEEP(gpu, faults);
}

static void test_frozen(const struct gpu *gpu)
{
	static const struct fault faults[] = {
		{ "freeze-after %lu", { 0 }, { ETIMEDOUT }, .slow = true },
	};

	SWEEP(gpu, faults);
}

static void test_wrong(const struct gpu *gpu)
{
	static const struct fault faults[] = {
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

/* What the other GPUs show: their folders may become others, but not that. */
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

/* Whatever it may be taken for: each file either opens or fails. */
static void read_everything(void)
{
	static struct gpu gpus[GPUS_MAX + 1];
	static struct files files;
	size_t count = gpus_find(gpus);

	for (size_t i = 0; i < count; i++) {
		gpu_files(&gpus[i], 0400, &files);
		for (size_t f = 0; f < files.count; f++) {
			ktap_alarm(DEADLINE_S);
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

static void load_once(struct load *load, const struct fault *fault,
		      unsigned long n, struct tally *tally)
{
	unsigned long accesses, hits;
	char when[128], *said;
	size_t lines;
	int error;

	snprintf(when, sizeof(when), "%.60s: load, access %lu of %lu",
		 fault->spec, n, load->whole);
	ktap_alarm(DEADLINE_S);
	module_must_unload();
	klog_lines(load->log, &said);
	free(said);
	fault_begin(load->model, fault, n);
	error = module_load("");
	accesses = fault_over(load->model, &hits);
	lines = lines_but("self-tests", load->log, &said);
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
	static const struct fault faults[] = {
		{ .spec = "all-ones-after %lu" },
		{ .spec = "wrong-after %lu 0xbadf1100 1000000" },
		{ .spec = "wrong-after %lu 0" },
		{ .spec = "wrong-after %lu 0x7fffffff" },
		{ .spec = "wrong-after %lu 0x7fffffff 1000000" },
		/* rows of tables that never end */
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
	fault_over(load.model, NULL);
	module_must_load("");
	load.whole = fault_over(load.model, NULL);
	step = points && load.whole > points ?
	       (load.whole + points - 1) / points : 1;
	for (size_t f = 0; f < COUNT(faults); f++) {
		struct tally tally = { 0 };

		for (unsigned long n = 0; n < load.whole; n += step)
			load_once(&load, &faults[f], n, &tally);
		note(gpu, &faults[f], &tally);
		EXPECT(tally.injected, "%s: nothing was hit", faults[f].spec);
	}
	module_must_unload();
	module_must_load("");
	topology_expect(&before, "after bad loads");
	topology_free(&before);
	model_ask(load.model, "violations reset");
}

/* Where no memory is, or none that may be read. */
static void test_addresses(const struct gpu *gpu)
{
	static const char *const directories[] = {
		"0xfffffffffffff000:vid", "0x10000000000:vid",
		"0x7ffffffff000:vid", "0xfffffffffffff000:coh",
		"0xa0000:coh", /* VGA's */
		"0xf0000:coh", /* firmware */
		"0xfec00000:coh", "0xfee00000:ncoh", /* interrupt controllers */
		"0xfffff000:coh", "0x100000000000:ncoh",
		"0x7ffffffffffff000:coh", "0x8000000000000000:ncoh",
	};

	for (size_t i = 0; i < COUNT(directories); i++) {
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
	static const struct option options[] = { { "--points", &points } };

	argc = OPTIONS_TAKE(argc, argv, options);
	return SUITE_MAIN(argc, argv, tests);
}
