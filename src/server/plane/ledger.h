// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "core/state.h"
#include "store/store.h"

namespace berth::server {

/// What whoever owns a Ledger is told of it. Called on the loop's thread, from inside the Ledger.
class LedgerOwner {
 public:
  /// The event is about to be applied; the state does not have it yet.
  virtual void before(const core::Event& event) = 0;
  /// It was applied, and this is what it touched.
  virtual void after(const core::Touched& touched) = 0;
  /// All of this is on disk, and the effects that waited for it have run.
  virtual void recorded(const core::Touched& touched) = 0;
  /// The store's rows, before anybody else sees them: settings, indexes and what a row cannot know
  /// are filled in here.
  virtual void loaded(core::State& state) = 0;
  /// Changes were lost with a failed commit, and the state was loaded again.
  virtual void undone() = 0;

 protected:
  ~LedgerOwner() = default;
};

/// Owns the State, and has every change of it recorded. What is changed is in the State at once; it
/// is handed to the store, as one batch, by the next flush(), and what follows from it (effects,
/// answers) happens when the commit is on disk and not before.
///
/// A commit that fails never happened: the state is loaded again, and whoever waited gets the
/// error. The Ledger decides nothing and knows nothing of jobs; that is for the desks.
///
/// Loop thread only. The store, the clock and the owner must outlive it.
class Ledger {
 public:
  Ledger(store::Store& store, const Clock& clock, LedgerOwner& owner);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// Loads what is live. Before anything else.
  Status load();

  /// The object stays the same for as long as the Ledger lives, also when it is loaded again.
  const core::State& state() const { return state_; }

  // For desks, which know what an event needs and what it entails.

  void apply(const core::Event& event);
  /// Runs when all that was changed so far is on disk; never, when that fails.
  void then(std::function<void()> effect);
  /// Rows that go with the changes of this turn.
  void add(store::Batch rows);
  /// Hands over what was changed, unless a batch is open.
  void flush();

  // For everybody.

  /// Rows that are not part of the State: assets, blobs, runs.
  void write(store::Batch rows);
  /// Calls back when all that was changed so far is on disk, or with the error if it never will be.
  void when_durable(std::function<void(Status)> done);
  /// Some changes were not handed to the store yet.
  bool has_changes() const { return turn_ != nullptr; }
  /// So many changes wait for the disk that users should come again later.
  bool is_clogged() const;
  /// The state may say something else than the disk of what `concerns` picks.
  bool is_ahead(const std::function<bool(const core::Touched&)>& concerns) const;

  /// Called a few times a second: tries again to load what could not be loaded.
  void recover();

 private:
  friend class Together;
  struct Turn;

  Turn& turn();
  void end_batch();
  void give_up_batch();
  void committed(const std::shared_ptr<Turn>& turn, const Status& status);
  void reload();

  store::Store& store_;
  const Clock& clock_;
  LedgerOwner& owner_;
  core::State state_;
  std::shared_ptr<Turn> turn_;                   ///< Changes not handed to the store yet.
  std::deque<std::shared_ptr<Turn>> in_flight_;  ///< Handed over, in order.
  int open_batches_ = 0;
  std::optional<Error> failure_;  ///< A commit failed and the state has not been loaded again yet.
};

/// While it lives, changes are collected: they reach the store as one batch, all or nothing. When
/// an exception ends it, what was changed never happened, as if its commit had failed.
class Together {
 public:
  explicit Together(Ledger& ledger);
  ~Together();
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

 private:
  Ledger& ledger_;
  int faults_;  ///< Exceptions that were on their way when it began.
};

}  // namespace berth::server
