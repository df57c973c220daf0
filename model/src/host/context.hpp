// SPDX-License-Identifier: MIT OR GPL-2.0
// The context that a unit (an engine or a PBDMA) holds, and the context that it is changing to.
#pragma once

#include "host/group.hpp"

#include <optional>

namespace nvmodel {

/// CTX_STATUS and CHAN_STATUS; generations encode load and save differently.
enum class ContextState : std::uint8_t { invalid, valid, load, save, switching };

struct ContextStatus {
    ContextState state = ContextState::invalid;
    GroupId current; // valid, save, switching
    GroupId next;    // load, switching
};

class ContextSlot {
  public:
    [[nodiscard]] const ContextStatus &status() const { return status_; }
    [[nodiscard]] bool changing() const {
        return status_.state != ContextState::invalid && status_.state != ContextState::valid;
    }
    /// Returns the context that is loaded and stays.
    [[nodiscard]] std::optional<GroupId> holds() const {
        return status_.state == ContextState::valid ? std::optional(status_.current) : std::nullopt;
    }

    /// Starts to leave the held context for `to` (nothing: just save). Called only when no change
    /// is under way.
    void begin(std::optional<GroupId> to) {
        const bool held = status_.state == ContextState::valid;
        if (to) {
            status_.next = *to;
            status_.state = held ? ContextState::switching : ContextState::load;
        } else if (held) {
            status_.state = ContextState::save;
        }
    }

    /// Completes the change.
    void finish() {
        if (status_.state == ContextState::save) {
            status_.state = ContextState::invalid;
        } else if (changing()) {
            status_.state = ContextState::valid;
            status_.current = status_.next;
        }
    }

  private:
    ContextStatus status_;
};

} // namespace nvmodel
