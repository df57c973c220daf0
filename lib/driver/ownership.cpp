// SPDX-License-Identifier: MIT OR GPL-2.0
#include "ownership.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

namespace nvdebug::driver {
namespace {

constexpr const char *control_device = "/dev/nvidiactl";

bool is_end(int error) {
    return error == -ENOENT || error == -ESRCH;
}

bool is_denial(int error) {
    return error == -EPERM || error == -EACCES;
}

/// The RM names its clients by a counter, which starts again after about a million names.
constexpr std::uint32_t names_of_clients = 0x100000;

/// Trying this many names takes half a second.
constexpr std::uint32_t names_at_a_time = 0x20000;

std::uint32_t name_after(std::uint32_t name, std::uint32_t steps) {
    return rm::first_client + ((name - rm::first_client + steps) % names_of_clients);
}

std::uint32_t names_between(std::uint32_t first, std::uint32_t name) {
    return (name - first) % names_of_clients;
}

} // namespace

/// A single search for the owners of a GPU's channels.
class Ownership::Look {
  public:
    Look(Ownership &known, const Card &card)
        : known_(known), clients_(known.clients_), is_first_(!known.searched_),
          kernel_(*known.kernel_), control_(kernel_.device(control_device)),
          gpu_(kernel_.device(device_of(card))), card_(card) {}

    Owned run(bool everything) {
        list();
        if (has_controls()) {
            search();
            ask_all();
            if (everything)
                begin_turn(known_.first_);
            if (known_.older_ && (everything || has_unknown())) {
                known_.pass_++;
                search_older(everything || is_first_ ? known_.older_ : names_at_a_time);
                ask_all();
            }
            note_unknown();
        }
        std::vector<std::size_t> places; // their new indices; processes that have ended have no
                                         // channels
        for (Found &one : found_) {
            places.push_back(owned_.processes.size());
            if (one.ended || !one.uses_gpu)
                continue;
            owned_.count.denied += one.process.denied;
            if (one.budget.spent() || one.cut || (one.unfinished && !has_client(one)))
                owned_.cut.push_back(one.process.pid);
            owned_.processes.push_back(std::move(one.process));
        }
        owned_.count.hidden = static_cast<std::uint32_t>(owned_.hidden.size());
        for (ClientChannel &channel : owned_.channels)
            channel.process = places[channel.process];
        std::ranges::stable_sort(owned_.channels, {}, &ClientChannel::process);
        return std::move(owned_);
    }

  private:
    struct Found {
        Process process;
        std::vector<int> controls; // its descriptors
        bool uses_gpu = true;
        std::optional<std::uint32_t> thread = {}; // from which descriptors are taken
        bool cut = false;                         // it has more descriptors than are examined
        bool checked = false;                     // its pidfd is known to be of this very process
        bool ended = false;
        bool hidden = false;     // its descriptors cannot be taken
        bool unfinished = false; // it was not asked about all ownerless clients
        QueryBudget budget;
        Taken of_thread = {};
    };

    // --- processes ---

    void list() {
        std::vector<std::string> names;
        if (const int error = kernel_.list("/proc", names))
            fail(error);
        for (const std::string &name : names)
            if (const auto pid = number_of(name); pid && *pid != kernel_.self())
                look_at(*pid);
        // Processes without the GPU come first, because the clients that they made are then not
        // asked about elsewhere. Older processes come first, because a descriptor that a child has
        // inherited belongs to its parent.
        std::ranges::sort(found_, {}, [](const Found &one) {
            return std::tuple(one.uses_gpu, one.process.started, one.process.pid);
        });
        std::set<Descriptor> with_gpu;
        for (const Found &one : found_)
            for (const int number : one.controls)
                if (one.uses_gpu)
                    with_gpu.insert({one.process.pid, one.process.started, number});
        clients_.begin_look(seen_, std::move(with_gpu));
    }

    void look_at(std::uint32_t pid) {
        // Examining a descriptor takes a microsecond.
        constexpr std::size_t descriptors_most = 0x10000;
        auto [error, folder, thread, names] = descriptors_of(kernel_, pid);
        if (error) {
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
            const auto device = kernel_.device(folder + name);
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
        Process process{pid, started.value_or(0), {}, {}, {}, {}, {}, {}};
        if (!uses_gpu) {
            if (started)
                found_.push_back({.process = std::move(process),
                                  .controls = std::move(controls),
                                  .uses_gpu = false,
                                  .thread = thread,
                                  .budget = {kernel_, 0, std::chrono::seconds(0)}});
            return;
        }
        process.uid = uid_of(kernel_, pid);
        process.command = command_of(kernel_, pid);
        process.cgroup = cgroup_of(kernel_, pid);
        process.launcher = launcher_of(kernel_, pid);
        // The pid may have been reused while these files were read.
        if (!started || start_of(kernel_, pid) != started)
            return end(pid);
        constexpr std::uint32_t of_a_process = 0x30000, of_a_user = 4 * of_a_process;
        QueryBudget &whole =
            users_.try_emplace(process.uid, kernel_, of_a_user, std::chrono::seconds(5))
                .first->second;
        found_.push_back({.process = std::move(process),
                          .controls = std::move(controls),
                          .thread = thread,
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

    /// Counts a failure of this program, such as too few descriptors. Processes may be missing
    /// then.
    void fail(int error) {
        owned_.count.refused++;
        owned_.trouble = -error;
    }

    bool has_controls() const {
        return std::ranges::any_of(
            found_, [](const Found &one) { return one.uses_gpu && !one.controls.empty(); });
    }

    /// Returns whether a client of the process is known.
    bool has_client(const Found &one) const {
        return std::ranges::any_of(one.controls, [&](int number) {
            return clients_.clients_of({one.process.pid, one.process.started, number});
        });
    }

    /// Returns whether some process that can be queried has no known client.
    bool has_unknown() const {
        return std::ranges::any_of(found_, [&](const Found &one) {
            return one.uses_gpu && !one.controls.empty() && !one.process.denied && !has_client(one);
        });
    }

    /// Begins a search of all names after several looks with an unknown process. The RM's counter
    /// does not show how often it has wrapped, so a client that was made more than one wrap ago,
    /// between two looks, is only found among all names.
    void note_unknown() {
        constexpr std::uint32_t many_looks = 0x100; // some processes never make a client
        if (!has_unknown()) {
            known_.unknown_looks_ = 0;
            known_.looks_to_turn_ = few_looks;
        } else if (++known_.unknown_looks_ >= known_.looks_to_turn_ && !known_.older_) {
            begin_turn(known_.newest_);
            known_.unknown_looks_ = 0;
            known_.looks_to_turn_ = std::min(2 * known_.looks_to_turn_, many_looks);
        }
    }

    void begin_turn(std::uint32_t newest) {
        known_.first_ = newest;
        known_.older_ = names_of_clients - 1;
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
        if (known_.broken_ || name == known_.client_->handle())
            return false;
        // An owner that this look asks is asked there whether the client is still its own.
        if (clients_.is_checked(name) || !lives(name))
            return false;
        // The name may have been reused, so all descriptors are asked about it again.
        clients_.disown(name);
        return true;
    }

    void search() {
        known_.pass_++;
        if (known_.searched_) {
            search_new();
            constexpr std::uint32_t at_a_time = 0x1000;
            search_older(at_a_time);
        } else {
            known_.newest_ = known_.first_ = count().value_or(known_.client_->handle());
            known_.older_ = names_of_clients - 1;
            // Names below the newest one were given since the counter last started again.
            search_older(names_between(rm::first_client, known_.first_));
            known_.searched_ = !known_.broken_;
        }
        known_.seen_ = seen_;
    }

    /// Returns the counter of the RM, which only a new client shows.
    std::optional<std::uint32_t> count() {
        known_.counted_ = known_.pass_;
        const auto counter = Client::open(known_.kernel_);
        owned_.count.refused += !counter;
        if (!counter || (*counter)->handle() - rm::first_client >= names_of_clients)
            return std::nullopt; // the name is not from the counter
        return (*counter)->handle();
    }

    /// Reads the counter if there are new descriptors, and every 32 passes if a process has no
    /// client; otherwise tries some names ahead.
    void search_new() {
        constexpr std::uint32_t ahead = 0x100, passes_between = 0x20;
        const bool is_new = !std::ranges::includes(known_.seen_, seen_);
        const bool is_due = known_.pass_ - known_.counted_ >= passes_between && has_unknown();
        if (const auto now = is_new || is_due ? count() : std::nullopt) {
            const std::uint32_t made = names_between(known_.newest_, *now);
            if (made > names_at_a_time) {
                // Other users decide how many clients exist, so the remaining names wait for later
                // looks.
                begin_turn(*now);
                search_older(names_at_a_time);
            } else {
                // The youngest name is tried last, because the client that was found last is asked
                // about first.
                for (std::uint32_t n = 1; n < made; n++)
                    find_client(name_after(known_.newest_, n));
            }
            known_.newest_ = *now;
            return;
        }
        // A known client existed before, so it does not show where the counter is now.
        for (std::uint32_t n = 1; n <= ahead; n++)
            if (const std::uint32_t name = name_after(known_.newest_, n);
                !clients_.is_unowned(name) && find_client(name)) {
                known_.newest_ = name;
                n = 0;
            }
    }

    /// Tries names that were given before the first pass, from the youngest on.
    void search_older(std::uint32_t names) {
        for (; names && known_.older_ && !known_.broken_; names--, known_.older_--)
            find_client(name_after(known_.first_, known_.older_));
    }

    // --- descriptors ---

    void ask_all() {
        for (Found &one : found_)
            (one.uses_gpu ? of_gpu_ : of_others_).descriptors += one.controls.size();
        for (std::size_t n = 0; n < found_.size(); n++) {
            Found &one = found_[n];
            one.unfinished = false;
            for (const int number : one.controls) {
                if (!one.ended && (!one.uses_gpu || !one.budget.spent()))
                    ask(n, {one.process.pid, one.process.started, number});
                (one.uses_gpu ? of_gpu_ : of_others_).descriptors--;
            }
            if (one.process.controls.empty())
                one.process.held = Taken();
        }
    }

    /// Asks through one descriptor, which is closed again if it has no channels.
    void ask(std::size_t n, const Descriptor &at) {
        Found &one = found_[n];
        std::vector<std::uint32_t> clients;
        if (const auto *const own = clients_.clients_of(at); own && one.uses_gpu)
            std::ranges::copy_if(*own, std::back_inserter(clients),
                                 [&](std::uint32_t client) { return !done_.contains(client); });
        const KnownClients::Asked *const asked = clients_.find_asked(at);
        const bool was_asked = asked != nullptr;
        if (was_asked && clients.empty() && !clients_.next_unowned(*asked))
            return;
        Taken taken = take(one, at.number);
        if (taken.number() < 0)
            return;
        std::vector<ClientChannel> channels;
        if (was_asked || !one.uses_gpu || !is_duplicate(one, at, taken.number())) {
            for (const std::uint32_t client : clients)
                ask_owner(one, at, taken.number(), client, channels);
            if (!one.uses_gpu)
                check_file(at, taken.number());
            ask_unowned(one, at, taken.number(), channels);
        } else {
            clients_.mark_all_asked(at);
        }
        for (ClientChannel &channel : channels) {
            channel.process = n;
            channel.control = one.process.controls.size();
            owned_.channels.push_back(channel);
        }
        if (!channels.empty())
            one.process.controls.push_back({at.number, std::move(taken)});
    }

    /// Checks that the number of a descriptor of a process without the GPU still belongs to the
    /// same file.
    void check_file(const Descriptor &at, int descriptor) {
        const auto *const own = clients_.clients_of(at);
        if (!own || !of_others_.spend())
            return;
        const std::uint32_t client = *own->begin();
        if (!lives(client) ||
            !ForeignClient(kernel_, descriptor, client, owned_.count, of_others_.budget)
                 .is_of_descriptor())
            clients_.disown_all(at);
    }

    /// Asks a descriptor about clients with an unknown owner. Whoever made these clients decides
    /// the cost, so the look is charged with it, and each descriptor gets a part of the look's
    /// budget.
    void ask_unowned(Found &one, const Descriptor &at, int descriptor,
                     std::vector<ClientChannel> &channels) {
        Ownerless &whole = one.uses_gpu ? of_gpu_ : of_others_;
        std::uint32_t questions = whole.part();
        KnownClients::Asked &asked = clients_.asked(at);
        for (auto next = clients_.next_unowned(asked); next; next = clients_.next_unowned(asked)) {
            const std::uint32_t client = clients_.unowned(*next);
            if (!one.uses_gpu && clients_.owner_of(client) && !clients_.is_checked(client)) {
                asked.note(*next);
                continue;
            }
            one.unfinished = !questions || !whole.spend();
            if (one.unfinished || known_.broken_)
                return;
            questions--;
            const auto before = kernel_.now();
            const bool there = lives(client);
            const bool is_owner =
                there && ForeignClient(kernel_, descriptor, client, owned_.count, whole.budget)
                             .is_of_descriptor();
            whole.time -= kernel_.now() - before;
            if (known_.broken_)
                return;
            asked.note(*next);
            if (is_owner)
                own_and_ask(one, at, descriptor, client, channels);
            else if (!there)
                clients_.remove(client);
        }
    }

    /// Asks the known owner of a client about it.
    void ask_owner(Found &one, const Descriptor &at, int descriptor, std::uint32_t client,
                   std::vector<ClientChannel> &channels) {
        if (one.budget.spent())
            return;
        if (!lives(client)) {
            if (!known_.broken_)
                clients_.remove(client);
            return;
        }
        if (ForeignClient(kernel_, descriptor, client, owned_.count, one.budget).is_of_descriptor())
            own_and_ask(one, at, descriptor, client, channels);
        else if (!one.budget.spent())
            // The number of the descriptor, or the name of the client, was reused.
            clients_.disown(client);
    }

    /// Records the owner, and finds the client's channels if the process uses the GPU.
    void own_and_ask(Found &one, const Descriptor &at, int descriptor, std::uint32_t client,
                     std::vector<ClientChannel> &channels) {
        clients_.own(client, at);
        if (!one.uses_gpu)
            return;
        done_.insert(client);
        if (!one.budget.spend_client())
            return;
        ForeignClient queried(kernel_, descriptor, client, owned_.count, one.budget);
        for (const ClientChannel &channel : queried.channels(card_))
            channels.push_back(channel);
    }

    /// Returns whether another descriptor of the process is of the same open file, and so has the
    /// same clients.
    bool is_duplicate(Found &one, const Descriptor &at, int descriptor) {
        std::map<int, std::uint32_t> others; // a client of each descriptor
        for (const int number : one.controls) {
            const auto *const of = clients_.clients_of({at.pid, at.started, number});
            if (number == at.number || !of)
                continue;
            for (const std::uint32_t client : *of)
                if (done_.contains(client))
                    others[number] = client;
        }
        return std::ranges::any_of(others, [&](const auto &other) {
            return lives(other.second) &&
                   ForeignClient(kernel_, descriptor, other.second, owned_.count, one.budget)
                       .is_of_descriptor();
        });
    }

    /// Duplicates a descriptor. Returns a negative number if that is not permitted, or if the
    /// descriptor has been closed.
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
        // Once its first thread has ended, the process has its descriptors only through its other
        // threads.
        if (one.thread && one.of_thread.number() < 0) {
            const int thread = kernel_.thread(*one.thread);
            if (thread < 0) {
                if (one.uses_gpu && !is_end(thread) && !std::exchange(one.hidden, true))
                    owned_.hidden.push_back(process.pid);
                return {};
            }
            one.of_thread = Taken(known_.kernel_, thread);
        }
        const int from = one.thread ? one.of_thread.number() : process.held.number();
        Taken taken(known_.kernel_, kernel_.take(from, descriptor));
        const int number = taken.number();
        // The pid may have been reused before the pidfd was opened.
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
        // The number may belong to another file now.
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
    KnownClients &clients_;
    const bool is_first_;
    Kernel &kernel_;
    const std::optional<std::uint64_t> control_, gpu_;
    const Card &card_;
    Owned owned_;
    std::map<std::optional<std::uint32_t>, QueryBudget> users_; // by uid
    std::vector<Found> found_;
    /// The queries and the time that this look has for ownerless clients.
    struct Ownerless {
        QueryBudget budget; // never spent, because the bounds are the next members
        std::uint32_t questions = 0x40000;
        std::chrono::steady_clock::duration time = std::chrono::seconds(2);
        std::size_t descriptors = 0; // the number of descriptors that share the budget
        std::uint32_t part() const {
            constexpr std::uint32_t least = 0x100;
            const auto among = static_cast<std::uint32_t>(std::max<std::size_t>(descriptors, 1));
            return std::max(questions / among, least);
        }
        bool spend() {
            if (!questions || time <= std::chrono::seconds(0))
                return false;
            questions--;
            return true;
        }
    };
    // The budgets for processes with this GPU, and for the other processes.
    Ownerless of_gpu_{{kernel_, ~0U, std::chrono::hours(1)}},
        of_others_{{kernel_, ~0U, std::chrono::hours(1)}};
    std::set<Descriptor> seen_;    // of all processes, also those without this GPU
    std::set<std::uint32_t> done_; // clients with known channels
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
