// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file From the library's types to JSON data: what is unknown is null, addresses are strings. */
#ifndef NVDEBUGCTL_JSON_TYPES_HPP
#define NVDEBUGCTL_JSON_TYPES_HPP

#include <cstdint>
#include <optional>
#include <string>

#include "document.hpp"
#include "nvdebug/address_space.hpp"
#include "nvdebug/engine.hpp"
#include "nvdebug/memory.hpp"
#include "nvdebug/runlist.hpp"

namespace nvdebugctl {

template <typename T>
Json or_null(const std::optional<T> &value) {
    return value ? Json(*value) : Json();
}

/** `"0x…"`: addresses and masks. */
Json hex(std::uint64_t value);
template <typename T>
Json hex(const std::optional<T> &value) {
    return value ? hex(std::uint64_t{*value}) : Json();
}

Json microseconds(std::uint64_t ns);
/** Of a part between 0 and 1; to thousandths of a percent, unless that gives 0. */
Json percent(const std::optional<double> &part);

Json aperture(const std::optional<nvdebug::Aperture> &aperture);
/** `{"address", "aperture"}` */
Json place(const nvdebug::Place &place);
/** `tsg:5` */
Json occupant(const std::optional<nvdebug::Occupant> &occupant);
/** Numbers of the bits that are set. */
Json bits(std::uint32_t mask);

/** A channel's entry and state, without its instance block. */
Json channel_state(const nvdebug::Channel &channel);
Json instance_block(const nvdebug::InstanceBlock &instance);
Json address_space(const nvdebug::AddressSpaceUse &use);

} // namespace nvdebugctl

#endif
