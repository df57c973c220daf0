// SPDX-License-Identifier: MIT OR GPL-2.0
// The firmware that switches graphics contexts, which counts saves and restores in their images. It
// finds an image as real firmware does, through the instance block's engine pointer and the
// channel's page tables.
#pragma once

#include "board/board.hpp"
#include "device/instance_space.hpp"
#include "host/context_listener.hpp"
#include "memory/memory.hpp"

#include <cstdint>
#include <optional>

namespace nvmodel {

class ContextFirmware final : public ContextListener {
  public:
    ContextFirmware(const Generation &generation, Memory &memory, const InstanceSpaces &spaces)
        : instance_(generation.instance), traits_(generation.context), memory_(memory),
          spaces_(spaces) {}

    void saved(PhysicalAddress instance) override;
    void restored(PhysicalAddress instance) override;

  private:
    [[nodiscard]] std::optional<PhysicalAddress> find_image(PhysicalAddress instance) const;
    [[nodiscard]] std::uint32_t read(PhysicalAddress base, std::uint64_t offset) const;
    [[nodiscard]] std::uint32_t counter_of_mode(PhysicalAddress image) const;
    void count(PhysicalAddress image, std::uint32_t counter);

    const InstanceTraits &instance_;
    const ContextTraits &traits_;
    Memory &memory_;
    const InstanceSpaces &spaces_;
};

} // namespace nvmodel
