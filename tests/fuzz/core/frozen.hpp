// SPDX-License-Identifier: MIT OR GPL-2.0
// GPUs for the core. They have the words of a modelled GPU at one moment, with some of the fuzzer's
// in between.
#ifndef NVDEBUG_TESTS_FUZZ_CORE_FROZEN_HPP
#define NVDEBUG_TESTS_FUZZ_CORE_FROZEN_HPP

#include "files.hpp"
#include "fuzz.hpp"
#include "model.hpp"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace fuzz {

/** Words by the way in which they are read: by register, or by aperture and address. */
struct Words {
    std::unordered_map<u32, u32> reg;
    std::map<std::pair<u8, u64>, std::optional<u32>> mem;
};

/** A board at one moment. Each word is read from the model once and then remembered for all inputs.
 */
class Moment {
  public:
    Moment(const std::string &board, const std::string &workload) : model_(board, workload) {
        model_.model().advance(5000 * nvmodel::ns_per_us);
        model_.fault("freeze-after 0");
        shim.slept = nullptr;
    }

    u32 reg(u32 offset) {
        const auto found = words_.reg.find(offset);
        return found != words_.reg.end()
                   ? found->second
                   : words_.reg.emplace(offset, model_.register_read(offset)).first->second;
    }
    std::optional<u32> mem(u8 aperture, u64 address) {
        const std::pair at{aperture, address};
        const auto found = words_.mem.find(at);
        if (found != words_.mem.end())
            return found->second;
        const auto word = model_.memory_read(aperture, address);
        // Words at addresses that an input made up are not worth remembering.
        return words_.mem.size() > 100000 ? word : words_.mem.emplace(at, word).first->second;
    }

    static Moment &of(unsigned number) {
        /** Boards of each generation, integrated ones included, with workloads that only some of
         * them can have. */
        static constexpr std::array<std::pair<const char *, const char *>, 14> all{{
            {"quadro-k5000", "mixed"},
            {"gtx980", "fig6"},
            {"gtx1060-3gb", "preemption"},
            {"titan-v", "mixed"},
            {"rtx2080ti", "preemption"},
            {"a100", "mixed"},
            {"rtx-a6000", "page-tables"},
            {"rtx6000-ada", "preemption"},
            {"h200", "preemption"},
            {"b200", "mixed"},
            {"rtx5090", "fig7"},
            {"jetson-tx2", "mixed"},
            {"jetson-xavier", "fig6"},
            {"jetson-orin", "mixed"},
        }};
        static std::array<std::unique_ptr<Moment>, all.size()> made;
        auto &moment = made[number % all.size()];
        if (!moment)
            moment = std::make_unique<Moment>(all[number % all.size()].first,
                                              all[number % all.size()].second);
        return *moment;
    }

  private:
    core::Model model_;
    Words words_;
};

/** A GPU that keeps its words, except for writes and for wrong answers out of the input. */
class Frozen final : public core::Machine {
  public:
    Frozen(Moment &moment, FuzzedDataProvider &input) : moment_(moment), input_(input) {}
    ~Frozen() override { FUZZ_REQUIRE(accesses_ < 10000000); }

    /** Allows wrong answers from now on. */
    void disturb() {
        disturbed_ = true;
        next_wrong();
    }
    void be_good() { disturbed_ = false; }

    u32 register_read(u32 offset) override {
        const auto found = written_.reg.find(offset);
        return answer(found != written_.reg.end() ? found->second : moment_.reg(offset));
    }
    void register_write(u32 offset, u32 value) override {
        accesses_++;
        written_.reg[offset] = value;
    }
    std::optional<u32> memory_read(u8 aperture, std::uint64_t address) override {
        const auto found = written_.mem.find({aperture, address});
        const auto word =
            found != written_.mem.end() ? found->second : moment_.mem(aperture, address);
        return word ? std::optional(answer(*word)) : std::nullopt;
    }
    bool memory_write(u8 aperture, std::uint64_t address, u32 value) override {
        accesses_++;
        written_.mem[{aperture, address}] = value;
        return true;
    }
    std::optional<std::uint64_t> lend(size_t bytes) override {
        const std::uint64_t at = next_list_;
        next_list_ += (bytes + 0xfff) & ~u64{0xfff};
        return at;
    }
    void take_back(std::uint64_t, size_t) override {}

  private:
    void next_wrong() { skip_ = input_.ConsumeIntegral<u8>(); }

    u32 answer(u32 word) {
        accesses_++;
        if (!disturbed_ || skip_-- > 0 || input_.remaining_bytes() == 0)
            return word;
        const unsigned how = input_.ConsumeIntegralInRange(0, 5);
        next_wrong();
        switch (how) {
        case 0:
            return ~0U;
        case 1:
            return 0xbadf1100;
        case 2:
            return 0;
        case 3:
            return word ^ 1U << input_.ConsumeIntegralInRange(0, 31);
        case 4:
            return word ^ input_.ConsumeIntegral<u32>();
        default:
            return input_.ConsumeIntegral<u32>();
        }
    }

    Moment &moment_;
    FuzzedDataProvider &input_;
    Words written_;
    bool disturbed_ = false;
    unsigned skip_ = 0;
    u64 accesses_ = 0;
    u64 next_list_ = 0x40000000;
};

/** Checks that no lock is held and no memory is lost. */
inline void nothing_is_left(core::Machine &machine, u64 in_use) {
    FUZZ_REQUIRE(!machine.gpu()->lock.held);
    FUZZ_REQUIRE(shim.in_use == in_use);
}

} // namespace fuzz

#endif
