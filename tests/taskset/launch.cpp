// SPDX-License-Identifier: MIT OR GPL-2.0
#include "launch.hpp"
#include "callback.hpp"
#include "log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace stand_in {

cuda::Result check(const Gpu &gpu, const Launch &launch) {
    const unsigned in_cluster = launch.cluster_blocks();
    if (!in_cluster || !launch.blocks() || !launch.threads() || launch.threads() > 1024 ||
        !gpu.blocks_per_sm(launch.threads(), launch.shared_bytes))
        return cuda::invalid_value;
    if (in_cluster > 1 && (gpu.major < 9 || in_cluster > 8))
        return cuda::invalid_cluster_size;
    for (unsigned i = 0; i < 3; i++)
        if (launch.grid[i] % launch.cluster[i])
            return cuda::invalid_value;
    if (launch.cooperative && launch.blocks() > gpu.room(launch, {}))
        return cuda::too_large;
    return cuda::success;
}

namespace {

template <typename T>
T value_of(const std::vector<unsigned char> &bytes) {
    T value = 0;
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
    return value;
}

std::string ranges(const std::vector<unsigned> &numbers) {
    std::string text;
    for (std::size_t first = 0, last; first < numbers.size(); first = last + 1) {
        for (last = first; last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;)
            last++;
        text += (text.empty() ? "" : ",") + std::to_string(numbers[first]);
        if (last != first)
            text += "-" + std::to_string(numbers[last]);
    }
    return text.empty() ? "-" : text;
}

std::string hex(const Mask &mask) {
    std::string text;
    for (std::size_t bit = 0; bit < mask.size() || text.empty(); bit += 4)
        text.insert(text.begin(), "0123456789abcdef"[(mask[bit + 3] << 3) | (mask[bit + 2] << 2) |
                                                     (mask[bit + 1] << 1) | mask[bit]]);
    text.erase(0, std::min(text.find_first_not_of('0'), text.size() - 1));
    return text;
}

} // namespace

Descriptor descriptor_for(const Work &work, Lock &lock, const std::optional<Descriptor> &before) {
    CUctx &context = *work.function->module->context;
    Descriptor plain;
    plain.build(*context.gpu->layout, work.launch.grid, work.launch.block, work.launch.cluster);
    if (before)
        plain.take_mask(*context.gpu->layout, *before);
    Descriptor descriptor = plain;
    lock.unlock();
    if (const char *const pause = std::getenv("STAND_IN_PAUSE_US"))
        usleep(static_cast<useconds_t>(std::stoul(pause)));
    call_back_for_launch(&context, descriptor.words());
    lock.lock();
    if (!descriptor.same_but_mask(*context.gpu->layout, plain))
        die("WRONG something else than the mask was changed in a descriptor");
    return descriptor;
}

void run(const Work &work, const Descriptor &descriptor, const char *how) {
    const CUctx &context = *work.function->module->context;
    const auto mask = descriptor.disabled(*context.gpu->layout);
    std::string why;
    const auto sms = context.gpu->run(work.launch, mask, why);
    const std::string line =
        std::string(how) + " command=" + program_invocation_short_name +
        " pid=" + std::to_string(getpid()) + " gpu=" + std::to_string(context.device) +
        " context=" + std::to_string(context.number) + " kernel=" + work.function->name +
        " blocks=" + std::to_string(work.launch.blocks()) + " count=" + std::to_string(sms.size()) +
        " sms=" + ranges(sms) + " mask=" + hex(mask) +
        " in_flight=" + std::to_string(in_flight() + 1);
    if (!why.empty())
        die("HANG " + line + ": " + why);
    log(line);
    if (work.function->name != "where" || work.arguments.empty())
        return;
    const auto array = value_of<cuda::DevicePointer>(work.arguments[0]);
    for (const unsigned sm : sms)
        if (unsigned char *const at = memory_at(array + 4 * sm, 4)) {
            const std::uint32_t one = 1;
            std::memcpy(at, &one, sizeof(one));
        }
}

namespace {

std::vector<std::vector<unsigned char>> arguments_of(const CUfunc &function, void **params) {
    std::vector<std::vector<unsigned char>> arguments;
    for (std::size_t i = 0; params && i < function.params.size(); i++) {
        const auto *const bytes = static_cast<const unsigned char *>(params[i]);
        arguments.emplace_back(bytes, bytes + function.params[i]);
    }
    return arguments;
}

} // namespace

cuda::Result work_of(Work &work, CUctx &context, cuda::Function function, Launch launch,
                     void **params) {
    const CUmod *const module = module_of(function);
    if (!module || module->context != &context)
        return cuda::invalid_handle;
    if (!params && !function->params.empty())
        return cuda::invalid_value;
    work = {function, launch, arguments_of(*function, params)};
    return check(*context.gpu, work.launch);
}

void apply(Launch &launch, int attribute, const cuda::AttributeValue &value) {
    if (attribute == cuda::Attribute::is_cooperative)
        launch.cooperative = value.cooperative;
    if (attribute == cuda::Attribute::cluster_dimension)
        launch.cluster = {value.cluster.x, value.cluster.y, value.cluster.z};
}

} // namespace stand_in

using namespace stand_in;

namespace {

cuda::Result launch_now(cuda::Function function, const Launch &launch, cuda::Stream stream,
                        void **params) {
    return in_context([&](CUctx &context, Lock &lock) {
        Work work;
        if (!has_stream(stream, context))
            return cuda::invalid_handle;
        if (const auto error = work_of(work, context, function, launch, params))
            return error;
        if (is_captured(stream))
            return cuda::success;
        run(work, descriptor_for(work, lock), "launch");
        return cuda::success;
    });
}

struct LaunchArguments {
    cuda::Function function;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    cuda::Stream stream;
    void **params;
};
struct LaunchArgumentsAndExtra {
    LaunchArguments most; // its size is a multiple of 8
    void **extra;
};

cuda::Result launch(const LaunchArguments &given, bool cooperative) {
    const Launch launch = {.grid = {given.grid_x, given.grid_y, given.grid_z},
                           .block = {given.block_x, given.block_y, given.block_z},
                           .shared_bytes = given.shared_bytes,
                           .cooperative = cooperative};
    return launch_now(given.function, launch, given.stream, given.params);
}

cuda::Result launch_cooperative(int id, const char *name, const LaunchArguments &given) {
    return call(id, name, current_context, given, [&] { return launch(given, true); });
}

cuda::Result launch_ex(int id, const char *name, const cuda::LaunchConfig *config,
                       cuda::Function function, void **params, void **extra) {
    struct {
        const cuda::LaunchConfig *config;
        cuda::Function function;
        void **params, **extra;
    } const arguments{config, function, params, extra};
    return call(id, name, current_context, arguments, [&] {
        if (!config)
            return cuda::invalid_value;
        Launch launch;
        std::copy_n(config->grid, 3, launch.grid.begin());
        std::copy_n(config->block, 3, launch.block.begin());
        launch.shared_bytes = config->shared_bytes;
        for (unsigned i = 0; i < config->attribute_count; i++)
            apply(launch, config->attributes[i].id, config->attributes[i].value);
        return launch_now(function, launch, config->stream, params);
    });
}

cuda::Result launch_kernel(int id, const char *name, const LaunchArguments &given, void **extra) {
    const LaunchArgumentsAndExtra arguments{given, extra};
    return call(id, name, current_context, arguments, [&] {
        if (!std::getenv("STAND_IN_NESTS"))
            return launch(given, false);
        const cuda::LaunchConfig config{{given.grid_x, given.grid_y, given.grid_z},
                                        {given.block_x, given.block_y, given.block_z},
                                        given.shared_bytes,
                                        given.stream,
                                        nullptr,
                                        0};
        return launch_ex(652, "cuLaunchKernelEx", &config, given.function, given.params, extra);
    });
}

} // namespace

#define LAUNCH_ARGUMENTS                                                                           \
    { function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, params }

cuda::Result cuLaunchKernel(LAUNCH_PARAMETERS, void **extra) {
    return launch_kernel(307, "cuLaunchKernel", LAUNCH_ARGUMENTS, extra);
}

cuda::Result cuLaunchKernel_ptsz(LAUNCH_PARAMETERS, void **extra) {
    return launch_kernel(442, "cuLaunchKernel_ptsz", LAUNCH_ARGUMENTS, extra);
}

cuda::Result cuLaunchCooperativeKernel(LAUNCH_PARAMETERS) {
    return launch_cooperative(477, "cuLaunchCooperativeKernel", LAUNCH_ARGUMENTS);
}

cuda::Result cuLaunchCooperativeKernel_ptsz(LAUNCH_PARAMETERS) {
    return launch_cooperative(478, "cuLaunchCooperativeKernel_ptsz", LAUNCH_ARGUMENTS);
}

cuda::Result cuLaunchKernelEx(const cuda::LaunchConfig *config, cuda::Function function,
                              void **params, void **extra) {
    return launch_ex(652, "cuLaunchKernelEx", config, function, params, extra);
}

cuda::Result cuLaunchKernelEx_ptsz(const cuda::LaunchConfig *config, cuda::Function function,
                                   void **params, void **extra) {
    return launch_ex(653, "cuLaunchKernelEx_ptsz", config, function, params, extra);
}

cuda::Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cuda::Function function,
                                                         int threads, std::size_t shared_bytes) {
    struct {
        int *blocks;
        cuda::Function function;
        int threads;
        std::size_t shared_bytes;
    } const arguments{blocks, function, threads, shared_bytes};
    return call(
        374, "cuOccupancyMaxActiveBlocksPerMultiprocessor", current_context, arguments, [&] {
            return in_context([&](CUctx &context, Lock &) {
                if (!blocks || threads <= 0)
                    return cuda::invalid_value;
                if (!module_of(function))
                    return cuda::invalid_handle;
                *blocks = static_cast<int>(context.gpu->blocks_per_sm(threads, shared_bytes));
                return cuda::success;
            });
        });
}
