// SPDX-License-Identifier: MIT OR GPL-2.0
#include "text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace core {

namespace {

constexpr std::size_t columns = 48;

struct BoxKind {
    bool numbered;
    std::string fields; // in any order
};
const std::map<std::string, BoxKind> box_kinds{
    {"Runlist", {true, "Entries, TSGs, Channels, Pending, Address, Aperture, Snapshot"}},
    {"TSG Entry", {true, "Scale, Timeout, Timeslice (us), Length, Truncated"}},
    {"Channel Info",
     {true, "Enabled, Next, Force CTX Reload, Enable set, Enable clear, PBDMA Faulted, "
            "ENG Faulted, Status, Busy, Status Name, Bound, Runqueue, Instance Block, "
            "Instance Aperture, On PBDMA, On ENG, Pending, CTX Reload, PBDMA Busy, ENG Busy, "
            "Acquire Fail, Error"}},
    {"Unknown Entry", {true, "Word 0, Word 1, Word 2, Word 3"}},
    {"Instance Block",
     {false, "Page Tables, Big Page Size (KiB), Page Directory, Page Directory Aperture, "
             "Page Directory Volatile, VA Limit, Target Engine, Privileged, VEID, PASID, ATS, "
             "Engine WFI Pointer, Engine WFI Aperture, Engine WFI Mode, Subcontexts, Context, "
             "Error, Same as Channel"}},
    {"Subcontext",
     {true, "Page Directory, Page Directory Aperture, Page Directory Volatile, PASID, ATS"}},
    {"Context",
     {false, "Context ID, Type, Graphics Preemption, Compute Preemption, Saves, Restores, "
             "WFI Saves, CTA Saves, GFXP Saves, CILP Saves, Image, Image Address, Image Aperture"}},
};

bool is_field(const BoxKind &kind, const std::string &name) {
    return (", " + kind.fields + ", ").find(", " + name + ", ") != std::string::npos;
}

/// Returns the text without the given characters at its ends.
std::string trimmed(const std::string &text, const char *characters) {
    const std::size_t first = text.find_first_not_of(characters);
    if (first == std::string::npos)
        return "";
    return text.substr(first, text.find_last_not_of(characters) - first + 1);
}

/// Returns a box from its title, for example "Channel Info 2" or "Context".
Box begun(const std::string &title, std::size_t indent) {
    const std::size_t blank = title.find_last_of(' ');
    if (blank == std::string::npos || !std::isdigit(static_cast<unsigned char>(title[blank + 1])))
        return {title, std::nullopt, indent, {}};
    return {title.substr(0, blank), std::stoul(title.substr(blank + 1)), indent, {}};
}

} // namespace

std::vector<Box> boxes(const std::string &text) {
    std::vector<Box> all;
    bool open = false;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_EQ(line.size(), columns) << line;
        const std::size_t indent = line.find_first_not_of(' ');
        const std::string title = trimmed(line, " +-");
        if (line.find("+-") == indent) {
            EXPECT_EQ(open, title.empty()) << "a box in a box, or a rule outside: " << line;
            if (!title.empty())
                all.push_back(begun(title, indent));
            open = !title.empty();
            continue;
        }
        const std::size_t colon = line.find(": ");
        if (!open || line.find("| ") != indent || colon == std::string::npos) {
            ADD_FAILURE() << "no field of a box: " << line;
            continue;
        }
        const std::string key = line.substr(indent + 2, colon - indent - 2);
        EXPECT_TRUE(all.back().fields.emplace(key, trimmed(line.substr(colon + 1), " |")).second)
            << "twice in a box: " << line;
    }
    EXPECT_FALSE(open) << "the last box is not closed";
    return all;
}

void expect_known_boxes(const std::string &text) {
    // indent of the last channel, while boxes may stand below it
    std::optional<std::size_t> channel;
    bool first = true;
    for (const Box &box : boxes(text)) {
        const auto kind = box_kinds.find(box.kind);
        if (kind == box_kinds.end()) {
            ADD_FAILURE() << "an unknown box: " << box.kind;
            continue;
        }
        EXPECT_EQ(box.number.has_value(), kind->second.numbered) << box.kind;
        for (const auto &[key, value] : box.fields)
            EXPECT_TRUE(is_field(kind->second, key)) << box.kind << ": " << key;
        EXPECT_EQ(first, box.kind == "Runlist");
        first = false;
        if (box.kind == "Channel Info") {
            EXPECT_TRUE(box.indent == 0 || box.indent == 2) << *box.number;
            channel = box.indent;
        } else if (box.kind == "Instance Block" || box.kind == "Subcontext" ||
                   box.kind == "Context") {
            EXPECT_TRUE(channel && box.indent == *channel + 2) << box.kind;
        } else {
            EXPECT_EQ(box.indent, 0U) << box.kind;
            channel.reset();
        }
    }
    EXPECT_FALSE(first) << "no box";
    EXPECT_TRUE(
        text.ends_with('\n') &&
        std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }))
        << "no printable lines";
}

std::vector<Box> of_kind(const std::vector<Box> &all, const std::string &kind) {
    std::vector<Box> found;
    std::ranges::copy_if(all, std::back_inserter(found),
                         [&](const Box &box) { return box.kind == kind; });
    return found;
}

std::vector<Box> entries(const std::string &text) {
    std::vector<Box> all = boxes(text);
    std::erase_if(all, [](const Box &box) {
        return box.kind == "Instance Block" || box.kind == "Subcontext" || box.kind == "Context";
    });
    return all;
}

std::vector<Instance> instances(const std::string &text) {
    std::vector<Instance> all;
    Box channel;
    for (const Box &box : boxes(text)) {
        if (box.kind == "Channel Info") {
            channel = box;
        } else if (box.kind == "Instance Block") {
            EXPECT_EQ(box.indent, channel.indent + 2);
            all.push_back({channel.number.value_or(0), box.fields, {}, std::nullopt});
        } else if (box.kind == "Subcontext") {
            EXPECT_TRUE(all.at(all.size() - 1)
                            .subcontexts.emplace(box.number.value_or(0), box.fields)
                            .second);
        } else if (box.kind == "Context") {
            EXPECT_FALSE(all.at(all.size() - 1).context);
            all.back().context = box.fields;
        }
    }
    return all;
}

Fields pairs(const std::string &text) {
    Fields all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos)
            ADD_FAILURE() << "no pair: " << line;
        else
            all[line.substr(0, colon)] = line.substr(colon + 2);
    }
    return all;
}

} // namespace core
