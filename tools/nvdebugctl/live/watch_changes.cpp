// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watch_changes.hpp"

#include <chrono>
#include <fmt/format.h>
#include <set>
#include <thread>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "state/changes.hpp"

namespace nvdebugctl {

namespace {

/// A GPU and its last moment.
struct Compared {
    nvdebug::Gpu gpu;
    std::string time; ///< UTC, ISO 8601
    Facts facts;
};

/// Prints each sentence about a missing part once, and leaves the last ones to the end of the command.
class MissingParts {
  public:
    void add(Context &context, std::vector<nvdebug::Error> errors) {
        for (nvdebug::Error &error : errors) {
            if (said_.insert(error.sentence).second)
                say(error.sentence);
            context.missing(std::move(error));
        }
    }

  private:
    std::set<std::string> said_;
};

Compared read(const nvdebug::Gpu &gpu, Context &context, MissingParts &missing) {
    std::string time = format_utc(std::chrono::system_clock::now());
    Moment moment = read_moment(gpu);
    missing.add(context, std::move(moment.errors));
    return {gpu, std::move(time), std::move(moment.facts)};
}

std::string text_of(Context &context, const Compared &before, const Compared &now,
                    const Json &rows) {
    if (rows.empty())
        return "";
    if (context.invocation().json()) {
        context.about(now.gpu);
        Json document = envelope(
            context, {{"before_at", before.time}, {"after_at", now.time}, {"changes", rows}});
        document["schema"] = "nvdebug/capture.diff";
        return to_text(document, false);
    }
    std::string text;
    for (const Json &row : rows)
        text += fmt::format("{} {}\n", now.time, shown_change(row));
    return text;
}

} // namespace

Outcome<Exit> watch_changes(Context &context, Output &output, const Pace &plan) {
    const auto gpus = context.gpus();
    if (!gpus)
        return tl::unexpected(gpus.error());
    MissingParts missing;
    std::vector<Compared> last;
    for (const nvdebug::Gpu &gpu : *gpus)
        last.push_back(read(gpu, context, missing));
    auto next = std::chrono::steady_clock::now() + plan.interval;
    for (std::uint64_t count = 0; count != plan.count; count++) {
        std::this_thread::sleep_until(next);
        next += plan.interval;
        context.forget_missing();
        for (Compared &before : last) {
            Compared now = read(before.gpu, context, missing);
            const Json rows = changes_between(now.gpu.index(), before.facts, now.facts);
            if (auto written = output.write(text_of(context, before, now, rows)); !written)
                return tl::unexpected(written.error());
            before = std::move(now);
        }
    }
    return done;
}

} // namespace nvdebugctl
