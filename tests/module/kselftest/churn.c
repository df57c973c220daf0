// SPDX-License-Identifier: MIT OR GPL-2.0
#include "churn.h"

#include "ktap.h"
#include "module.h"
#include "pci.h"

#define NAPS_MAX 50

/*
 * Waits until the tally has counted about `every` more. Returns false at the
 * end.
 */
static bool next_turn(const struct churn *churn, unsigned long every,
		      struct rng *rng, unsigned long *turn)
{
	*turn += 1 + rng_below(rng, 2 * every);
	while (tally_total(churn->tally) < *turn) {
		if (tally_has_ended(churn->tally))
			return false;
		nap();
	}
	/* The turns that passed during the wait are not made up for. */
	*turn = tally_total(churn->tally);
	return !tally_has_ended(churn->tally);
}

/*
 * Returns whether a GPU has no folder, because it did not answer when it was
 * found.
 */
static bool some_missing(const struct gpu *gpus)
{
	for (; gpus->name[0]; gpus++)
		if (!folder_exists(gpus))
			return true;
	return false;
}

/* Waits for all folders, since kernels take a while to find GPUs again. */
static bool wait_for_folders(const struct gpu *gpus)
{
	for (int naps = 0; naps < NAPS_MAX; naps++) {
		if (!some_missing(gpus))
			return true;
		nap();
	}
	return false;
}

int churn_start_gpus(const struct churn *churn, const struct gpu *gpus)
{
	static struct address addresses[GPUS_MAX];
	struct rng rng = rng_of(churn->seed, 1000);
	unsigned long turn = 0, every = churn->every;
	size_t count = 0;
	int pid;

	for (; gpus[count].name[0]; count++)
		need_pci(&gpus[count], &addresses[count]);
	pid = ktap_fork();
	if (pid)
		return pid;
	while (next_turn(churn, every, &rng, &turn)) {
		size_t first = rng_below(&rng, count);
		size_t gone = some_missing(gpus) ? count :
			      1 + rng_below(&rng, count);

		for (size_t i = 0; i < gone; i++) {
			pci_remove(&addresses[(first + i) % count]);
			tally_count(churn->tally, churn->removed, 0);
		}
		if (rng_once_in(&rng, 2))
			nap();
		pci_rescan();
		tally_count(churn->tally, churn->rescanned, 0);
		every = wait_for_folders(gpus) ? churn->every :
			churn->every / 10;
	}
	ktap_end();
}

int churn_start_module(const struct churn *churn)
{
	struct rng rng = rng_of(churn->seed, 1001);
	unsigned long turn = 0;
	int pid;

	module_need();
	pid = ktap_fork();
	if (pid)
		return pid;
	while (next_turn(churn, churn->every, &rng, &turn)) {
		if (!tally_count(churn->tally, churn->unloaded,
				 module_unload()))
			continue;
		if (rng_once_in(&rng, 2))
			nap();
		tally_count(churn->tally, churn->loaded, module_load(""));
	}
	ktap_end();
}
