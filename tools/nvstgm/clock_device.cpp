// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device.hpp"

namespace nvstgm {
namespace {

class ClockDevice final : public Device {
  public:
    ClockDevice(bool busy, Look look) : busy_(busy), look_(std::move(look)) {}

    Outcome<void> open() override { return {}; }
    Outcome<std::size_t> prepare_copy(bool, stgm::Time length) override { return add(length); }
    Outcome<std::size_t> prepare_kernel(std::size_t, stgm::Time length) override {
        return add(length);
    }

    Outcome<void> copy(std::size_t work) override {
        spin_until(stgm::now_ns() + lengths_[work]);
        return {};
    }

    Outcome<void> launch(std::size_t work) override {
        complete_ = stgm::now_ns() + lengths_[work];
        return {};
    }

    Outcome<void> complete() override {
        if (busy_)
            spin_until(complete_);
        while (stgm::now_ns() < complete_)
            stgm::sleep_until(complete_);
        return {};
    }

  private:
    std::size_t add(stgm::Time length) {
        lengths_.push_back(length);
        return lengths_.size() - 1;
    }

    void spin_until(stgm::Time ns) const {
        while (stgm::now_ns() < ns)
            look_();
    }

    bool busy_;
    Look look_;
    std::vector<stgm::Time> lengths_;
    stgm::Time complete_ = 0;
};

} // namespace

std::unique_ptr<Device> clock_device(bool busy, Look look) {
    return std::make_unique<ClockDevice>(busy, std::move(look));
}

} // namespace nvstgm
