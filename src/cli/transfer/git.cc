// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/git.h"

#include <csignal>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "io/files/file.h"
#include "io/process/process.h"

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestFile = 16u << 20;
constexpr Duration kGitPatience = std::chrono::seconds(5);

std::optional<std::string> read_trimmed(const fs::path& path) {
  const auto text = io::read_file(path.string(), kLargestFile);
  if (!text) return std::nullopt;
  return std::string(trim(*text));
}

/// The repository's directory: `.git` itself, or where the file `.git` of a worktree or submodule
/// points to.
std::optional<fs::path> find_repository(fs::path directory) {
  std::error_code failed;
  for (;; directory = directory.parent_path()) {
    const fs::path candidate = directory / ".git";
    if (fs::is_directory(candidate, failed)) return candidate;
    if (fs::is_regular_file(candidate, failed)) {
      const std::string text = read_trimmed(candidate).value_or("");
      if (!text.starts_with("gitdir:")) return std::nullopt;
      return (directory / std::string(trim(std::string_view(text).substr(7)))).lexically_normal();
    }
    if (directory == directory.parent_path()) return std::nullopt;
  }
}

/// A worktree keeps branches and settings in the main repository.
fs::path common_directory(const fs::path& repository) {
  const auto common = read_trimmed(repository / "commondir");
  return common ? (repository / *common).lexically_normal() : repository;
}

std::string packed_commit(const fs::path& common, std::string_view reference) {
  const auto text = io::read_file((common / "packed-refs").string(), kLargestFile);
  if (!text) return "";
  for (const std::string_view line : split(*text, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || trim(line.substr(space + 1)) != reference) continue;
    return std::string(line.substr(0, space));
  }
  return "";
}

bool is_commit(std::string_view text) {
  return text.size() >= 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

struct Head {
  std::string branch{};
  std::string commit{};
};

Head read_head(const fs::path& repository) {
  Head head;
  const std::string text = read_trimmed(repository / "HEAD").value_or("");
  if (!text.starts_with("ref:")) {
    head.commit = text;
  } else {
    const std::string reference(trim(std::string_view(text).substr(4)));
    constexpr std::string_view kBranches = "refs/heads/";
    head.branch = reference.starts_with(kBranches) ? reference.substr(kBranches.size()) : reference;
    const fs::path common = common_directory(repository);
    head.commit = read_trimmed(common / reference).value_or(packed_commit(common, reference));
  }
  if (!is_commit(head.commit)) head.commit.clear();
  return head;
}

/// "https://user:token@host/x" -> "https://host/x". "git@host:x" names a user and holds no secret.
std::string without_credentials(std::string url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const std::size_t host = scheme + 3;
  const std::size_t at = url.substr(0, url.find('/', host)).rfind('@');
  if (at != std::string::npos && at >= host) url.erase(host, at + 1 - host);
  return url.substr(0, url.find('?'));
}

std::string origin_url(const fs::path& repository) {
  const auto text = io::read_file((common_directory(repository) / "config").string(), kLargestFile);
  if (!text) return "";
  bool in_origin = false;
  for (const std::string_view raw : split(*text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.starts_with('[')) in_origin = line == "[remote \"origin\"]";
    const std::size_t equals = line.find('=');
    if (!in_origin || equals == std::string_view::npos) continue;
    if (trim(line.substr(0, equals)) == "url") {
      return without_credentials(std::string(trim(line.substr(equals + 1))));
    }
  }
  return "";
}

/// "True" or "False", as Azure writes it, or nothing when there is no git to ask. A repository's
/// own settings must not make git run anything.
std::string dirtiness(const std::string& directory, const Place& place) {
  const auto answer = io::TemporaryFile::make(fs::temp_directory_path().string());
  if (!answer) return "";
  const auto git = io::spawn({.command = {"git", "-c", "core.fsmonitor=false",
                                          "--no-optional-locks", "status", "--porcelain"},
                              .environment = place.environment,
                              .working_directory = directory,
                              .stdout_path = answer->path()});
  if (!git) return "";
  const bool has_ended = io::wait_for_end(*git, kGitPatience);
  if (!has_ended) (void)io::send_signal(*git, SIGKILL);
  io::reap(git->pid);
  const auto text = io::read_file(answer->path());
  if (!has_ended || !text || text->starts_with("fatal:") || text->starts_with("error:")) return "";
  return text->empty() ? "False" : "True";
}

}  // namespace

std::map<std::string, std::string> git_facts(const std::string& directory, const Place& place) {
  std::map<std::string, std::string> facts;
  const auto put = [&](const char* key, const char* variable, std::string found) {
    const std::string given = place.variable(variable);
    const std::string value = given.empty() ? std::move(found) : without_credentials(given);
    if (!value.empty()) facts[key] = value;
  };
  const auto repository = find_repository(fs::path(directory));
  const Head head = repository ? read_head(*repository) : Head{};
  put("mlflow.source.git.repoURL", "AZUREML_GIT_REPOSITORY_URI",
      repository ? origin_url(*repository) : "");
  put("mlflow.source.git.branch", "AZUREML_GIT_BRANCH", head.branch);
  put("mlflow.source.git.commit", "AZUREML_GIT_COMMIT", head.commit);
  put("azureml.git.dirty", "AZUREML_GIT_DIRTY", repository ? dirtiness(directory, place) : "");
  put("azureml.git.build_id", "AZUREML_GIT_BUILD_ID", "");
  put("azureml.git.build_uri", "AZUREML_GIT_BUILD_URI", "");
  return facts;
}

}  // namespace berth::cli
