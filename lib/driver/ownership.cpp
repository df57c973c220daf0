// SPDX-License-Identifier: MIT OR GPL-2.0
#include "ownership.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

namespace nvdebug::driver {
namespace {

constexpr const char *control_path = "/dev/nvidiactl";

bool is_end(int error) {
    return error == -ENOENT || error == -ESRCH;
}

bool is_denial(int error) {
    return error == -EPERM || error == -EACCES;
}

/// The RM names its clients by a counter, which begins again after about a million.
constexpr std::uint32_t names_of_clients = 0x100000;

std::uint32_t name_after(std::uint32_t name, std::uint32_t steps) {
    return rm::first_client + ((name - rm::first_client + steps) % names_of_clients);
}

std::uint32_t names_between(std::uint32_t first, std::uint32_t name) {
    return (name - first) % names_of_clients;
}

} // namespace

/// One look at one GPU.
class Ownership::Look {
  public:
    Look(Ownership &known, const Card &card)
        : known_(known), kernel_(*known.kernel_), control_(kernel_.device(control_path)),
          gpu_(kernel_.device("/dev/nvidia" + std::to_string(card.minor))), card_(card) {}

    Owned run(bool everything) {
        list();
        if (has_controls()) {
            search();
            ask_all();
            if (everything)
                known_.older_ = names_of_clients - 1;
            if (known_.older_ && (everything || has_unknown())) {
                known_.pass_++;
                search_older(known_.older_);
                ask_all();
            }
        }
        std::vector<std::size_t> places; // processes that have ended have no channels
        for (Found &one : found_) {
            places.push_back(owned_.processes.size());
            if (one.ended)
                continue;
            owned_.count.denied += one.process.denied;
            if (one.budget.spent() || one.cut)
                owned_.cut.push_back(one.process.pid);
            owned_.processes.push_back(std::move(one.process));
        }
        for (ClientChannel &channel : owned_.channels)
            channel.process = places[channel.process];
        std::ranges::stable_sort(owned_.channels, {}, &ClientChannel::process);
        return std::move(owned_);
    }

  private:
    struct Found {
        Process process;
        std::vector<int> controls; // its descriptors
        bool cut = false;          // it has more descriptors than are examined
        bool checked = false;      // its pidfd is of this process
        bool ended = false;
        QueryBudget budget;
    };

    // --- processes ---

    void list() {
        std::vector<std::string> names;
        if (const int error = kernel_.list("/proc", names))
            fail(error);
        for (const std::string &name : names)
            if (const auto pid = number_of(name); pid && *pid != kernel_.self())
                look_at(*pid);
        // The oldest first: what a child has inherited is its parent's.
        std::ranges::sort(found_, {}, [](const Found &one) {
            return std::pair(one.process.started, one.process.pid);
        });
        owned_.count.hidden = static_cast<std::uint32_t>(owned_.hidden.size());
        std::erase_if(known_.asked_, [&](const auto &one) { return !seen_.contains(one.first); });
    }

    void look_at(std::uint32_t pid) {
        // Examining a descriptor takes a microsecond.
        constexpr std::size_t descriptors_most = 0x10000;
        const std::string folder = folder_of(pid);
        std::vector<std::string> names;
        if (const int error = kernel_.list(folder + "fd", names)) {
            if (is_denial(error))
                owned_.hidden.push_back(pid);
            else if (!is_end(error))
                fail(error);
            return;
        }
        const bool cut = names.size() > descriptors_most;
        names.resize(std::min(names.size(), descriptors_most));
        std::vector<int> controls;
        bool uses_gpu = false;
        for (const std::string &name : names) {
            const auto number = number_of(name);
            const auto device = kernel_.device(folder + "fd/" + name);
            if (!number || !device)
                continue;
            uses_gpu = uses_gpu || device == gpu_;
            if (device == control_)
                controls.push_back(static_cast<int>(*number));
        }
        if (!uses_gpu && controls.empty())
            return;
        const auto started = start_of(kernel_, pid);
        for (const int control : controls)
            if (started)
                seen_.insert({pid, *started, control});
        if (!uses_gpu)
            return;
        Process process{pid,
                        started.value_or(0),
                        uid_of(kernel_, pid),
                        command_of(kernel_, pid),
                        cgroup_of(kernel_, pid),
                        {},
                        {}};
        // The pid may have been reused.
        if (!started || start_of(kernel_, pid) != started)
            return end(pid);
        constexpr std::uint32_t of_a_process = 0x30000, of_a_user = 4 * of_a_process;
        QueryBudget &whole =
            users_.try_emplace(process.uid, kernel_, of_a_user, std::chrono::seconds(5))
                .first->second;
        found_.push_back({.process = std::move(process),
                          .controls = std::move(controls),
                          .cut = cut,
                          .budget = {kernel_, of_a_process, std::chrono::seconds(2), &whole}});
    }

    /// Counts a process that has ended, or a failure to read it.
    void end(std::uint32_t pid) {
        std::vector<std::string> names;
        const int error = kernel_.list(folder_of(pid) + "fd", names);
        if (error && !is_end(error) && !is_denial(error))
            fail(error);
        else
            owned_.count.ended++;
    }

    /// Counts a failure of this program, such as too few descriptors: processes may be missing.
    void fail(int error) {
        owned_.count.refused++;
        owned_.trouble = -error;
    }

    bool has_controls() const {
        return std::ranges::any_of(found_, [](const Found &one) { return !one.controls.empty(); });
    }

    /// Returns whether some process that can be queried has no known client.
    bool has_unknown() const {
        std::set<std::uint32_t> with;
        for (const auto &[client, owner] : known_.owned_)
            with.insert(owner.pid);
        return std::ranges::any_of(found_, [&](const Found &one) {
            return !one.controls.empty() && !one.process.denied && !with.contains(one.process.pid);
        });
    }

    // --- clients ---

    /// Returns whether a client exists. The query goes to this program's own client, since the
    /// driver logs each query to a client that does not exist.
    bool lives(std::uint32_t client) {
        if (known_.broken_)
            return false;
        rm::AccessRights rights{client, client, 0};
        const Client &ours = *known_.client_;
        const Answer answer = ask_rm(kernel_, ours.descriptor(), ours.handle(), ours.handle(),
                                     rm::AccessRights::command, &rights, sizeof(rights));
        if (answer.error) {
            fail(answer.error);
            known_.broken_ = true;
        }
        return answer.ok();
    }

    /// Returns whether a client of that name lives and has no known owner yet.
    bool find_client(std::uint32_t name) {
        if (known_.broken_ || name == known_.client_->handle() || known_.owned_.contains(name) ||
            !lives(name))
            return false;
        // A name may be reused: all descriptors are queried about it again.
        known_.unowned_[name] = known_.pass_;
        // Bounded, as any user can make clients; the oldest are not needed any more.
        constexpr std::size_t unowned_most = 0x10000;
        if (known_.unowned_.size() > unowned_most)
            known_.unowned_.erase(std::ranges::min_element(
                known_.unowned_, {}, &std::pair<const std::uint32_t, std::uint64_t>::second));
        return true;
    }

    void search() {
        known_.pass_++;
        forget();
        if (known_.searched_) {
            search_new();
            constexpr std::uint32_t at_a_time = 0x1000;
            search_older(at_a_time);
        } else {
            known_.newest_ = known_.first_ = count().value_or(known_.client_->handle());
            known_.older_ = names_of_clients - 1;
            // The names below the newest were given since the counter last began.
            search_older(names_between(rm::first_client, known_.first_));
            known_.searched_ = !known_.broken_;
        }
        known_.seen_ = seen_;
    }

    /// A client may stay open after its descriptor is closed here: in a child, or in a process that
    /// was sent the descriptor.
    void forget() {
        for (auto at = known_.owned_.begin(); at != known_.owned_.end();) {
            if (seen_.contains(at->second)) {
                ++at;
                continue;
            }
            known_.unowned_[at->first] = known_.pass_;
            at = known_.owned_.erase(at);
        }
    }

    /// Returns the counter of the RM, which only a new client shows.
    std::optional<std::uint32_t> count() {
        known_.counted_ = known_.pass_;
        const auto counter = Client::open(known_.kernel_);
        owned_.count.refused += !counter;
        if (!counter || (*counter)->handle() - rm::first_client >= names_of_clients)
            return std::nullopt; // a name of another kind
        return (*counter)->handle();
    }

    /// Reads the counter if there are new descriptors, and every 32 passes if a process has no
    /// client; otherwise tries some names ahead.
    void search_new() {
        constexpr std::uint32_t ahead = 0x100, passes_between = 0x20;
        const bool is_new = !std::ranges::includes(known_.seen_, seen_);
        const bool is_due = known_.pass_ - known_.counted_ >= passes_between && has_unknown();
        if (const auto now = is_new || is_due ? count() : std::nullopt) {
            for (std::uint32_t n = names_between(known_.newest_, *now); n-- > 1;)
                find_client(name_after(known_.newest_, n));
            known_.newest_ = *now;
            return;
        }
        // A client that is known was there before, and does not show how far the counter is.
        for (std::uint32_t n = 1; n <= ahead; n++)
            if (const std::uint32_t name = name_after(known_.newest_, n);
                !known_.unowned_.contains(name) && find_client(name)) {
                known_.newest_ = name;
                n = 0;
            }
    }

    /// Tries names that were given before the first pass, the youngest first.
    void search_older(std::uint32_t names) {
        for (; names && known_.older_ && !known_.broken_; names--, known_.older_--)
            find_client(name_after(known_.first_, known_.older_));
    }

    // --- descriptors ---

    void ask_all() {
        for (std::size_t n = 0; n < found_.size(); n++) {
            Found &one = found_[n];
            for (const int number : one.controls)
                if (!one.budget.spent() && !one.ended)
                    ask(n, {one.process.pid, one.process.started, number});
            if (one.process.controls.empty())
                one.process.held = Taken();
        }
    }

    /// Queries through one descriptor, which is closed again if no channel is found through it.
    void ask(std::size_t n, const Descriptor &at) {
        Found &one = found_[n];
        const auto clients = clients_to_ask(at);
        if (clients.empty() && known_.asked_.contains(at))
            return;
        Taken taken = take(one, at.number);
        if (taken.number() < 0)
            return;
        std::vector<ClientChannel> channels;
        if (known_.asked_.contains(at) || !is_duplicate(one, at, taken.number()))
            for (const std::uint32_t client : clients)
                ask(one, at, taken.number(), client, channels);
        if (!one.budget.spent() && !known_.broken_)
            known_.asked_[at] = known_.pass_;
        for (ClientChannel &channel : channels) {
            channel.process = n;
            channel.control = one.process.controls.size();
            owned_.channels.push_back(channel);
        }
        if (!channels.empty())
            one.process.controls.push_back({at.number, std::move(taken)});
    }

    /// Returns the known clients of @p at, and ownerless ones that it was not asked about.
    std::vector<std::uint32_t> clients_to_ask(const Descriptor &at) const {
        std::vector<std::uint32_t> clients;
        for (const auto &[client, owner] : known_.owned_)
            if (owner == at && !done_.contains(client))
                clients.push_back(client);
        const auto asked = known_.asked_.find(at);
        for (const auto &[client, pass] : known_.unowned_)
            if (asked == known_.asked_.end() || pass > asked->second)
                clients.push_back(client);
        return clients;
    }

    void ask(Found &one, const Descriptor &at, int descriptor, std::uint32_t client,
             std::vector<ClientChannel> &channels) {
        if (one.budget.spent())
            return;
        const auto owner = known_.owned_.find(client);
        if (!lives(client)) {
            if (known_.broken_)
                return;
            known_.unowned_.erase(client);
            if (owner != known_.owned_.end())
                known_.owned_.erase(owner);
            return;
        }
        ForeignClient queried(kernel_, descriptor, client, owned_.count, one.budget);
        if (!queried.is_of_descriptor()) {
            // The number of the descriptor, or the name of the client, has been reused.
            if (owner != known_.owned_.end() && !one.budget.spent()) {
                known_.owned_.erase(owner);
                known_.unowned_[client] = known_.pass_ + 1;
            }
            return;
        }
        known_.unowned_.erase(client);
        known_.owned_[client] = at;
        done_.insert(client);
        if (one.budget.spend_client())
            for (const ClientChannel &channel : queried.channels(card_))
                channels.push_back(channel);
    }

    /// Returns whether another descriptor of the process is of the same file, with the same
    /// clients.
    bool is_duplicate(Found &one, const Descriptor &at, int descriptor) {
        std::map<int, std::uint32_t> others; // of each descriptor a client
        for (const auto &[client, owner] : known_.owned_)
            if (owner.pid == at.pid && owner.number != at.number && done_.contains(client))
                others[owner.number] = client;
        return std::ranges::any_of(others, [&](const auto &other) {
            return lives(other.second) &&
                   ForeignClient(kernel_, descriptor, other.second, owned_.count, one.budget)
                       .is_of_descriptor();
        });
    }

    /// Returns a negative number if the descriptor may not be duplicated, or is gone.
    Taken take(Found &one, int descriptor) {
        Process &process = one.process;
        if (process.held.number() < 0) {
            const int held = kernel_.process(process.pid);
            if (held < 0) {
                note(process, held);
                return {};
            }
            process.held = Taken(known_.kernel_, held);
        }
        Taken taken(known_.kernel_, kernel_.take(process.held.number(), descriptor));
        const int number = taken.number();
        // The pid may have been reused.
        if (!one.checked && start_of(kernel_, process.pid) != process.started) {
            one.ended = true;
            end(process.pid);
            return {};
        }
        one.checked = true;
        if (number < 0) {
            note(process, number);
            return {};
        }
        // The number may be another file's by now.
        if (kernel_.device("/proc/self/fd/" + std::to_string(number)) != control_)
            return {};
        return taken;
    }

    void note(Process &process, int error) {
        if (is_denial(error))
            process.denied = true;
        else if (!is_end(error) && error != -EBADF)
            fail(error);
    }

    Ownership &known_;
    Kernel &kernel_;
    const std::optional<std::uint64_t> control_, gpu_;
    const Card &card_;
    Owned owned_;
    std::map<std::optional<std::uint32_t>, QueryBudget> users_; // by uid
    std::vector<Found> found_;
    std::set<Descriptor> seen_;    // of any process, also without this GPU
    std::set<std::uint32_t> done_; // clients of which the channels are known
};

Result<Owned> Ownership::find(const Card &card, bool everything) {
    const std::scoped_lock held(lock_);
    if (broken_) {
        auto opened = Client::open(kernel_);
        if (!opened)
            return tl::unexpected(std::move(opened).error());
        client_ = std::move(*opened);
        broken_ = false;
    }
    return Look(*this, card).run(everything);
}

} // namespace nvdebug::driver
