// SPDX-License-Identifier: MIT OR GPL-2.0
/**
 * @mainpage libnvdebug
 *
 * Shows and controls how NVIDIA GPUs schedule work, through the files of the nvdebug kernel module
 * under /proc/gpuX, through NVIDIA's driver, or from a capture.
 *
 *     auto tree = nvdebug::Tree::open("/proc");
 *     if (!tree) { … tree.error().sentence … }
 *     auto gpus = nvdebug::gpus(*tree);
 *     if (!gpus) { … gpus.error().sentence … }
 *     for (const nvdebug::Gpu& gpu : *gpus)
 *       if (auto list = gpu.runlist(0)) …
 *
 * The library prints nothing, keeps no global state, and throws only std::bad_alloc. Different
 * threads may use distinct objects at once. An unknown value is an empty std::optional, never 0.
 */
#ifndef NVDEBUG_NVDEBUG_HPP
#define NVDEBUG_NVDEBUG_HPP

#include "nvdebug/answers.hpp"
#include "nvdebug/capture.hpp"
#include "nvdebug/control.hpp"
#include "nvdebug/entries.hpp"
#include "nvdebug/error.hpp"
#include "nvdebug/gpu.hpp"
#include "nvdebug/jobs.hpp"
#include "nvdebug/parse.hpp"
#include "nvdebug/product.hpp"
#include "nvdebug/surroundings.hpp"
#include "nvdebug/task.hpp"
#include "nvdebug/tree.hpp"
#include "nvdebug/turns.hpp"

#endif
