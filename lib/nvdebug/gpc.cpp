// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu.hpp"
#include "lib/base/text.hpp"
#include "nvdebug/parse.hpp"

#include <cerrno>
#include <limits>

namespace nvdebug {
namespace {

/// Returns whether the error only makes this value unknown: the file is missing or cannot be read.
bool is_unknown(ErrorCode code) {
    return code == ErrorCode::not_found || code == ErrorCode::io || code == ErrorCode::gone;
}

/// Reads numbers. Unknown values are skipped, and the first other error is remembered.
class NumberFiles {
  public:
    explicit NumberFiles(const Gpu &gpu) : gpu_(gpu) {}

    std::optional<std::uint32_t> operator()(const std::string &file) {
        if (error)
            return std::nullopt;
        const auto number = parse_file(gpu_, file, parse_number);
        if (!number) {
            if (!is_unknown(number.error().code))
                error = number.error();
            else if (number.error().code != ErrorCode::not_found)
                unread.push_back(number.error());
            return std::nullopt;
        }
        if (*number > std::numeric_limits<std::uint32_t>::max()) {
            error = in_file(gpu_, file, {ErrorCode::malformed, 0, "", "line 1: more than 32 bits"});
            return std::nullopt;
        }
        return static_cast<std::uint32_t>(*number);
    }

    std::optional<Error> error;
    std::vector<Error> unread;

  private:
    const Gpu &gpu_;
};

} // namespace

Result<GpcTopology> Gpu::gpc_topology() const {
    constexpr std::uint32_t most_gpcs = 32; // the bits of a mask
    // Only this file must exist. Each of the others may be missing.
    auto design = read_file(*this, "gpc_mask");
    if (!design && design.error().code != ErrorCode::io)
        return tl::unexpected(std::move(design).error());

    GpcTopology topology{};
    NumberFiles number(*this);
    topology.num_gpcs = number("num_gpcs");
    topology.num_tpc_per_gpc = number("num_tpc_per_gpc");
    topology.num_ces = number("num_ces");
    topology.num_fbps = number("num_fbps");
    topology.num_ltcs = number("num_ltcs");
    topology.gpc_off_mask = number("gpc_mask");
    if (topology.num_gpcs.value_or(0) > most_gpcs)
        return tl::unexpected(
            in_file(*this, "num_gpcs", {ErrorCode::malformed, 0, "", "line 1: more than 32 GPCs"}));
    if (topology.gpc_off_mask)
        for (std::uint32_t gpc = 0; gpc < topology.num_gpcs.value_or(0); gpc++)
            topology.gpcs.push_back({gpc, (*topology.gpc_off_mask >> gpc & 1) != 0,
                                     number("gpc" + std::to_string(gpc) + "_tpc_mask")});
    if (number.error)
        return tl::unexpected(std::move(*number.error));

    topology.unread = std::move(number.unread);

    auto sms = parse_file(*this, "sm_map", parse_sm_map);
    if (sms) {
        topology.sms = std::move(*sms);
        return topology;
    }
    if (sms.error().code == ErrorCode::malformed)
        return tl::unexpected(std::move(sms).error());
    topology.sms_note = sms.error().sentence;
    if (sms.error().number != ENOENT)
        topology.unread.push_back(std::move(sms).error());
    return topology;
}

namespace {

using text::key;

constexpr text::Key<Sm> columns[] = {
    key<&Sm::sm>("sm"),
    key<&Sm::gpc>("gpc"),
    key<&Sm::tpc>("tpc"),
};

template <auto Member>
void set_words(const text::Value &value, WorkDistributor &to) {
    std::string_view rest = value.text;
    for (std::string_view word; !(word = text::take_word(rest)).empty();)
        text::read({value.scanner, value.key, word}, (to.*Member).emplace_back());
}

constexpr text::Key<WorkDistributor> distributor_keys[] = {
    key<&WorkDistributor::gpcs>("gpcs"),
    key<&WorkDistributor::tpcs>("tpcs"),
    key<&WorkDistributor::partitioning>("partitioning"),
    key<&WorkDistributor::table>("table"),
    key<&WorkDistributor::veid_offset>("veid_offset"),
    key<&WorkDistributor::table_offset>("table_offset"),
    {"gpc_tpc_id", set_words<&WorkDistributor::gpc_tpc_id>},
    {"sm_id", set_words<&WorkDistributor::sm_id>},
};

} // namespace

Result<std::vector<Sm>> parse_sm_map(std::string_view text) {
    return text::parse_table<Sm>(text, columns);
}

Result<WorkDistributor> parse_work_distributor(std::string_view text) {
    return text::parse_record<WorkDistributor>(text, distributor_keys);
}

} // namespace nvdebug
