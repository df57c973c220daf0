// SPDX-License-Identifier: MIT OR GPL-2.0
#include "stage.hpp"

#include <algorithm>

namespace lab {

void Stage::resume(Procedure &procedure) {
    next_ = nullptr;
    procedure.resume();
    if (!procedure.done())
        waiting_.push_back({&procedure, next_->until, std::move(next_->over)});
}

void Stage::start(Procedure &procedure) {
    resume(procedure);
}

void Stage::forget(const Procedure &procedure) {
    std::erase_if(waiting_, [&](const Waiting &one) { return one.procedure == &procedure; });
}

bool Stage::resume_one() {
    const auto one =
        std::ranges::find_if(waiting_, [&](const Waiting &each) { return each.due(now()); });
    if (one == waiting_.end())
        return false;
    Procedure &procedure = *one->procedure;
    waiting_.erase(one);
    resume(procedure);
    return true;
}

void Stage::run(Ns time, const std::function<bool()> &enough) {
    while (!enough()) {
        if (resume_one())
            continue;
        if (now() >= time)
            return;
        Ns next = time;
        for (const Waiting &one : waiting_)
            if (one.until > now())
                next = std::min(next, one.until);
        world_.advance(next);
    }
}

} // namespace lab
