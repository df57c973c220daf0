// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU as the core has it. Its words are the ones that the functions of core/machine.h return
// here.
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
    std::optional<Error> trouble; ///< the first error of reading words since forget()
    Record record;                ///< the words that were read since forget()
    ReadAhead ahead;

    static CoreMachine &of(const nvdebug_gpu *gpu) { return *container_of(gpu, CoreMachine, gpu); }

    [[nodiscard]] int fetch(u32 offset, u32 *value);
    [[nodiscard]] int memory(u64 address, std::span<u32> into);
    /// Drops the error and the record of the previous read of a file.
    void forget();

  private:
    int failed(const Error &why);
};

} // namespace nvdebug::driver
