// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/context_firmware.hpp"

#include "base/bits.hpp"
#include "regs/ctxsw.hpp"
#include "regs/ramin.hpp"
#include "workload/workload.hpp"

namespace nvmodel {

using namespace regs;

std::uint32_t ContextFirmware::read(PhysicalAddress base, std::uint64_t offset) const {
    const auto value = memory_.read_value({base.aperture, base.address + offset}, 4);
    return static_cast<std::uint32_t>(value.value_or(0));
}

/// Returns nothing if the pointer is unset or leads to anything but an image.
std::optional<PhysicalAddress> ContextFirmware::find_image(PhysicalAddress instance) const {
    const std::uint32_t lo = read(instance, 4ULL * ramin::engine_wfi_lo);
    const std::uint32_t hi = read(instance, 4ULL * ramin::engine_wfi_hi);
    const Field pointer_hi = instance_.wide_pointer ? ramin::wfi_ptr_hi_gb10b : ramin::wfi_ptr_hi;
    const std::uint64_t pointer = join(pointer_hi.get(hi), lo & ramin::wfi_ptr_lo.mask());
    const auto space = spaces_.graphics(instance);
    if (pointer == 0 || !space || !ramin::wfi_mode_virtual.test(lo))
        return std::nullopt;
    auto image = space->translate(memory_, pointer);
    if (image && traits_.veid_headers &&
        ctxsw::ctl_type.get(read(*image, ctxsw::ctl)) == ctxsw::type_per_veid_header)
        image = space->translate(
            memory_, join((traits_.wide_pointer ? ctxsw::address_hi_wide : ctxsw::address_hi)
                              .get(read(*image, ctxsw::context_buffer_ptr_hi)),
                          read(*image, ctxsw::context_buffer_ptr)));
    if (!image || read(*image, ctxsw::magic) != ctxsw::magic_value)
        return std::nullopt;
    return image;
}

/// Returns which of the four counters a save adds to. The modes are settings; it is made up that
/// graphics' mode goes before compute's.
std::uint32_t ContextFirmware::counter_of_mode(PhysicalAddress image) const {
    const auto mode = [&](std::uint32_t offset) {
        return ctxsw::preemption_control.get(read(image, offset));
    };
    if (GraphicsPreemption{static_cast<std::uint8_t>(mode(ctxsw::graphics_preemption_options))} ==
        GraphicsPreemption::gfxp)
        return ctxsw::num_gfxp_save;
    switch (ComputePreemption{static_cast<std::uint8_t>(mode(ctxsw::compute_preemption_options))}) {
    case ComputePreemption::cta:
        return ctxsw::num_cta_save;
    case ComputePreemption::cilp:
        return ctxsw::num_cilp_save;
    default:
        return ctxsw::num_wfi_save;
    }
}

void ContextFirmware::count(PhysicalAddress image, std::uint32_t counter) {
    static_cast<void>(memory_.write_value({image.aperture, image.address + counter},
                                          std::uint64_t{read(image, counter)} + 1, 4));
}

void ContextFirmware::saved(PhysicalAddress instance) {
    const auto image = find_image(instance);
    if (!image)
        return;
    count(*image, ctxsw::num_save);
    if (traits_.preemption_modes)
        count(*image, counter_of_mode(*image));
}

void ContextFirmware::restored(PhysicalAddress instance) {
    if (const auto image = find_image(instance))
        count(*image, ctxsw::num_restore);
}

} // namespace nvmodel
