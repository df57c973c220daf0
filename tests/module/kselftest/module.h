/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Loads and unloads the module. Its file is /lib/nvdebug.ko, or the file that
 * the environment variable NVDEBUG_KO names.
 */
#ifndef MODULE_H
#define MODULE_H

#include <stdbool.h>

/* Skips the test if there is no file of the module. */
void module_need(void);
int module_load(const char *params); /* 0 or an errno */
int module_unload(void);

/* Load and unload the module. They end the test if that fails. */
void module_must_load(const char *params);
void module_must_unload(void);

#endif
