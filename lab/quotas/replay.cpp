// SPDX-License-Identifier: MIT OR GPL-2.0
#include "replay.hpp"

#include <queue>
#include <tuple>

namespace quotas {
namespace {

/** The next cycle of an offer. Offers in the same cycle are taken in the order of the list. */
struct Next {
    std::int64_t cycle; ///< from the begin of the span
    std::size_t place;  ///< in the list of offers
    std::size_t turn;   ///< number of this cycle among the offer's cycles

    bool operator<(const Next &other) const { // the largest is taken first
        return std::tie(other.cycle, other.place) < std::tie(cycle, place);
    }
};

/** The offers and exits of a span in order of time. */
class Events {
  public:
    Events(const Span &span, std::size_t sms) : span_(span), sms_(sms) {
        for (std::size_t n = 0; n < span.offers.size(); n++)
            if (span.offers[n].from < span.offers[n].to)
                next_.push({span.offers[n].from, n, 0});
    }

    void of_cycle(std::int64_t cycle, qos::Machine &machine) {
        for (; exit_ < span_.exits.size() && span_.exits[exit_].at == cycle; exit_++)
            machine.leave(span_.exits[exit_].sm, span_.exits[exit_].kernel);
        while (!next_.empty() && next_.top().cycle == cycle) {
            const Next now = next_.top();
            next_.pop();
            const Offer &offer = span_.offers[now.place];
            const int lanes = offer.lanes[now.turn % offer.lanes.size()];
            for (std::size_t sm = offer.sm.value_or(0); sm < (offer.sm ? *offer.sm + 1 : sms_);
                 sm++)
                machine.offer(sm, offer.kernel, lanes, offer.count);
            if (now.cycle + offer.every < offer.to)
                next_.push({now.cycle + offer.every, now.place, now.turn + 1});
        }
    }

  private:
    const Span &span_;
    std::size_t sms_, exit_ = 0;
    std::priority_queue<Next> next_;
};

} // namespace

Replayed replay(const Case &one) {
    const std::size_t tables = 7 * one.shape.sms * one.shape.kernels.size();
    Replayed found;
    qos::Machine machine(one.shape, one.scheme, one.readings);
    qos::Table blocks = one.blocks;
    for (const Span &span : one.spans) {
        if (span.blocks)
            blocks = *span.blocks;
        Events events(span, one.shape.sms);
        for (std::int64_t cycle = 0; cycle < one.shape.epoch; cycle++) {
            if (machine.boundary_is_due()) {
                if (std::optional<qos::Epoch> ended = machine.boundary(blocks))
                    found.epochs.push_back(std::move(*ended));
                if ((found.epochs.size() + 1) * tables > limit::answer)
                    return {{},
                            "the epochs make more than " + std::to_string(limit::answer) +
                                " numbers"};
            }
            events.of_cycle(cycle, machine);
            machine.end_cycle();
        }
        if (!machine.is_exact())
            return {{},
                    "a quota or a counter is larger than " + std::to_string(qos::largest_count)};
    }
    if (std::optional<qos::Epoch> last = machine.finish())
        found.epochs.push_back(std::move(*last));
    return found;
}

} // namespace quotas
