// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fmt/format.h>
#include <memory>

#include "cli/output.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "lib/base/marks.hpp"
#include "nvdebug/nvdebug.hpp"
#include "state/refusal.hpp"

namespace nvdebugctl {
namespace {

using nvdebug::base::missed_mark_sentence;
using nvdebug::base::notify_recorders;
using Kind = Observation::Kind;
using Observations = std::vector<Observation>;

/// Returns the kind as sentences name it. object_of() returns the name of the tool's object for it.
const char *noun_of(Kind kind) {
    switch (kind) {
    case Kind::tsg:
        return "TSG";
    case Kind::channel:
        return "channel";
    case Kind::task:
        return "task";
    default:
        return "runlist";
    }
}
const char *object_of(Kind kind) {
    return kind == Kind::tsg ? "tsg" : noun_of(kind);
}

Json change(const Observation &before, const Json &after) {
    const bool is_runlist = before.kind == Observation::Kind::runlist;
    return {{"object", object_of(before.kind)},
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

/// Returns a time of a control with all its digits: the hardware takes steps of a few microseconds,
/// and the reader is to see which one it took. Other values are as in tables.
std::string exactly(const std::string &property, const Json &value) {
    if (!property.ends_with("_us") || value.is_null())
        return shown(property, value);
    if (!value.is_array())
        return fmt::format("{}us", value.get<double>());
    std::string text;
    for (const Json &element : value)
        text += (text.empty() ? "" : ",") + exactly(property, element);
    return text.empty() ? "-" : text;
}

/// Compares the state after a lease with the state before it, and fails if they differ.
Outcome<void> compare(const Observations &before, const Observations &now) {
    for (std::size_t i = 0; i < before.size() && i < now.size(); ++i)
        if (now[i].gone)
            say(fmt::format("{} {} has ended, so that nothing of it has to be undone",
                            noun_of(before[i].kind), to_string(before[i].target)));
        else if (before[i].value != now[i].value)
            return fail(nvdebug::ErrorCode::busy,
                        fmt::format("the lease is over, but {} {} has {} {} and had {} before: "
                                    "something else changed it, or it could not be undone (for the "
                                    "module, see 'dmesg')",
                                    noun_of(before[i].kind), to_string(before[i].target),
                                    label(before[i].property),
                                    exactly(before[i].property, now[i].value),
                                    exactly(before[i].property, before[i].value)));
    return {};
}

/// A lease, with everything that is needed to hold it, to end it and to verify that it was undone.
struct HeldLease {
    LeaseTime time;
    nvdebug::Lease lease;
    Observations before;
    Observe observe;
    const nvdebug::Gpu &gpu;
    Renew renew;
    std::string what; // text of the request, for recorders
    bool renewed = false;
    // The request that could not be leased yet.
    std::optional<nvdebug::Request> wanted = std::nullopt;

    Outcome<void> see_through() {
        const LeaseTime::Seconds waited = renew ? time.wait([this] { look(); }) : time.wait();
        lease.end();
        if (const std::size_t missed = notify_recorders(gpu.folder(), "undone: " + what))
            say(missed_mark_sentence(missed));
        if (const std::string left = lease.left(); !left.empty())
            return fail(nvdebug::ErrorCode::busy, "the lease is over, but " + left);
        // After a renewed lease the state is not compared, because it may have changed meanwhile.
        if (renewed) {
            say(fmt::format("undone after {:.1f} s", waited.count()));
            return {};
        }
        const auto now = observe();
        if (!now)
            return tl::unexpected(now.error());
        if (auto same = compare(before, *now); !same)
            return same;
        say(fmt::format("undone after {:.1f} s", waited.count()));
        return {};
    }

    void look() {
        if (auto request = renew())
            wanted = std::move(request);
        if (!wanted)
            return;
        renewed = true;
        lease.end();
        if (const std::string left = lease.left(); !left.empty())
            say(left);
        auto next = gpu.lease(*wanted);
        if (!next)
            return say(fmt::format("tried again in a second: {}", next.error().sentence));
        lease = std::move(*next);
        wanted.reset();
    }
};

/// Returns the file and the text of the request. A lease only has one more word, at the beginning.
Json write_of(const Context &context, const nvdebug::Request &request, bool leased) {
    return {{"file", context.gpu().path(request.file)},
            {"text", (leased ? "lease " : "") + request.text}};
}

/// Returns a value of a change as people read it.
std::string words_of(const std::string &property, const Json &value) {
    if (value.is_null())
        return "not known";
    if (property == "enabled")
        return value.get<bool>() ? "enabled" : "disabled";
    if (property == "scheduling")
        return value.get<bool>() ? "on" : "off";
    if (property == "listed_tsgs")
        return value.empty() ? "no TSG"
                             : (value.size() > 1 ? "TSGs " : "TSG ") +
                                   fold_ids(value.get<std::vector<std::uint32_t>>());
    if (value.is_array() && value.empty())
        return property == "running" ? "nothing" : "no engine";
    return exactly(property, value);
}

/// `channel 0:5: enabled -> disabled`, `runlist 0: preempted; running before: TSG 1, now: TSG 2`
std::string change_line(const Json &change, bool dry) {
    const std::string property = change["property"], object = change["object"];
    std::string line = (object == "tsg" ? "TSG" : object) + " ";
    if (!change["runlist"].is_null())
        line += change["runlist"].dump();
    if (!change["id"].is_null())
        line += (change["runlist"].is_null() ? "" : ":") + change["id"].dump();
    const std::string before = words_of(property, change["old"]);
    const std::string after = words_of(property, change["new"]);
    if (property == "running" || property == "on_engines") {
        const char *const what = property == "running" ? "running" : "on";
        return dry ? fmt::format("{}: {} {} now", line, what, before)
                   : fmt::format("{}: preempted; {} before: {}, now: {}", line, what, before,
                                 after);
    }
    line += ": ";
    if (property != "enabled")
        line += property == "listed_tsgs" ? "holds " : label(property) + " ";
    return dry ? line + before : line + before + " -> " + after;
}

/// Adds the reason to EPERM, which can have several. @p refused is what the machine's facts show.
Failure with_reason(nvdebug::Error error, const std::optional<std::string> &refused) {
    if (error.number == EPERM && refused)
        error.sentence = fmt::format("{} was not written, since the kernel refuses it: {}",
                                     error.path, *refused);
    return Failure(std::move(error));
}

/// Adds a note if NVIDIA's driver may undo what the module writes.
void note_undoing_driver(Context &context) {
    const auto info = context.gpu().info();
    if (const auto driver = info && info->pci_address ? controls_undone("", *info->pci_address)
                                                      : std::optional<std::string>())
        context.note(*driver);
}

} // namespace

Outcome<Document> carry_out(Context &context, const nvdebug::Request &request,
                            const Observe &observe, const Renew &renew) {
    auto lease_text = context.value("--for");
    if (renew && !lease_text)
        lease_text = "0";
    std::optional<LeaseTime::Seconds> limit;
    if (lease_text)
        limit = *parse_lease_time(*lease_text);
    const bool dry = context.flag("--dry-run");
    const bool by_module = context.gpu().tree().source() == nvdebug::Source::module;
    auto before = observe();
    if (!before) {
        Failure failure = before.error();
        // Members of the module's group (state_gid) may read state, but not control.
        if (by_module && failure.error.number == EACCES && !dry)
            failure.error.sentence =
                fmt::format("cannot read {}: permission denied; controls are root's, so run this "
                            "as root",
                            failure.error.path);
        return tl::unexpected(std::move(failure));
    }

    const std::optional<std::string> refused =
        by_module ? controls_refused("") : std::optional<std::string>();
    if (by_module)
        note_undoing_driver(context);
    Document document;
    document.data = {{"dry_run", dry},
                     {"refused", or_null(refused)},
                     {"write", write_of(context, request, lease_text.has_value())},
                     {"lease", lease_text.has_value()},
                     {"lease_seconds", limit ? Json(limit->count()) : Json(nullptr)},
                     {"changes", changes(*before, {})}};
    if (dry) {
        document.exit = refused ? nvdebugctl::refused : done;
        return document;
    }

    if (lease_text) {
        auto lease = context.gpu().lease(request);
        if (!lease)
            return tl::unexpected(with_reason(lease.error(), refused));
        const auto held = std::make_shared<HeldLease>(
            HeldLease{LeaseTime(limit), std::move(*lease), *before, observe, context.gpu(), renew,
                      request.file + " " + request.text});
        document.then = [held] { return held->see_through(); };
    } else if (auto answer = context.gpu().perform(request); !answer) {
        return tl::unexpected(with_reason(answer.error(), refused));
    }
    if (const std::size_t missed =
            notify_recorders(context.gpu().folder(), request.file + " " + request.text))
        context.note(missed_mark_sentence(missed));

    if (auto after = observe())
        document.data["changes"] = changes(*before, *after);
    else
        context.missing(after.error().error);
    return document;
}

void show_control(const Json &data, Page &page) {
    const bool dry = data["dry_run"].get<bool>();
    const std::string write =
        fmt::format("write \"{}\" to {}", data["write"]["text"].get<std::string>(),
                    data["write"]["file"].get<std::string>());
    if (dry && data["refused"].is_null())
        page.line("would " + write);
    else if (dry)
        page.line(
            fmt::format("would be refused: {} (to {})", data["refused"].get<std::string>(), write));
    for (const Json &change : data["changes"])
        page.line(change_line(change, dry));
    if (dry || !data["lease"].get<bool>())
        return;
    const Json &seconds = data["lease_seconds"];
    page.line(seconds.is_null() ? "until interrupted (Ctrl-C)"
                                : fmt::format("for {} s (Ctrl-C ends it sooner)", seconds.dump()));
}

} // namespace nvdebugctl
