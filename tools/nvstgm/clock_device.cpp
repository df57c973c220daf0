// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device.hpp"

namespace nvstgm {
namespace {

class ClockDevice final : public Device {
  public:
    explicit ClockDevice(bool busy) : busy_(busy) {}

    Outcome<void> open() override { return {}; }
    Outcome<std::size_t> prepare_copy(bool, stgm::Time length) override { return add(length); }
    Outcome<std::size_t> prepare_kernel(std::size_t, stgm::Time length) override { return add(length); }

    Outcome<void> copy(std::size_t work) override {
        spin_until(now_ns() + lengths_[work]);
        return {};
    }

    Outcome<void> launch(std::size_t work) override {
        complete_ = now_ns() + lengths_[work];
        return {};
    }

    Outcome<void> complete() override {
        if (busy_)
            spin_until(complete_);
        while (now_ns() < complete_)
            sleep_until(complete_);
        return {};
    }

  private:
    std::size_t add(stgm::Time length) {
        lengths_.push_back(length);
        return lengths_.size() - 1;
    }

    static void spin_until(stgm::Time ns) {
        while (now_ns() < ns)
            ;
    }

    bool busy_;
    std::vector<stgm::Time> lengths_;
    stgm::Time complete_ = 0;
};

} // namespace

std::unique_ptr<Device> clock_device(bool busy) { return std::make_unique<ClockDevice>(busy); }

} // namespace nvstgm
