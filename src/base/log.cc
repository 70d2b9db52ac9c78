// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#define SPDLOG_FMT_EXTERNAL  // Not a copy of fmt that spdlog brings along.
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>

namespace berth::log {
namespace {

spdlog::level::level_enum level_of(Level level) {
  switch (level) {
    case Level::Debug: return spdlog::level::debug;
    case Level::Info: return spdlog::level::info;
    case Level::Warning: return spdlog::level::warn;
    case Level::Error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

void use(spdlog::sink_ptr sink, Level least) {
  auto logger = std::make_shared<spdlog::logger>("berth", std::move(sink));
  logger->set_level(level_of(least));
  logger->flush_on(spdlog::level::debug);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
  spdlog::set_default_logger(std::move(logger));
}

/// Control characters as \xNN, so that one message stays one line.
std::string escaped(std::string_view message) {
  std::string text;
  text.reserve(message.size());
  for (const char letter : message) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte == '\n') {
      text += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += letter;
    }
  }
  return text;
}

}  // namespace

void to_stderr(Level least) { use(std::make_shared<spdlog::sinks::stderr_sink_mt>(), least); }

void to_file(const std::string& path, Level least) {
  // spdlog throws where the file cannot be had; a server without its log file still has stderr.
  try {
    use(std::make_shared<spdlog::sinks::basic_file_sink_mt>(path), least);
  } catch (const spdlog::spdlog_ex& failed) {
    to_stderr(least);
    warning("logging to stderr: {}", failed.what());
  }
}

void write(Level level, std::string_view message) {
  spdlog::default_logger_raw()->log(level_of(level), escaped(message));
}

}  // namespace berth::log
