// SPDX-License-Identifier: MIT OR GPL-2.0
/**
 * @mainpage libnvdebug
 *
 * How NVIDIA GPUs schedule work, from the files of the nvdebug kernel module under /proc/gpuX, or
 * from a capture of them.
 *
 *     auto tree = nvdebug::Tree::open("/proc");
 *     if (!tree) { … tree.error().sentence … }
 *     auto gpus = nvdebug::gpus(*tree);
 *     if (!gpus) { … gpus.error().sentence … }
 *     for (const nvdebug::Gpu& gpu : *gpus)
 *       if (auto list = gpu.runlist(0)) …
 *
 * Nothing here prints, keeps global state, or throws (but std::bad_alloc). Distinct objects may be
 * used by different threads at once. What is unknown is an empty std::optional, never 0.
 */
#ifndef NVDEBUG_NVDEBUG_HPP
#define NVDEBUG_NVDEBUG_HPP

#include "nvdebug/answers.hpp"
#include "nvdebug/capture.hpp"
#include "nvdebug/control.hpp"
#include "nvdebug/error.hpp"
#include "nvdebug/gpu.hpp"
#include "nvdebug/parse.hpp"
#include "nvdebug/product.hpp"
#include "nvdebug/surroundings.hpp"
#include "nvdebug/task.hpp"
#include "nvdebug/tree.hpp"
#include "nvdebug/turns.hpp"

#endif
