// SPDX-License-Identifier: Apache-2.0
// F23: what becomes of a job when it is started, cancelled, finished and its node lost, in every
// order there is, and whenever the disk is ready. Not sampled: all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "server/plane/control_plane.h"
#include "server/plane/fake_effects.h"
#include "store/fake_store.h"

namespace berth::sim {
namespace {

using model::Ending;
using model::JobStatus;
using server::ControlPlane;

enum class Happening { Join, Begin, Cancel, Finish, FinishPeer, Loss };

const char* name_of(Happening happening) {
  switch (happening) {
    case Happening::Join: return "join";
    case Happening::Begin: return "run";
    case Happening::Cancel: return "cancel";
    case Happening::Finish: return "finish";
    case Happening::FinishPeer: return "finish peer";
    case Happening::Loss: return "loss";
  }
  return "?";
}

/// What the documents promise (docs/states.md), as short as it can be said.
class Promise {
 public:
  Promise(bool is_local, bool is_gang) : is_local_(is_local), is_gang_(is_gang) {
    if (is_gang) status_ = JobStatus::Starting;
  }

  JobStatus after(const std::vector<Happening>& history) {
    for (const Happening happening : history) happen(happening);
    return status_;
  }

 private:
  bool is_over() const { return model::is_terminal(status_); }
  bool is_placed() const { return status_ != JobStatus::Queued && !is_over(); }

  void happen(Happening happening) {
    if (is_over()) return;  // Nothing changes what is over.
    switch (happening) {
      case Happening::Join:
        // A lost node of a cluster does not come back; 'local' always bears the same name.
        if (status_ == JobStatus::Queued && (is_local_ || !is_lost_)) status_ = JobStatus::Starting;
        return;
      case Happening::Begin:
        if (status_ == JobStatus::Starting) status_ = JobStatus::Running;
        return;
      case Happening::Cancel:
        status_ = is_placed() ? JobStatus::CancelRequested : JobStatus::Canceled;
        is_cancelled_ = true;
        return;
      case Happening::Finish: head_done_ = head_done_ || is_placed(); return settle();
      case Happening::FinishPeer:
        peer_done_ = peer_done_ || (is_placed() && !peer_lost_);
        return settle();
      case Happening::Loss:
        is_lost_ = true;
        if (!is_placed() || (is_gang_ && peer_done_)) return;
        (is_gang_ ? peer_lost_ : head_lost_) = true;
        return settle();
    }
  }

  /// An end of its own stands, whatever else was asked for; what is lost is cancelled if that was
  /// asked for, else tried again, which the target 'local' does not do.
  void settle() {
    if (head_lost_ || (peer_lost_ && head_done_)) {
      status_ = is_local_ ? JobStatus::Failed : JobStatus::Queued;
      if (is_cancelled_) status_ = JobStatus::Canceled;
      head_done_ = head_lost_ = peer_lost_ = peer_done_ = false;
    } else if (head_done_ && (!is_gang_ || peer_done_)) {
      status_ = JobStatus::Completed;
    }
  }

  bool is_local_;
  bool is_gang_;
  JobStatus status_ = JobStatus::Queued;
  bool is_cancelled_ = false;
  bool is_lost_ = false;
  bool head_done_ = false;
  bool head_lost_ = false;
  bool peer_done_ = false;
  bool peer_lost_ = false;
};

struct Kind {
  const char* compute;
  int nodes;
};

/// The real control plane, through one history.
class History {
 public:
  explicit History(Kind kind) : kind_(kind) {
    EXPECT_TRUE(plane_.start());
    workspace_ = plane_.state().workspaces.begin()->first;
    const model::ComputeKey pool{workspace_, "pool"};
    EXPECT_TRUE(plane_.computes.put(
        {.key = pool, .name = "pool", .kind = model::Cluster{.size = "Standard_DS1_v2"}}));
    model::Job job{.key = {workspace_, "a"}};
    command_of(job.spec.edit()).command = "true";
    job.spec.edit().compute = kind.compute;
    command_of(job.spec.edit()).resources.instance_count = kind.nodes;
    EXPECT_TRUE(plane_.jobs.submit(job));
    store_.complete();
    if (kind.nodes == 1) return;
    for (const char* node : {"pool-1", "pool-2"}) EXPECT_TRUE(plane_.nodes.joined({node}, {}, {}));
    store_.complete();
  }

  void happen(Happening happening, bool is_committed) {
    const std::string head = kind_.compute == std::string("local") ? "local" : "pool-1";
    const server::NodesDesk::Held first{{workspace_, "a"}, 1};
    switch (happening) {
      case Happening::Join: (void)plane_.nodes.joined({head}, {}, {}); break;
      case Happening::Begin: plane_.nodes.job_advanced({head}, first, JobStatus::Running); break;
      case Happening::Cancel: EXPECT_TRUE(plane_.jobs.cancel({workspace_, "a"})); break;
      case Happening::Finish: plane_.nodes.job_ended({head}, first, {}, {}); break;
      case Happening::FinishPeer: plane_.nodes.job_ended({"pool-2"}, first, {}, {}); break;
      case Happening::Loss: plane_.nodes.gone({kind_.nodes == 1 ? head : "pool-2"}); break;
    }
    if (is_committed) store_.complete();
    core::check_invariants(plane_.state());
    const JobStatus status = plane_.jobs.find({workspace_, "a"})->status;
    EXPECT_EQ(status, end_.value_or(status)) << "it was over and changed";
    if (model::is_terminal(status)) end_ = status;
  }

  JobStatus on_disk() {
    store_.complete();
    return (*store_.job({workspace_, "a"}))->status;
  }

 private:
  Kind kind_;
  SimClock clock_;
  store::FakeStore store_;
  server::NoEffects effects_;
  ControlPlane plane_{store_, effects_, clock_, {.settings = {.sizes = model::built_in_sizes()}}};
  model::WorkspaceId workspace_;
  std::optional<JobStatus> end_;
};

/// Every order of what may happen, each with every choice of the moments at which the disk was
/// ready. Returns how many there were.
int try_all(Kind kind, std::vector<Happening> happenings) {
  int count = 0;
  std::ranges::sort(happenings);
  do {
    std::string told;
    for (const Happening happening : happenings) told += std::string(name_of(happening)) + ", ";
    const JobStatus promised =
        Promise(kind.compute == std::string("local"), kind.nodes > 1).after(happenings);
    for (unsigned ready = 0; ready < (1u << happenings.size()); ++ready, ++count) {
      SCOPED_TRACE(testing::Message() << kind.compute << ": " << told << "disk " << ready);
      History history(kind);
      for (std::size_t i = 0; i < happenings.size(); ++i) {
        history.happen(happenings[i], ((ready >> i) & 1u) != 0);
      }
      const JobStatus became = history.on_disk();
      EXPECT_EQ(became, promised);
      if (became != promised) return count;
    }
  } while (std::ranges::next_permutation(happenings).found);
  return count;
}

using enum Happening;

TEST(Interleavings, OfAJobOnThisMachineEndAsPromised) {
  EXPECT_EQ(try_all({"local", 1}, {Join, Begin, Cancel, Finish, Loss}), 120 * 32);
}

TEST(Interleavings, OfAJobOnAClusterEndAsPromised) {
  EXPECT_EQ(try_all({"pool", 1}, {Join, Begin, Cancel, Finish, Loss}), 120 * 32);
}

TEST(Interleavings, OfAGangEndAsPromised) {
  EXPECT_EQ(try_all({"pool", 2}, {Begin, Cancel, Finish, FinishPeer, Loss}), 120 * 32);
}

}  // namespace
}  // namespace berth::sim
