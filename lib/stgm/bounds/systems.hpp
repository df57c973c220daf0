// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The systems for which response times can be bounded, one class for each. Analysis asks a
/// system for the terms that depend on how the GPU is shared, and solves eq. 1 or 9 with them.
#pragma once

#include <span>
#include <vector>

#include "lib/stgm/recurrence.hpp"
#include "lib/stgm/sharing.hpp"
#include "terms.hpp"

namespace stgm {

/// The interface of all systems. The terms must outlive the system.
class System {
  public:
    explicit System(const Terms &terms) : terms_(terms) {}
    virtual ~System() = default;
    System(const System &) = delete;
    System &operator=(const System &) = delete;

    /// Is called after SMs of tasks have changed, and then cores_changed() is called, too.
    virtual void sms_changed() {}
    /// Is called after cores of tasks have changed.
    virtual void cores_changed() {}
    /// Returns true if the waits of a task depend on the cores of others.
    virtual bool depends_on_cores() const = 0;

    /// Returns B^m, B^e and E of a task.
    virtual Waits waits(std::size_t task) const = 0;
    /// Returns B^l of members[at].
    /// @param members the tasks of a core, by rank
    /// @param waits of all tasks
    virtual Time inversion(std::span<const std::size_t> members, std::size_t at,
                           std::span<const Waits> waits) const;
    /// Adds demand on the task's core other than that of tasks of higher priority.
    virtual void add_sources(std::size_t, std::vector<Source> &) const {}
    /// Replaces a bound by a smaller one, if the system has a second way to compute it.
    /// @param base C + G + B of the bound
    /// @param sources of preemption, to which the function may add
    virtual void improve(std::size_t, Time /*base*/, std::vector<Source> & /*sources*/,
                         Bound &) const {}
    /// Returns true if @p bound, that of the task, counts jobs of the other task, and so holds
    /// only as long as the other task meets its deadline.
    virtual bool counts(std::size_t /*task*/, std::size_t /*other*/, const Bound &) const {
        return false;
    }

  protected:
    const Model &model() const { return terms_.model; }
    const Options &options() const { return terms_.options; }
    const Terms &terms() const { return terms_; }

  private:
    const Terms &terms_;
};

/// The protocol of docs/stgm.md, with the mended equations or, by Options::printed, the paper's.
class Stgm : public System {
  public:
    explicit Stgm(const Terms &terms) : System(terms), kernel_waits_(terms.model.size()) {}
    void sms_changed() override;
    bool depends_on_cores() const override { return terms().spins; }
    Waits waits(std::size_t task) const override;

  protected:
    void share_kernels();
    void wait_for_copies(std::size_t task, Waits &waits) const;
    virtual Time each_copy_wait(std::size_t task) const;
    virtual Time each_kernel_wait(const Sharing &sharing, std::size_t task) const;
    virtual void wait_for_kernels(std::size_t task, Waits &waits) const;

  private:
    std::vector<Time> kernel_waits_; ///< each_kernel_wait() of each task that uses the GPU
};

/// The same protocol with smaller bounds, which take longer to compute.
class TightStgm : public Stgm {
  public:
    using Stgm::Stgm;
    void sms_changed() override;
    void cores_changed() override;
    bool depends_on_cores() const override { return options().busy || Stgm::depends_on_cores(); }

  protected:
    Time each_copy_wait(std::size_t task) const override;
    Time each_kernel_wait(const Sharing &sharing, std::size_t task) const override;
};

/// STGM's protocol for tasks that share no SM.
class Federated : public Stgm {
  public:
    explicit Federated(const Terms &terms) : Stgm(terms), shares_(terms.model.size()) {}
    void sms_changed() override;
    Waits waits(std::size_t task) const override;

  private:
    std::vector<bool> shares_; ///< the task shares an SM, so it has no bound
};

/// Copies as in STGM's protocol; kernels take turns on the whole GPU, as without MPS.
class TimeSlices : public Stgm {
  public:
    explicit TimeSlices(const Terms &terms);
    void sms_changed() override {}

  protected:
    void wait_for_kernels(std::size_t task, Waits &waits) const override;

  private:
    Time round_; ///< the turns of all other tasks, and the changes between them
};

/// One lock for the GPU, which a task holds for a GPU segment: no other task copies meanwhile.
class Lock : public System {
  public:
    using System::System;
    bool depends_on_cores() const override { return options().busy; }
    Waits waits(std::size_t task) const override;

  protected:
    /// Sets each_kernel to the wait of one request; `none` if there is no bound for it.
    virtual void wait_for_request(std::size_t task, Waits &waits) const = 0;
};

/// The lock is given in the order of requests (FMLP+).
class FifoLock : public Lock {
  public:
    using Lock::Lock;

  protected:
    void wait_for_request(std::size_t task, Waits &waits) const override;
};

/// The lock is given by priority (MPCP).
class PriorityLock : public Lock {
  public:
    explicit PriorityLock(const Terms &terms, Time overhead = 0)
        : Lock(terms), overhead_(overhead) {}
    void improve(std::size_t task, Time base, std::vector<Source> &sources,
                 Bound &found) const override;
    bool counts(std::size_t task, std::size_t other, const Bound &bound) const override;

  protected:
    void wait_for_request(std::size_t task, Waits &waits) const override;

    const Time overhead_; ///< time that is added twice to each GPU segment

  private:
    /// The requests that may get the lock before a request of a task.
    struct Requests {
        Time begun = 0; ///< the longest segment of lower priority, which may hold the lock already
        std::vector<Source> above; ///< segments of higher priority
    };
    Requests requests_before(std::size_t task) const;
};

/// A task of the highest priority on Options::server_core does all GPU segments, by priority.
class Server : public PriorityLock {
  public:
    /// @param spins the server keeps its core for whole GPU segments, instead of their copies
    Server(const Terms &terms, bool spins)
        : PriorityLock(terms, terms.options.server_overhead), spins_(spins) {}
    Waits waits(std::size_t task) const override;
    Time inversion(std::span<const std::size_t>, std::size_t,
                   std::span<const Waits>) const override {
        return 0; // only the server is boosted
    }
    void add_sources(std::size_t task, std::vector<Source> &sources) const override;
    bool counts(std::size_t task, std::size_t other, const Bound &bound) const override;

  private:
    const bool spins_;
};

} // namespace stgm
