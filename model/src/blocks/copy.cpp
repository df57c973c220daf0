// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/copy.hpp"

#include "regs/ce.hpp"

#include <bit>

namespace nvmodel {
namespace {

using namespace regs;

constexpr unsigned max_lces = 32;
constexpr unsigned second_die_pces = 32; // number of its first PCE
constexpr unsigned max_pces = 64;

/// Pascal: all PCEs in one register, all GRCEs in another.
class PascalCopyBlock final : public CopyBlock {
  public:
    explicit PascalCopyBlock(const Board &board)
        : CopyBlock(board), pces_(static_cast<unsigned>(board.copy.pce_lce.size())),
          grces_(static_cast<unsigned>(board.copy.grces.size())) {
        for (unsigned pce = 0; pce < 32 / ce::pascal_pce_bits; ++pce) {
            const auto lce = pce < pces_ ? board.copy.pce_lce[pce] : std::nullopt;
            pce2lce_ |= lce.value_or(ce::pascal_pce_none) << (ce::pascal_pce_bits * pce);
        }
        for (unsigned grce = 0; grce < grces_; ++grce) {
            const auto &row = board.copy.grces[grce];
            const std::uint32_t byte =
                row.shared ? ce::pascal_grce_shared.mask() | ce::pascal_grce_lce.put(*row.lce) : 0;
            grce_ |= byte << (ce::pascal_grce_bits * grce);
        }
    }

  protected:
    std::uint32_t *find(std::uint32_t offset) override {
        if (offset == ce::pascal_pce2lce)
            return &pce2lce_;
        return offset == ce::pascal_grce ? &grce_ : nullptr;
    }
    [[nodiscard]] std::optional<unsigned> lce_of_pce(unsigned pce) const override {
        if (pce >= pces_)
            return std::nullopt;
        const std::uint32_t lce = (pce2lce_ >> (ce::pascal_pce_bits * pce)) & 0xf;
        return lce == ce::pascal_pce_none ? std::nullopt : std::optional(lce);
    }
    [[nodiscard]] std::optional<unsigned> lent_to_grce(unsigned grce) const override {
        if (grce >= grces_)
            return std::nullopt;
        const std::uint32_t byte = grce_ >> (ce::pascal_grce_bits * grce);
        return ce::pascal_grce_shared.test(byte) ? std::optional(ce::pascal_grce_lce.get(byte))
                                                 : std::nullopt;
    }

  private:
    unsigned pces_;
    unsigned grces_;
    std::uint32_t pce2lce_ = 0;
    std::uint32_t grce_ = 0;
};

/// Volta and newer: a register per PCE and per GRCE; only the offsets moved.
class ArrayCopyBlock final : public CopyBlock {
  public:
    ArrayCopyBlock(const Board &board, std::uint32_t pce2lce_base, std::uint32_t grce_base)
        : CopyBlock(board), pce2lce_base_(pce2lce_base), grce_base_(grce_base) {
        for (const auto &lce : board.copy.pce_lce)
            pce2lce_.push_back(ce::pce2lce_lce.put(lce.value_or(ce::lce_none)));
        for (const auto &row : board.copy.grces)
            grce_.push_back(ce::grce_shared_lce.put(row.lce.value_or(ce::lce_none)) |
                            (row.shared ? ce::grce_shared.mask() : 0));
    }

  protected:
    std::uint32_t *find(std::uint32_t offset) override {
        if (const auto i =
                element(offset, pce2lce_base_, 4, static_cast<unsigned>(pce2lce_.size())))
            return &pce2lce_[*i];
        if (const auto i = element(offset, grce_base_, 4, static_cast<unsigned>(grce_.size())))
            return &grce_[*i];
        return nullptr;
    }
    [[nodiscard]] std::optional<unsigned> lce_of_pce(unsigned pce) const override {
        if (pce >= pce2lce_.size())
            return std::nullopt;
        const std::uint32_t lce = ce::pce2lce_lce.get(pce2lce_[pce]);
        return lce == ce::lce_none ? std::nullopt : std::optional(lce);
    }
    [[nodiscard]] std::optional<unsigned> lent_to_grce(unsigned grce) const override {
        if (grce >= grce_.size() || !ce::grce_shared.test(grce_[grce]))
            return std::nullopt;
        const std::uint32_t lce = ce::grce_shared_lce.get(grce_[grce]);
        return lce == ce::lce_none ? std::nullopt : std::optional(lce);
    }

  private:
    std::uint32_t pce2lce_base_;
    std::uint32_t grce_base_;
    std::vector<std::uint32_t> pce2lce_;
    std::vector<std::uint32_t> grce_;
};

/// Kepler and Maxwell have nothing to wire.
class NoCopyBlock final : public CopyBlock {
  public:
    explicit NoCopyBlock(const Board &board) : CopyBlock(board) {}

    ReadAnswer read(std::uint32_t) override { return ReadAnswer::unmodelled(); }
    Answer write(std::uint32_t, std::uint32_t) override { return Answer::unmodelled; }

  protected:
    std::uint32_t *find(std::uint32_t) override { return nullptr; }
    [[nodiscard]] std::optional<unsigned> lce_of_pce(unsigned) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::optional<unsigned> lent_to_grce(unsigned) const override {
        return std::nullopt;
    }
};

} // namespace

CopyBlock::CopyBlock(const Board &board) : board_(board), pce_map_(board.copy.pce_map) {}

ReadAnswer CopyBlock::read(std::uint32_t offset) {
    if (offset == ce::pce_map)
        return {pce_map_};
    const std::uint32_t *const reg = find(offset);
    return reg != nullptr ? ReadAnswer{*reg} : ReadAnswer::unmodelled();
}

Answer CopyBlock::write(std::uint32_t offset, std::uint32_t value) {
    if (offset == ce::pce_map)
        return Answer::read_only;
    std::uint32_t *const reg = find(offset);
    if (reg == nullptr)
        return Answer::unmodelled;
    *reg = value;
    if (rewired_)
        rewired_();
    return Answer::done;
}

std::uint64_t CopyBlock::pces_of(unsigned lce) const {
    const unsigned owner = lent_to_grce(lce).value_or(lce);
    std::uint64_t mask = 0;
    for (unsigned pce = 0; pce < second_die_pces; ++pce)
        if ((pce_map_ >> pce & 1) != 0 && lce_of_pce(pce) == owner)
            mask |= 1ULL << pce;
    for (unsigned pce = 0; pce < board_.copy.second_die.size(); ++pce)
        if (board_.copy.second_die[pce] == owner)
            mask |= 1ULL << (second_die_pces + pce);
    return mask;
}

double CopyBlock::share(unsigned lce, std::uint32_t running) const {
    const std::uint64_t mine = pces_of(lce);
    if (mine == 0)
        return 0;
    double sum = 0;
    for (unsigned pce = 0; pce < max_pces; ++pce) {
        if ((mine >> pce & 1) == 0)
            continue;
        unsigned users = 0;
        for (unsigned other = 0; other < max_lces; ++other)
            if (other == lce || ((running >> other & 1) != 0 && (pces_of(other) >> pce & 1) != 0))
                ++users;
        sum += 1.0 / users;
    }
    return sum / std::popcount(mine);
}

std::unique_ptr<CopyBlock> CopyBlock::make(const Board &board) {
    switch (board.generation->copy) {
    case CopyWiring::physical:
        return std::make_unique<NoCopyBlock>(board);
    case CopyWiring::pascal:
        return std::make_unique<PascalCopyBlock>(board);
    case CopyWiring::turing:
        return std::make_unique<ArrayCopyBlock>(board, ce::turing_pce2lce, ce::turing_grce);
    case CopyWiring::ampere:
        return std::make_unique<ArrayCopyBlock>(board, ce::ampere_pce2lce, ce::ampere_grce);
    }
    return nullptr;
}

} // namespace nvmodel
