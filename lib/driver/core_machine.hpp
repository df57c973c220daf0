// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU as the core has it, with the words that core/machine.h is implemented over.
#pragma once

#include <linux/types.h>

extern "C" {
#include "core/gpu.h"
}

#include <memory>
#include <optional>
#include <span>

#include "nvdebug/error.hpp"
#include "read_ahead.hpp"
#include "words.hpp"

namespace nvdebug::driver {

struct CoreMachine {
    nvdebug_gpu gpu{};
    std::unique_ptr<Words> words;
    std::optional<Error> trouble; ///< the first error of the words since forget()
    Record record;                ///< of the words, since forget()
    ReadAhead ahead;

    static CoreMachine &of(const nvdebug_gpu *gpu) { return *container_of(gpu, CoreMachine, gpu); }

    [[nodiscard]] int fetch(u32 offset, u32 *value);
    [[nodiscard]] int memory(u64 address, std::span<u32> into);
    /// Drops what the last read of a file left.
    void forget();

  private:
    int failed(const Error &why);
};

} // namespace nvdebug::driver
