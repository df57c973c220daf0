// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control/carry_out.hpp"

#include <fmt/format.h>

#include <memory>

#include "control/held.hpp"
#include "json_types.hpp"
#include "output.hpp"
#include "units.hpp"

namespace nvdebugctl {
namespace {

using Observations = std::vector<Observation>;

const char *name_of(Observation::Kind kind) {
    switch (kind) {
    case Observation::Kind::runlist:
        return "runlist";
    case Observation::Kind::tsg:
        return "tsg";
    case Observation::Kind::channel:
        return "channel";
    }
    return "?";
}

Json change(const Observation &before, const Json &after) {
    const bool is_runlist = before.kind == Observation::Kind::runlist;
    return {{"object", name_of(before.kind)},
            {"runlist", is_runlist ? Json(before.target.id) : or_null(before.target.runlist)},
            {"id", is_runlist ? Json() : Json(before.target.id)},
            {"property", before.property},
            {"old", before.value},
            {"new", after}};
}

Json changes(const Observations &before, const Observations &after) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < before.size(); ++i)
        rows.push_back(change(before[i], i < after.size() ? after[i].value : Json()));
    return rows;
}

/** After a lease: is everything as it was before it? */
Outcome<void> compare(const Observations &before, const Observations &now) {
    for (std::size_t i = 0; i < before.size() && i < now.size(); ++i)
        if (before[i].value != now[i].value)
            return fail(nvdebug::ErrorCode::busy,
                        fmt::format("the lease is over, but {} {} {} is {} and was {}: something "
                                    "else changed it, or it could not be put back ('dmesg' says "
                                    "so)",
                                    name_of(before[i].kind), to_string(before[i].target),
                                    without_unit(before[i].property),
                                    shown(before[i].property, now[i].value),
                                    shown(before[i].property, before[i].value)));
    return {};
}

/** A lease and all that is needed to see it through. */
struct Held {
    LeaseTime time;
    nvdebug::Lease lease;
    Observations before;
    Observe observe;

    Outcome<void> see_through() {
        const LeaseTime::Seconds waited = time.wait();
        lease.end();
        const auto now = observe();
        if (!now)
            return tl::unexpected(now.error());
        if (auto same = compare(before, *now); !same)
            return same;
        say(fmt::format("undone after {:.1f} s", waited.count()));
        return {};
    }
};

/** What the kernel is sent, which is no more than a word longer for a lease. */
Json write_of(const Context &context, const nvdebug::Request &request, bool leased) {
    return {{"file", context.gpu().path(request.file)},
            {"text", (leased ? "lease " : "") + request.text}};
}

} // namespace

Outcome<void> check_lease_time(const Context &context) {
    const auto text = context.value("--for");
    if (text)
        if (auto parsed = parse_lease_time(*text); !parsed)
            return tl::unexpected(parsed.error());
    return {};
}

Outcome<Document> carry_out(Context &context, const nvdebug::Request &request,
                            const Observe &observe) {
    const auto lease_text = context.value("--for");
    std::optional<LeaseTime::Seconds> limit;
    if (lease_text)
        limit = *parse_lease_time(*lease_text);
    const bool dry = context.flag("--dry-run");
    auto before = observe();
    if (!before)
        return tl::unexpected(before.error());

    Document document;
    document.data = {{"dry_run", dry},
                     {"write", write_of(context, request, lease_text.has_value())},
                     {"lease", lease_text.has_value()},
                     {"lease_seconds", limit ? Json(limit->count()) : Json(nullptr)},
                     {"changes", changes(*before, {})}};
    if (dry)
        return document;

    if (lease_text) {
        auto lease = context.gpu().lease(request);
        if (!lease)
            return tl::unexpected(Failure(lease.error()));
        const auto held =
            std::make_shared<Held>(Held{LeaseTime(limit), std::move(*lease), *before, observe});
        document.then = [held] { return held->see_through(); };
    } else if (auto answer = context.gpu().perform(request); !answer) {
        return tl::unexpected(Failure(answer.error()));
    }

    if (auto after = observe())
        document.data["changes"] = changes(*before, *after);
    else
        context.missing(after.error().error);
    return document;
}

} // namespace nvdebugctl
