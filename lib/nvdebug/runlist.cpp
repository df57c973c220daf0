// SPDX-License-Identifier: MIT OR GPL-2.0
#include "instance.hpp"
#include "nvdebug/answers.hpp"
#include "nvdebug/parse.hpp"

#include <utility>

namespace nvdebug {
namespace {

using text::BoxTitle;
using text::key;
using text::Scanner;
using text::Value;

void set_snapshot(const Value &value, Runlist &list) {
    if (value.text != "consistent" && value.text != "torn")
        return value.fail("'consistent' or 'torn'");
    list.torn = value.text == "torn";
}

constexpr text::Key<Runlist> list_keys[] = {
    key<&Runlist::entries>("Entries"),
    key<&Runlist::tsgs>("TSGs"),
    key<&Runlist::channels>("Channels"),
    key<&Runlist::pending>("Pending"),
    key<&Runlist::place, &Place::address>("Address"),
    key<&Runlist::place, &Place::aperture>("Aperture"),
    {"Snapshot", set_snapshot},
};

void set_timeslice(const Value &value, Tsg &tsg) {
    text::read_us(value, tsg.timeslice_ns);
}
void set_truncated(const Value &, Tsg &tsg) {
    tsg.truncated = true;
}

constexpr text::Key<Tsg> tsg_keys[] = {
    key<&Tsg::scale>("Scale"),
    key<&Tsg::timeout>("Timeout"),
    {"Timeslice (us)", set_timeslice},
    key<&Tsg::length>("Length"),
    text::Key<Tsg>{"Truncated", set_truncated}.optional(),
};

// The keys have the order of newer generations. Older generations have fewer keys, in a similar
// order.
constexpr text::Key<Channel> channel_keys[] = {
    key<&Channel::error>("Error").optional(),
    key<&Channel::enabled>("Enabled").optional(),
    key<&Channel::next>("Next").optional(),
    key<&Channel::force_ctx_reload>("Force CTX Reload").optional(),
    key<&Channel::enable_set>("Enable set").optional(),
    key<&Channel::enable_clear>("Enable clear").optional(),
    key<&Channel::busy>("Busy").optional(),
    key<&Channel::pbdma_faulted>("PBDMA Faulted").optional(),
    key<&Channel::engine_faulted>("ENG Faulted").optional(),
    key<&Channel::on_pbdma>("On PBDMA").optional(),
    key<&Channel::on_engine>("On ENG").optional(),
    key<&Channel::pending>("Pending").optional(),
    key<&Channel::ctx_reload>("CTX Reload").optional(),
    key<&Channel::pbdma_busy>("PBDMA Busy").optional(),
    key<&Channel::engine_busy>("ENG Busy").optional(),
    key<&Channel::acquire_fail>("Acquire Fail").optional(),
    key<&Channel::status>("Status").optional(),
    key<&Channel::status_name>("Status Name").optional(),
    key<&Channel::bound>("Bound").optional(),
    key<&Channel::runqueue>("Runqueue").optional(),
    key<&Channel::instance_place, &Place::address>("Instance Block").optional(),
    key<&Channel::instance_place, &Place::aperture>("Instance Aperture").optional(),
};

/// Builds a list from its boxes.
class Builder {
  public:
    Builder(Scanner &scanner, Runlist &list) : scanner_(scanner), list_(list) {}

    void add(const BoxTitle &title) {
        std::string_view id = title.text;
        if (text::take_prefix(id, "TSG Entry "))
            add_tsg(title, id);
        else if (text::take_prefix(id, "Channel Info "))
            add_channel(title, id);
        else if (text::take_prefix(id, "Unknown Entry "))
            add_unknown(title, id);
        else if (id == "Instance Block")
            add_block(title);
        else if (text::take_prefix(id, "Subcontext "))
            add_subcontext(title, id);
        else if (id == "Context")
            add_context(title);
        else
            skip(title);
    }

    void finish() {
        end_channel();
        if (list_.tsgs && tsgs_ != *list_.tsgs)
            missing("TSGs", *list_.tsgs, tsgs_);
        if (list_.channels && channels_ != *list_.channels)
            missing("channels", *list_.channels, channels_);
        const std::size_t boxes = tsgs_ + channels_ + unknown_;
        if (list_.tsgs && boxes != list_.entries)
            missing("entries", list_.entries, boxes);
        if (blocks_ && blocks_ != channels_)
            missing("instance blocks", channels_, blocks_);
    }

  private:
    void missing(const char *what, std::size_t announced, std::size_t found) {
        scanner_.fail("the list announces " + std::to_string(announced) + " " + what + ", but " +
                      std::to_string(found) + " follow");
    }

    std::uint32_t number(const BoxTitle &title, std::string_view id) {
        std::uint32_t value = 0;
        text::read({scanner_, title.text, id}, value);
        return value;
    }

    void add_tsg(const BoxTitle &title, std::string_view id) {
        end_channel();
        Tsg tsg{};
        tsg.id = number(title, id);
        read_box<Tsg>(scanner_, title, tsg_keys, tsg);
        list_.items.emplace_back(std::move(tsg));
        tsg_ = list_.items.size() - 1;
        tsgs_++;
    }

    void add_channel(const BoxTitle &title, std::string_view id) {
        end_channel();
        Channel &channel = title.indent ? add_member() : add_bare();
        channel.id = number(title, id);
        read_box<Channel>(scanner_, title, channel_keys, channel);
        if (!channel.enabled && !channel.error)
            scanner_.fail("'Enabled' is missing");
        channel_ = &channel;
        channels_++;
    }

    Channel &add_bare() {
        tsg_.reset();
        return std::get<Channel>(list_.items.emplace_back(Channel{}));
    }

    Channel &add_member() {
        if (tsg_)
            return std::get<Tsg>(list_.items[*tsg_]).channels.emplace_back();
        scanner_.fail("a channel of a TSG is below no TSG");
        return add_bare();
    }

    void add_unknown(const BoxTitle &title, std::string_view index) {
        end_channel();
        UnknownEntry entry{};
        entry.index = number(title, index);
        for (std::string_view key, value; next_in_box(scanner_, title, key, value);)
            if (key.starts_with("Word ") && value != "hidden")
                text::read({scanner_, key, value}, entry.words.emplace_back());
        list_.items.emplace_back(std::move(entry));
        unknown_++;
    }

    void add_block(const BoxTitle &title) {
        if (!channel_ || channel_->instance) {
            scanner_.fail("an instance block is below no channel");
            return;
        }
        channel_->instance = read_instance_block(scanner_, title);
        blocks_++;
    }

    /// Returns the instance block that the current box belongs to.
    InstanceBlock *block() {
        if (channel_ && channel_->instance)
            return &*channel_->instance;
        scanner_.fail("there is no instance block to which this belongs");
        return nullptr;
    }

    void add_subcontext(const BoxTitle &title, std::string_view veid) {
        if (InstanceBlock *const to = block())
            to->subcontexts.push_back(read_subcontext(scanner_, title, number(title, veid)));
    }

    void add_context(const BoxTitle &title) {
        if (InstanceBlock *const to = block())
            to->context = read_context(scanner_, title);
    }

    void skip(const BoxTitle &title) {
        for (std::string_view key, value; next_in_box(scanner_, title, key, value);)
            ;
    }

    void end_channel() {
        if (channel_ && channel_->instance)
            check_instance_block(scanner_, *channel_->instance);
        channel_ = nullptr;
    }

    Scanner &scanner_;
    Runlist &list_;
    std::optional<std::size_t> tsg_; // index in items of the TSG that the next channel belongs to
    Channel *channel_ = nullptr;     // the last channel; while it is set, no item is added before
                                     // it
    std::size_t tsgs_ = 0, channels_ = 0, unknown_ = 0, blocks_ = 0;
};

} // namespace

Result<Runlist> parse_runlist(std::string_view text) {
    Scanner scanner(text);
    Runlist list{};
    BoxTitle title;
    const bool open = open_box(scanner, title);
    std::string_view id = title.text;
    if (!open || !text::take_prefix(id, "Runlist ")) {
        scanner.fail("there is no box of a runlist");
        return scanner.finish(std::move(list));
    }
    text::read({scanner, title.text, id}, list.id);
    read_box<Runlist>(scanner, title, list_keys, list);
    Builder builder(scanner, list);
    while (open_box(scanner, title))
        builder.add(title);
    builder.finish();
    return scanner.finish(std::move(list));
}

namespace {

struct ListRow {
    std::uint32_t runlist;
    std::optional<bool> on; // empty: the register cannot be read
};

void set_on(const text::Value &value, ListRow &row) {
    if (value.text == "unreadable")
        return;
    if (value.text != "on" && value.text != "off")
        return value.fail("'on' or 'off'");
    row.on = value.text == "on";
}

constexpr text::Key<ListRow> list_columns[] = {
    text::key<&ListRow::runlist>("runlist"),
    {"scheduling", set_on},
};

} // namespace

Result<std::map<std::uint32_t, bool>> parse_scheduling(std::string_view text) {
    return text::parse_table<ListRow>(text, list_columns).map([](const std::vector<ListRow> &rows) {
        std::map<std::uint32_t, bool> scheduling;
        for (const ListRow &row : rows)
            if (row.on)
                scheduling[row.runlist] = *row.on;
        return scheduling;
    });
}

std::vector<ListedChannel> channels_of(const Runlist &runlist) {
    std::vector<ListedChannel> channels;
    std::map<std::pair<std::optional<std::uint32_t>, std::uint32_t>, std::size_t> known;
    const auto add = [&](const Channel &channel, const Tsg *tsg) {
        const auto id = tsg ? std::optional(tsg->id) : std::nullopt;
        const auto [at, is_new] = known.try_emplace({id, channel.id}, channels.size());
        if (is_new)
            channels.push_back({&channel, tsg, 0});
        channels[at->second].entries++;
    };
    for (const RunlistItem &item : runlist.items) {
        if (const auto *const tsg = std::get_if<Tsg>(&item))
            for (const Channel &channel : tsg->channels)
                add(channel, tsg);
        else if (const auto *const channel = std::get_if<Channel>(&item))
            add(*channel, nullptr);
    }
    return channels;
}

std::vector<ListedTsg> tsgs_of(const Runlist &runlist) {
    std::vector<ListedTsg> tsgs;
    std::map<std::uint32_t, std::size_t> known;
    for (const RunlistItem &item : runlist.items)
        if (const auto *const tsg = std::get_if<Tsg>(&item)) {
            const auto [at, is_new] = known.try_emplace(tsg->id, tsgs.size());
            if (is_new)
                tsgs.push_back({tsg->id, {}});
            tsgs[at->second].headers.push_back(tsg);
        }
    return tsgs;
}

namespace {

enum class MayRun { no, yes, unknown };

MayRun may_run(const Channel &channel) {
    if (!channel.enabled)
        return MayRun::unknown;
    return *channel.enabled ? MayRun::yes : MayRun::no;
}

/// Returns whether a TSG may run, for which one enabled channel is enough.
MayRun may_run(const Tsg &tsg) {
    MayRun answer = MayRun::no;
    for (const Channel &channel : tsg.channels) {
        const MayRun one = may_run(channel);
        if (one == MayRun::yes)
            return one;
        if (one == MayRun::unknown)
            answer = one;
    }
    return answer;
}

/// The time in ns of TSGs in one round of a list.
struct Round {
    std::map<std::uint32_t, std::uint64_t> of_tsg;
    std::uint64_t whole = 0;
    bool known = true;
};

Round round_of(const Runlist &runlist) {
    Round round;
    round.known = !runlist.torn && runlist.tsgs.has_value();
    for (const RunlistItem &item : runlist.items) {
        MayRun answer = MayRun::unknown; // an entry of unknown kind may run or not
        if (const auto *const tsg = std::get_if<Tsg>(&item)) {
            answer = may_run(*tsg);
            const std::uint64_t time = answer == MayRun::yes ? tsg->timeslice_ns : 0;
            round.of_tsg[tsg->id] += time;
            round.whole += time;
        } else if (const auto *const channel = std::get_if<Channel>(&item)) {
            answer = may_run(*channel) == MayRun::no ? MayRun::no : MayRun::unknown;
        }
        if (answer == MayRun::unknown)
            round.known = false;
    }
    return round;
}

} // namespace

std::vector<TsgShare> expected_shares(const Runlist &runlist) {
    const Round round = round_of(runlist);
    std::vector<TsgShare> shares;
    for (const ListedTsg &tsg : tsgs_of(runlist))
        shares.push_back({tsg.id, std::nullopt, tsg.headers.front()->timeslice_ns,
                          static_cast<std::uint32_t>(tsg.headers.size())});
    if (!round.known)
        return shares;
    for (TsgShare &share : shares)
        share.share = round.whole ? static_cast<double>(round.of_tsg.at(share.tsg)) /
                                        static_cast<double>(round.whole)
                                  : 0;
    return shares;
}

std::string fold_ids(std::span<const std::uint32_t> ids) {
    std::string text;
    for (std::size_t first = 0; first < ids.size();) {
        std::size_t last = first;
        while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1)
            ++last;
        text += (text.empty() ? "" : ", ") + std::to_string(ids[first]);
        // Two neighbours are easier to read as a list.
        if (last != first)
            text += (last == first + 1 ? ", " : "-") + std::to_string(ids[last]);
        first = last + 1;
    }
    return text;
}

} // namespace nvdebug
