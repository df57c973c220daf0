// SPDX-License-Identifier: MIT OR GPL-2.0
#include "systems.hpp"

namespace stgm {

void Federated::sms_changed() {
    const Sharing sharing(model());
    for (std::size_t task = 0; task < model().size(); task++)
        shares_[task] = sharing.shares(task);
    share_kernels();
}

Waits Federated::waits(std::size_t task) const {
    Waits waits = Stgm::waits(task);
    waits.none = shares_[task];
    return waits;
}

} // namespace stgm
