// SPDX-License-Identifier: MIT OR GPL-2.0
#include "saved_tenants.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/output_file.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/task_name.hpp"

namespace nvqos {
namespace {

using nvdebug::base::Birth;

/// The first line, after which there are lines of these forms:
///
///     boot ID
///     tenant hold|join NAME GOAL gang|alone|nodes [GPU]…
///     holder PID START                    of the last tenant
///     cgroup PATH                         that the last holder has named
///     member PID START                    a process of the last tenant
///     end                                 the last line
constexpr const char *first_saved_line = "nvqos tenants 1";

/// The words of a line for Tenant::gang.
using SavedGang = std::pair<std::string_view, Gang>;
constexpr std::array<SavedGang, 3> saved_gangs = {
    {{"gang", Gang::on}, {"alone", Gang::off}, {"nodes", Gang::nodes}}};

std::string this_boot() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    file >> id;
    return id;
}

std::string saved_text(const std::vector<HeldTenant> &tenants) {
    std::string text = fmt::format("{}\nboot {}\n", first_saved_line, this_boot());
    for (const HeldTenant &tenant : tenants) {
        if (tenant.holders.empty())
            continue;
        text += fmt::format("tenant {} {} {} {}", tenant.is_joined ? "join" : "hold", tenant.name,
                            tenant.goal_word,
                            std::ranges::find(saved_gangs, tenant.gang, &SavedGang::second)->first);
        for (const std::uint32_t gpu : tenant.gpus)
            text += fmt::format(" {}", gpu);
        text += "\n";
        for (const Holder &holder : tenant.holders) {
            text += fmt::format("holder {} {}\n", holder.birth.pid, holder.birth.started);
            for (const std::string &cgroup : holder.cgroups)
                text += "cgroup " + cgroup + "\n";
        }
        for (const Birth &member : tenant.family->members())
            text += fmt::format("member {} {}\n", member.pid, member.started);
    }
    return text + "end\n";
}

/// Returns the file's text; empty: there is no file.
Outcome<std::string> text_of_file(const std::string &path) {
    constexpr off_t longest = 16 << 20;
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 && errno == ENOENT)
        return "";
    struct stat about {};
    int error = file < 0 || ::fstat(file, &about) ? errno : 0;
    if (!error && (!S_ISREG(about.st_mode) || about.st_uid != ::geteuid()))
        error = EPERM;
    if (!error && about.st_size > longest)
        error = EFBIG;
    std::string text;
    std::array<char, 1 << 16> part{};
    for (ssize_t got = 0; !error && (got = ::read(file, part.data(), part.size())) != 0;) {
        if (got < 0)
            error = errno;
        else
            text.append(part.data(), static_cast<std::size_t>(got));
        if (text.size() > static_cast<std::size_t>(longest))
            error = EFBIG;
    }
    if (file >= 0)
        ::close(file);
    if (error)
        return fail(of_file(error), ::strerrordesc_np(error));
    return text;
}

/// Reads the lines of one file.
class TenantReader {
  public:
    TenantReader(const std::string &text, qos::Ns now) : lines_(text), now_(now) {}

    /// Returns the tenants with all of their holders and processes; nullopt: the file is not whole.
    std::optional<std::vector<HeldTenant>> read() {
        std::string line;
        if (!std::getline(lines_, line) || line != first_saved_line)
            return std::nullopt;
        bool is_whole = false;
        while (!is_whole && std::getline(lines_, line)) {
            std::istringstream words(line);
            std::string kind;
            words >> kind;
            is_whole = kind == "end";
            if (!is_whole && !take(kind, words))
                return std::nullopt;
        }
        if (!is_whole)
            return std::nullopt;
        return is_of_this_boot_ ? std::move(tenants_) : std::vector<HeldTenant>();
    }

  private:
    bool take(const std::string &kind, std::istringstream &words) {
        if (kind == "boot") {
            std::string id;
            words >> id;
            is_of_this_boot_ = id == this_boot();
            return !id.empty();
        }
        if (kind == "tenant")
            return take_tenant(words);
        if (tenants_.empty())
            return false;
        HeldTenant &tenant = tenants_.back();
        if (kind == "cgroup") {
            std::string path;
            words >> path;
            const auto cgroup = nvdebug::base::read_cgroup(path);
            if (!cgroup || tenant.holders.empty())
                return false;
            tenant.holders.back().cgroups.insert(*cgroup);
            return true;
        }
        Birth birth{};
        if (!(words >> birth.pid >> birth.started))
            return false;
        if (kind == "holder")
            tenant.holders.push_back({birth, {}});
        else if (kind == "member")
            tenant.family->add(birth);
        return kind == "holder" || kind == "member";
    }

    bool take_tenant(std::istringstream &words) {
        std::string how, name, goal_word, ranks;
        words >> how >> name >> goal_word >> ranks;
        const auto gang = std::ranges::find(saved_gangs, ranks, &SavedGang::first);
        const auto goal = parse_goal(goal_word);
        if (!words || !is_tenant_name(name) || (how != "hold" && how != "join") ||
            gang == saved_gangs.end() || !goal)
            return false;
        std::vector<std::uint32_t> gpus;
        for (std::uint32_t gpu = 0; words >> gpu;)
            gpus.push_back(gpu);
        tenants_.push_back({.name = name,
                            .goal = *goal,
                            .goal_word = goal_word,
                            .gpus = std::move(gpus),
                            .family = std::make_shared<Family>(),
                            .is_joined = how == "join",
                            .since = now_,
                            .gang = gang->second});
        return words.eof();
    }

    std::istringstream lines_;
    const qos::Ns now_;
    bool is_of_this_boot_ = false;
    std::vector<HeldTenant> tenants_;
};

} // namespace

Outcome<void> save_tenants(const std::string &path, const std::vector<HeldTenant> &tenants) {
    const bool any = std::ranges::any_of(
        tenants, [](const HeldTenant &tenant) { return !tenant.holders.empty(); });
    int error = 0;
    if (any)
        error = nvdebug::base::write_file(path, saved_text(tenants), S_IRUSR | S_IWUSR);
    else if (::unlink(path.c_str()) && errno != ENOENT)
        error = errno;
    if (error)
        return fail(of_file(error),
                    fmt::format("{} cannot be written: {}; tenants that are held now "
                                "will not be held after a restart",
                                nvdebug::base::printable(path), ::strerrordesc_np(error)));
    return {};
}

Outcome<std::vector<HeldTenant>> saved_tenants(const std::string &path, qos::Ns now) {
    const auto failed_to = [&](const std::string &why) {
        return fail(failed, fmt::format("the tenants of the nvqos before this one are not held "
                                        "again: {}: {}; have their programs ask again",
                                        nvdebug::base::printable(path), why));
    };
    const auto text = text_of_file(path);
    if (!text)
        return failed_to(text.error().sentence);
    if (text->empty())
        return std::vector<HeldTenant>();
    auto tenants = TenantReader(*text, now).read();
    if (!tenants)
        return failed_to("it is not a whole list of tenants");
    for (HeldTenant &tenant : *tenants) {
        std::erase_if(tenant.holders,
                      [](const Holder &holder) { return !nvdebug::base::lives(holder.birth); });
        for (const Holder &holder : tenant.holders)
            for (const std::string &cgroup : holder.cgroups)
                tenant.family->add_cgroup(cgroup);
    }
    std::erase_if(*tenants, [](const HeldTenant &tenant) { return tenant.holders.empty(); });
    return std::move(*tenants);
}

} // namespace nvqos
