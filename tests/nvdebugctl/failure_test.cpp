// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include "cli/failure.hpp"

using namespace nvdebugctl;
using nvdebug::Error;
using nvdebug::ErrorCode;

namespace {

Error unread(const std::string &path, const std::string &why = "denied") {
    return {ErrorCode::denied, EACCES, path, "cannot read " + path + ": " + why};
}

} // namespace

using Sentences = std::vector<std::string>;

TEST(Sentences, OneForFilesThatFailAlike) {
    EXPECT_EQ(sentences_of({}), Sentences{});
    EXPECT_EQ(sentences_of({unread("/proc/gpu0/a"), unread("/proc/gpu0/b")}),
              Sentences{"cannot read /proc/gpu0/a, b: denied"});
    EXPECT_EQ(sentences_of({unread("/g/a"), unread("/g/b"), unread("/g/c")}),
              Sentences{"cannot read /g/a, b, c: denied"});
    EXPECT_EQ(sentences_of({unread("/g/a"), unread("/g/b"), unread("/g/c"), unread("/g/d")}),
              Sentences{"cannot read /g/a, b and 2 more: denied"});
    EXPECT_EQ(sentences_of({unread("/g/a"), unread("/h/a")}),
              Sentences{"cannot read /g/a, /h/a: denied"});
}

TEST(Sentences, OneForEachReason) {
    EXPECT_EQ(sentences_of({unread("/g/a"), unread("/g/b", "gone"), unread("/g/c")}),
              (Sentences{"cannot read /g/a, c: denied", "cannot read /g/b: gone"}));
    Error engines = unread("/g/a");
    engines.sentence = "who runs is not shown: " + engines.sentence;
    EXPECT_EQ(sentences_of({engines}), Sentences{engines.sentence});
    EXPECT_EQ(sentences_of({engines, unread("/g/b")}), Sentences{"cannot read /g/a, b: denied"});
    EXPECT_EQ(sentences_of({engines, unread("/g/b", "gone")}).size(), 2u);
    const Error without_path{ErrorCode::io, 0, "", "bad"};
    const Error elsewhere{ErrorCode::io, 0, "/g/a", "no path in this"};
    EXPECT_EQ(sentences_of({without_path, elsewhere, without_path, elsewhere}),
              (Sentences{"bad", "no path in this"}));
    EXPECT_EQ(sentences_of({unread("/g/a"), unread("/g/a")}),
              Sentences{"cannot read /g/a: denied"});
}

TEST(Sentences, AbsentThingsAreNotMissing) {
    EXPECT_TRUE(is_absent({ErrorCode::unsupported, ENOENT, "", ""}));
    EXPECT_FALSE(is_absent({ErrorCode::unsupported, EOPNOTSUPP, "", ""}));
    EXPECT_FALSE(is_absent({ErrorCode::denied, EACCES, "", ""}));
}
