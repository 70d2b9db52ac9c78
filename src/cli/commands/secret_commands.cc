// SPDX-License-Identifier: Apache-2.0
// Secrets: what jobs may know and nobody may see.
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"
#include "io/files/file.h"

namespace berth::cli {
namespace {

constexpr std::size_t kLongestSecret = 32 * 1024;  // The server says so as well.
constexpr char kInterrupt = 3;
constexpr char kEndOfInput = 4;
constexpr char kBackspace = 8;
constexpr char kDelete = 127;

constexpr Column kColumns[] = {{"Name", "name"},
                               {"Shared", "shared"},
                               {"Set by", "set_by"},
                               {"Created", "created_at"},
                               {"Changed", "modified_at"}};

std::string path_to(const Context& context, const std::string& name) {
  return context.client.berth_path(
      fmt::format("/{}/{}", context.arguments.has("shared") ? "sharedSecrets" : "secrets", name));
}

Result<std::string> path_of(const Context& context) {
  return path_to(context, TRY(required_name(context, "secret")));
}

/// A terminal that shows nothing of what is typed, and hands it over key by key: an interrupt must
/// find it as it was.
class SilentTerminal {
 public:
  SilentTerminal() {
    is_silent_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL | ICANON | ISIG);
    is_silent_ = is_silent_ && ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0;
  }
  ~SilentTerminal() {
    if (is_silent_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;
  bool is_silent() const { return is_silent_; }

 private:
  termios before_{};
  bool is_silent_ = false;
};

/// Up to Enter.
Result<std::string> typed() {
  const SilentTerminal terminal;
  if (!terminal.is_silent()) return fail(Code::Internal, "cannot stop the terminal from echoing");
  std::string text;
  while (true) {
    char key = 0;
    const ssize_t count = ::read(STDIN_FILENO, &key, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || key == '\n' || key == '\r' || key == kEndOfInput) return text;
    if (key == kInterrupt) return fail(Code::InvalidArgument, "interrupted; nothing was set");
    if (key == kBackspace || key == kDelete) {
      if (!text.empty()) text.pop_back();
    } else {
      text += key;
    }
  }
}

/// A little more than may be: the server says that it is too much.
Result<std::string> read_input() {
  std::string text;
  std::size_t left = kLongestSecret + 2;
  char buffer[4096];
  while (left > 0) {
    const ssize_t count = ::read(STDIN_FILENO, buffer, std::min(left, sizeof buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(io::error_from_errno(errno, "read stdin"));
    if (count == 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
    left -= static_cast<std::size_t>(count);
  }
  return text;
}

Result<std::string> value_of(const Context& context, const std::string& name) {
  const Arguments& arguments = context.arguments;
  if (arguments.has("from-env")) {
    const std::string value = context.place.variable(arguments.get("from-env"));
    if (!value.empty()) return value;
    return fail(Code::InvalidArgument,
                fmt::format("'{}' is not set here", arguments.get("from-env")));
  }
  if (arguments.has("from-file")) {
    return io::read_file(context.place.absolute(arguments.get("from-file")), kLongestSecret + 2);
  }
  if (::isatty(STDIN_FILENO) != 1) return read_input();
  context.console.note(fmt::format("value of '{}' (it is not shown; Enter ends it):", name));
  return typed();
}

/// The line's end that echo, editors and files of tokens put there is hardly meant.
void drop_line_end(std::string& value) {
  if (value.ends_with('\n')) value.pop_back();
  if (value.ends_with('\r')) value.pop_back();
}

Result<int> set(Context& context) {
  const std::string name = TRY(required_name(context, "secret"));
  if (context.arguments.has("from-env") && context.arguments.has("from-file")) {
    return wrong_usage(context, "either --from-env or --from-file, not both");
  }
  std::string value = TRY(value_of(context, name));
  drop_line_end(value);
  if (value.empty()) return fail(Code::InvalidArgument, "the value is empty; nothing was set");
  if (!is_valid_utf8(value) || value.find('\0') != value.npos) {
    return fail(Code::InvalidArgument,
                "the value is not text; encode it first, with base64 for example");
  }
  const json::object made = TRY(context.client.put(path_to(context, name), {{"value", value}}));
  TRY(context.print({.value = made, .columns = kColumns}));
  return 0;
}

Result<int> list(Context& context) {
  json::array secrets = TRY(context.client.list(context.client.berth_path("/secrets"), SIZE_MAX));
  TRY(context.print({.value = std::move(secrets), .columns = kColumns}));
  return 0;
}

Result<int> show(Context& context) {
  const json::object secret = TRY(context.client.get(TRY(path_of(context))));
  TRY(context.print({.value = secret, .columns = kColumns}));
  return 0;
}

Result<int> remove(Context& context) {
  const std::string path = TRY(path_of(context));
  TRY(context.client.get(path));
  TRY(context.client.remove(path));
  return 0;
}

constexpr Flag kName = {"-n,--name,NAME", Takes::Value, "NAME", "the secret", true};
constexpr Flag kShared = {"--shared", Takes::Nothing, "",
                          "the workspace's, for all who submit jobs to it; not your own"};
constexpr Flag kSetFlags[] = {
    kName,
    kShared,
    {"--from-file", Takes::Value, "FILE", "the value is what the file holds"},
    {"--from-env", Takes::Value, "VARIABLE", "the value that a variable has here"},
};
constexpr Flag kOneFlags[] = {kName, kShared};

constexpr Command kCommands[] = {
    {.words = "secret set",
     .summary = "Set a secret, or give it another value",
     .details =
         R"(The value is read from stdin, or asked for without being shown. One line's end behind it is left
out. A secret is yours alone in the workspace: your jobs can have it as an environment variable (berth
run --secret NAME), other people's cannot. A job gets the value that is there when it starts. No command
shows a value again.)",
     .examples = R"(  berth secret set HF_TOKEN
  berth secret set HF_TOKEN < ~/.cache/huggingface/token
  berth secret set WANDB --from-env WANDB_API_KEY
  berth secret set REGISTRY_PASSWORD --shared --from-file password.txt)",
     .flags = kSetFlags,
     .run = set},
    {.words = "secret list",
     .summary = "List your secrets and the shared ones; never their values",
     .details = "",
     .examples = "",
     .flags = {},
     .run = list},
    {.words = "secret show",
     .summary = "Show who set a secret, and when; never its value",
     .details = "",
     .examples = "",
     .flags = kOneFlags,
     .run = show},
    {.words = "secret delete",
     .summary = "Delete a secret; jobs that wait for their start and need it will fail",
     .details = "",
     .examples = "  berth secret delete HF_TOKEN",
     .flags = kOneFlags,
     .run = remove},
};

}  // namespace

std::span<const Command> secret_commands() { return kCommands; }

}  // namespace berth::cli
