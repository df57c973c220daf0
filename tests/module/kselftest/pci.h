/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Removes GPUs from the PCI bus, and brings them back. */
#ifndef PCI_H
#define PCI_H

#include "gpus.h"

struct address {
	char text[VALUE_MAX];
};

/* Skips the test if the GPU cannot be removed. */
void need_pci(const struct gpu *gpu, struct address *address);

/* Removes the GPU. Returns 0 or its errno. */
int pci_try_remove(const struct address *address);
/* Remove or find GPUs. They end the test if they fail. */
void pci_remove(const struct address *address);
void pci_rescan(void);

/*
 * Binds a driver that does nothing to a GPU on PCI, so that its lists in system
 * memory are read. Skips the test where the driver (test_modules/pcigpu.c) is
 * not loaded.
 */
void pci_bind(const struct gpu *gpu);
void pci_unbind(const struct gpu *gpu);

bool folder_exists(const struct gpu *gpu);
/*
 * Waits for the folder. Folders follow devices within a moment, not necessarily
 * at once.
 */
void expect_folder(const struct gpu *gpu, bool there, const char *when);
/* Waits for all files that the folder will have: `info` is the last of them. */
void expect_files(const struct gpu *gpu, const char *when);

/* Sleeps for 10 ms. */
void nap(void);

#endif
