// SPDX-License-Identifier: MIT OR GPL-2.0
// Callbacks: one subscriber in a process, by the table of cuGetExportTable().
#pragma once

#include "cuda.hpp"

#include <array>
#include <cstdint>

namespace stand_in {

const void *const *export_table();

bool wants(int domain, int id);
void call_back(int domain, int id, const void *params);

/// Makes a call of the API between its two callbacks. `arguments` is a struct of its arguments.
template <typename Arguments, typename Body>
cuda::Result call(int id, const char *name, cuda::Context context, const Arguments &arguments,
                  Body body) {
    if (!wants(cuda::api_domain, id))
        return body();
    cuda::Result result = 999;
    int skip = 0;
    const auto word = [](const auto *pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
    // Words without a known meaning get a value that no reader can use by mistake.
    std::array<std::uint64_t, 13> words;
    words.fill(0xdead);
    words[0] = 0xdead'0000'0068;
    words[5] = word(&result);
    words[6] = word(name);
    words[7] = word(&arguments);
    words[8] = word(context);
    words[10] = static_cast<std::uint32_t>(id);
    words[11] = word(&skip);
    call_back(cuda::api_domain, id, words.data());
    if (!skip)
        result = body();
    words[10] |= std::uint64_t{1} << 32;
    call_back(cuda::api_domain, id, words.data());
    return result;
}

/// Calls back before a descriptor goes to the GPU.
void call_back_for_launch(const void *driver_context, void *descriptor);

} // namespace stand_in
