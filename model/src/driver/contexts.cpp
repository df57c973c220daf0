// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver/contexts.hpp"

#include "driver/context_image.hpp"
#include "regs/ramin.hpp"

#include <bit>

namespace nvmodel {
namespace {

constexpr std::uint64_t page = mmu::small_page;
/// Real images have megabytes; only their headers have contents here.
constexpr std::uint64_t image_size = 4 * page;
constexpr std::uint64_t buffer_size = page;
constexpr std::uint64_t preemption_buffer_size = 4 * page;

} // namespace

/// The headers of subcontexts are a page apart, independent of their size (open-gpu-kernel-modules
/// src/nvidia/src/kernel/gpu/gr/kernel_graphics.c).
std::uint64_t EngineContext::pointer(unsigned subcontext) const {
    return headers.empty() ? va : headers_va + subcontext * page;
}

std::uint64_t ContextBuilder::reserve(std::span<Space *const> spaces, std::uint64_t size) const {
    const Field pointer_hi = board_.generation->instance.wide_pointer
                                 ? regs::ramin::wfi_ptr_hi_gb10b
                                 : regs::ramin::wfi_ptr_hi;
    return Space::reserve_context(spaces, size, 32 + pointer_hi.hi + 1);
}

PhysicalAddress ContextBuilder::take_mapped(std::uint64_t va, std::uint64_t size,
                                            std::span<Space *const> spaces) {
    const PhysicalAddress at = memory_.take(Aperture::video, size, page);
    for (Space *space : spaces)
        space->map(va, at, size);
    return at;
}

EngineContext ContextBuilder::graphics(const ContextSpec &spec, std::span<Space *const> spaces) {
    const ContextTraits &traits = board_.generation->context;
    ContextImage image;
    image.id = spec.id ? *spec.id : next_id_++;
    image.gpcs = board_.geometry.num_gpcs -
                 static_cast<unsigned>(std::popcount(board_.geometry.gpc_disabled));
    image.graphics = spec.graphics.value_or(image.graphics);
    image.compute = spec.compute.value_or(image.compute);
    if (image.graphics == GraphicsPreemption::gfxp || image.compute == ComputePreemption::cilp) {
        image.preemption_buffer = reserve(spaces, preemption_buffer_size);
        for (Space *space : spaces)
            space->map_data(image.preemption_buffer, preemption_buffer_size);
    }

    const std::uint64_t headers_size = traits.veid_headers ? spaces.size() * page : 0;
    EngineContext context{.va = reserve(spaces, image_size + headers_size), .graphics = true};
    context.address = take_mapped(context.va, image_size + headers_size, spaces);
    memory_.write(context.address, encode_context_image(traits, image));
    context.headers_va = context.va + image_size;
    for (std::uint64_t offset = 0; offset < headers_size; offset += page) {
        context.headers.push_back(
            {context.address.aperture, context.address.address + image_size + offset});
        memory_.write(context.headers.back(), encode_veid_header(traits, context.va));
    }
    return context;
}

EngineContext ContextBuilder::buffer(std::span<Space *const> spaces) {
    EngineContext context{.va = reserve(spaces, buffer_size)};
    context.address = take_mapped(context.va, buffer_size, spaces);
    return context;
}

} // namespace nvmodel
