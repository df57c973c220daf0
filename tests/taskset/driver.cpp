// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver.hpp"

namespace stand_in {

Driver &driver() {
    static Driver &only = *new Driver;
    return only;
}

thread_local CUctx *current_context = nullptr;

CUctx *make_context(cuda::Device device) {
    return driver().contexts.add({&driver().gpus[device], device, ++driver().contexts_made});
}

void end_context(CUctx *context) {
    driver().modules.remove_if([&](const CUmod &each) { return each.context == context; });
    driver().streams.remove_if([&](const CUstream_ &each) { return each.context == context; });
    driver().events.remove_if([&](const CUevent_ &each) { return each.context == context; });
    driver().contexts.remove(context);
}

CUmod *module_of(const CUfunc *function) {
    CUmod *found = nullptr;
    driver().modules.any([&](CUmod &module) {
        for (auto &[name, each] : module.functions)
            if (&each == function)
                found = &module;
        return found != nullptr;
    });
    return found;
}

bool has_stream(cuda::Stream stream, const CUctx &context) {
    return reinterpret_cast<std::uintptr_t>(stream) <= 2 || // a default stream
           (driver().streams.has(stream) && stream->context == &context);
}

unsigned char *memory_at(cuda::DevicePointer address, std::size_t bytes) {
    auto found = driver().memory.upper_bound(address);
    if (found == driver().memory.begin())
        return nullptr;
    auto &[begin, content] = *--found;
    const std::uint64_t offset = address - begin;
    return offset <= content.size() && bytes <= content.size() - offset ? content.data() + offset
                                                                        : nullptr;
}

} // namespace stand_in
