// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver/context_image.hpp"

#include "regs/ctxsw.hpp"

namespace nvmodel {
namespace {

using namespace regs::ctxsw;

using Words = std::vector<std::uint32_t>;

void put_magic(Words &words, const ContextTraits &traits) {
    words[magic / 4] = magic_value;
    if (traits.header_bytes > magic_3) {
        words[magic_2 / 4] = magic_2_value;
        words[magic_3 / 4] = magic_3_value;
    }
    if (traits.header_bytes > magic_5) {
        words[magic_4 / 4] = magic_4_value;
        words[magic_5 / 4] = magic_5_value;
    }
}

void put_address(Words &words, std::uint32_t hi, std::uint32_t lo, std::uint64_t value) {
    words[hi / 4] = address_hi.put(high32(value));
    words[lo / 4] = low32(value);
}

void put_local_header(Words &words, const ContextTraits &traits) {
    const std::uint32_t base = traits.header_bytes;
    words[(base + magic) / 4] = local_magic_value;
    if (traits.typed)
        words[(base + local_ctl) / 4] = ctl_magic.put(local_ctl_magic_value);
    if (traits.header_bytes > magic_3) {
        words[(base + magic_2) / 4] = local_magic_2_value;
        words[(base + magic_3) / 4] = local_magic_3_value;
    }
    if (traits.header_bytes > magic_5) {
        words[(base + magic_4) / 4] = local_magic_4_value;
        words[(base + magic_5) / 4] = local_magic_5_value;
    }
}

void put_preemption(Words &words, const ContextTraits &traits, const ContextImage &image) {
    words[graphics_preemption_options / 4] =
        preemption_control.put(static_cast<std::uint32_t>(image.graphics));
    words[compute_preemption_options / 4] =
        preemption_control.put(static_cast<std::uint32_t>(image.compute));
    const std::uint64_t buffer = image.preemption_buffer >> full_preemption_ptr_shift;
    put_address(words, full_preemption_ptr_hi, full_preemption_ptr, buffer);
    if (traits.veid_headers)
        put_address(words, full_preemption_ptr_veid0_hi, full_preemption_ptr_veid0, buffer);
}

} // namespace

Words encode_context_image(const ContextTraits &traits, const ContextImage &image) {
    Words words(2 * traits.header_bytes / 4);
    words[num_gpcs / 4] = image.gpcs;
    words[context_id / 4] = image.id;
    if (traits.typed)
        words[ctl / 4] =
            ctl_type.put(image.graphics == GraphicsPreemption::gfxp ? type_opengl : type_compute) |
            ctl_magic.put(ctl_magic_value);
    if (traits.preemption_modes)
        put_preemption(words, traits, image);
    put_magic(words, traits);
    put_local_header(words, traits);
    return words;
}

Words encode_veid_header(const ContextTraits &traits, std::uint64_t image_va) {
    Words words(traits.header_bytes / 4);
    words[ctl / 4] = ctl_type.put(type_per_veid_header) | ctl_magic.put(ctl_magic_value);
    words[context_buffer_ptr_hi / 4] =
        (traits.wide_pointer ? address_hi_wide : address_hi).put(high32(image_va));
    words[context_buffer_ptr / 4] = low32(image_va);
    put_magic(words, traits);
    return words;
}

} // namespace nvmodel
