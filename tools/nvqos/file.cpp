// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "goals.hpp"
#include "gpus.hpp"
#include "lib/base/input_file.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/toml.hpp"
#include "lib/base/words.hpp"

namespace nvqos {
namespace {

using nvdebug::base::printable;

constexpr std::size_t most_bytes = std::size_t{16} << 20; // a million lines

/// Reads one file; errors name its lines.
class Reader {
  public:
    explicit Reader(const std::string &path) : path_(path) {}

    Outcome<Goals> read(const toml::table &all) {
        Goals goals;
        constexpr std::array top{"epoch", "scheme", "gpus", "others", "tenant", "tpcs"};
        if (auto known = only(all, top); !known)
            return tl::unexpected(known.error());
        if (auto settings = read_settings(all, goals); !settings)
            return tl::unexpected(settings.error());
        if (const toml::node *const others = all.get("others"))
            if (auto goal = read_goal(*others, goals.others); !goal)
                return tl::unexpected(goal.error());
        if (const toml::node *const tenants = all.get("tenant")) {
            const toml::array *const list = tenants->as_array();
            if (!list || !list->is_homogeneous<toml::table>())
                return wrong(*tenants, "tenants are tables: write [[tenant]]");
            for (const toml::node &one : *list)
                if (auto added = read_tenant(*one.as_table(), goals); !added)
                    return tl::unexpected(added.error());
        }
        return goals;
    }

  private:
    tl::unexpected<Failure> wrong(const toml::node &node, const std::string &sentence) const {
        return fail(bad_usage,
                    fmt::format("{}:{}: {}", printable(path_), node.source().begin.line, sentence));
    }

    template <std::size_t N>
    Outcome<void> only(const toml::table &table, const std::array<const char *, N> &keys) const {
        for (const auto &[key, node] : table)
            if (std::ranges::find(keys, key.str()) == keys.end())
                return wrong(
                    node,
                    fmt::format("'{}' is no key here{}: those are {}", printable(key.str()),
                                nvdebug::base::guess(
                                    key.str(), std::vector<std::string>(keys.begin(), keys.end())),
                                fmt::join(keys, ", ")));
        return {};
    }

    Outcome<std::string> text(const toml::node &node, const char *what) const {
        const auto value = node.value_exact<std::string>();
        if (!value || value->empty())
            return wrong(node, fmt::format("{} is a text in quotes", what));
        return *value;
    }

    Outcome<void> read_settings(const toml::table &all, Goals &goals) const {
        if (const toml::node *const node = all.get("epoch")) {
            const auto value = node->value_exact<std::string>();
            const auto time = value ? parse_time(*value) : std::nullopt;
            if (!time)
                return wrong(*node, "epoch is a time, as \"100ms\"");
            goals.settings.epoch = *time;
        }
        if (const toml::node *const node = all.get("scheme")) {
            const auto word = text(*node, "scheme");
            if (!word)
                return tl::unexpected(word.error());
            const auto scheme = parse_scheme(*word);
            if (!scheme)
                return wrong(*node, scheme.error().sentence);
            goals.settings.scheme = *scheme;
        }
        if (const toml::node *const node = all.get("tpcs")) {
            const auto value = node->value_exact<bool>();
            if (!value)
                return wrong(*node, "tpcs is true or false");
            goals.tpcs = *value;
        }
        if (const toml::node *const node = all.get("gpus"))
            return read_gpus(*node, goals.gpus);
        return {};
    }

    /// Reads GPUs: numbers and names, in a list or alone.
    Outcome<void> read_gpus(const toml::node &node, std::vector<std::string> &gpus) const {
        const toml::array *const list = node.as_array();
        for (std::size_t n = 0; n < (list ? list->size() : 1); n++) {
            const toml::node &one = list ? (*list)[n] : node;
            const auto number = one.value_exact<std::int64_t>();
            const auto word = one.value_exact<std::string>();
            if (!number && !word)
                return wrong(one, "gpus are numbers or names, as [0, \"GPU-57a2\"]");
            if (auto added = add_gpus(number ? std::to_string(*number) : *word, gpus); !added)
                return wrong(one, added.error().sentence);
        }
        if (list && list->empty())
            return wrong(node, "gpus is an empty list: without the key all are meant");
        return {};
    }

    /// Reads one text, or a list of texts.
    Outcome<void> read_goal(const toml::node &node, qos::Goal &goal) const {
        const toml::array *const list = node.as_array();
        for (std::size_t n = 0; n < (list ? list->size() : 1); n++) {
            const toml::node &one = list ? (*list)[n] : node;
            const auto words = text(one, "a goal");
            if (!words)
                return tl::unexpected(words.error());
            if (auto added = add_goals(*words, goal); !added)
                return wrong(one, added.error().sentence);
        }
        return list && list->empty() ? Outcome<void>(wrong(node, "there is no goal in the list"))
                                     : Outcome<void>();
    }

    /// Reads one key that selects processes. The value of the last such key is the tenant's name.
    Outcome<void> take_selector(const std::string &key, const toml::node &node,
                                Tenant &tenant) const {
        std::string word;
        if (key == "pid" || key == "all-of") {
            const auto pid = node.value_exact<std::int64_t>();
            if (!pid)
                return wrong(node, fmt::format("{} is the number of a process", key));
            word = std::to_string(*pid);
        } else if (auto value = text(node, key.c_str())) {
            word = std::move(*value);
        } else {
            return tl::unexpected(value.error());
        }
        if (auto taken = select(key, word, tenant); !taken)
            return wrong(node, taken.error().sentence);
        tenant.name = key + ":" + word;
        return {};
    }

    Outcome<void> read_tenant(const toml::table &table, Goals &goals) const {
        constexpr std::array selectors{"pid",    "all-of",  "container", "pod",
                                       "cgroup", "command", "job"};
        constexpr std::array keys{"name",      "goal", "gang",   "pid",     "all-of",
                                  "container", "pod",  "cgroup", "command", "job"};
        if (auto known = only(table, keys); !known)
            return known;
        Tenant tenant;
        for (const char *const key : selectors)
            if (const toml::node *const node = table.get(key))
                if (auto taken = take_selector(key, *node, tenant); !taken)
                    return taken;
        if (tenant.who == Selector())
            return wrong(table, "which tasks is the tenant? Write pid, all-of, container, pod, "
                                "cgroup, command or job");
        for (const Tenant &other : goals.tenants)
            if (other.who == tenant.who)
                return wrong(table, "the tenant is there twice: give all of its goals in one list");
        const toml::node *const goal = table.get("goal");
        if (!goal)
            return wrong(table, "the tenant has no goal: write goal = \"share:30%\"");
        if (auto read = read_goal(*goal, tenant.goal); !read)
            return read;
        if (const toml::node *const node = table.get("gang")) {
            const auto value = node->value_exact<bool>();
            if (!value && node->value_exact<std::string>() != text_of(Gang::nodes))
                return wrong(*node, "gang is true, false if the tenant's tasks on several GPUs do "
                                    "not wait for each other, or \"nodes\" if it has tasks on "
                                    "other nodes as well");
            tenant.gang = !value ? Gang::nodes : *value ? Gang::on : Gang::off;
            if (auto checked = check_gang(tenant.gang, tenant.goal); !checked)
                return wrong(*node, checked.error().sentence);
        }
        if (const toml::node *const node = table.get("name")) {
            auto name = text(*node, "name");
            if (!name)
                return tl::unexpected(name.error());
            if (*name == "others")
                return wrong(*node, "'others' is the name of all tasks without a tenant: give this "
                                    "tenant another one, or write others = \"cap:20%\" above the "
                                    "first [[tenant]]");
            tenant.name = *name;
        }
        goals.tenants.push_back(std::move(tenant));
        return {};
    }

    const std::string &path_;
};

} // namespace

Outcome<Goals> read_goals(const std::string &path) {
    const auto text = nvdebug::base::read_whole(path, most_bytes);
    if (!text)
        return fail(of_file(text.error().error), text.error().sentence);
    const auto table = nvdebug::base::parse_toml(*text);
    if (!table)
        return fail(bad_usage, fmt::format("{}:{}: {}", printable(path), table.error().line,
                                           printable(table.error().sentence)));
    return Reader(path).read(*table);
}

} // namespace nvqos
