// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/digest.h"
#include "base/text.h"
#include "io/files/file.h"
#include "node/runtime/host_runtime.h"

namespace berth::node {

/// For tests: works as containers do. There is an image, which is built once, and an instance for
/// each attempt, which lies outside of its directory. All of it is below a folder, since an agent
/// and its shims are processes of their own. Files there tell it what to do.
class FakeRuntime final : public Runtime {
 public:
  /// For agents, which are told of a runtime by a function: the root is set before one is forked.
  static FakeRuntime& shared() {
    static FakeRuntime fake{""};
    return fake;
  }
  static Runtime& of(const wire::node::Launch&) { return shared(); }

  explicit FakeRuntime(std::string root) : root_(std::move(root)) {}
  void set_root(std::string root) { root_ = std::move(root); }

  // What a test says and asks.
  void fail_with(const std::string& message) const { write("fails", message); }
  void be_slow() const { write("slow", ""); }
  void be_quick() const { ::unlink((root_ + "/slow").c_str()); }
  int builds() const { return lines_of("builds"); }
  /// How many commands were started, of attempts that are not cleaned up.
  int starts(const AttemptPaths& paths) const { return lines_of(instance(paths) + "/started"); }
  bool has_instance(const AttemptPaths& paths) const { return is_there(instance(paths)); }

  bool takes_time() const override { return true; }

  Result<RuntimeRecord> prepare(const AttemptPaths& paths, const wire::node::Launch&,
                                const Watcher& watcher) override {
    watcher.say("building\n");
    while (is_there("slow") && !watcher.cancelled.stop_requested()) ::usleep(2'000);
    if (watcher.cancelled.stop_requested()) return fail(Code::Unavailable, "cancelled");
    const Result<std::string> failure = io::read_file(root_ + "/fails");
    if (failure) return fail(Code::Internal, *failure);
    if (!is_there("image")) {
      append("builds", "x\n");
      write("image", "");
    }
    TRY(io::make_directories(root_ + "/" + instance(paths)));
    return RuntimeRecord{{{"instance", root_ + "/" + instance(paths)}}};
  }

  Result<Invocation> wrap(const RuntimeRecord& prepared, JobCommand command) const override {
    const auto found = prepared.facts.find("instance");
    if (found == prepared.facts.end()) return fail(Code::InvalidArgument, "not prepared");
    Invocation wrapped = TRY(host_runtime().wrap({}, std::move(command)));
    const std::string script = "echo x >> \"$0/started\" && exec \"$@\"";
    wrapped.words.insert(wrapped.words.begin(), {"/bin/sh", "-c", script, found->second});
    return wrapped;
  }

  Status clean_up(const AttemptPaths& paths) override {
    if (!has_instance(paths)) return Done{};
    return TRY(io::Root::open(root_)).remove_tree(instance(paths));
  }

 private:
  static std::string instance(const AttemptPaths& paths) {
    return "instance-" + to_hex(sha256(paths.directory)).substr(0, 24);
  }
  bool is_there(const std::string& name) const {
    return ::access((root_ + "/" + name).c_str(), F_OK) == 0;
  }
  int lines_of(const std::string& name) const {
    const std::string text = io::read_file(root_ + "/" + name).value_or("");
    return static_cast<int>(std::ranges::count(text, '\n'));
  }
  void write(const std::string& name, const std::string& text) const {
    (void)io::write_file(root_ + "/" + name, text);
  }
  void append(const std::string& name, const std::string& text) const {
    const std::string path = root_ + "/" + name;
    const io::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
    (void)io::write_all(file.get(), text);
  }

  std::string root_;
};

}  // namespace berth::node
