// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/text.h"

namespace berth {
namespace {

constexpr std::string_view kAdjectives[] = {
    "amber",  "ample",  "bold",   "brave",  "bright", "brisk", "calm",   "candid", "careful",
    "cheery", "clear",  "clever", "coral",  "cosy",   "crisp", "dapper", "eager",  "early",
    "fair",   "fond",   "frank",  "fresh",  "gentle", "glad",  "golden", "grand",  "green",
    "happy",  "hardy",  "honest", "humble", "jolly",  "keen",  "kind",   "lively", "loyal",
    "lucid",  "mellow", "merry",  "mild",   "modest", "neat",  "nimble", "noble",  "patient",
    "placid", "plucky", "polite", "quick",  "quiet",  "rapid", "ready",  "rosy",   "silver",
    "steady", "sunny",  "tidy",   "upbeat", "warm",   "witty"};

constexpr std::string_view kNouns[] = {
    "anchor",  "apple", "arrow",  "atlas",  "bay",    "beacon", "berry",  "birch",   "boat",
    "breeze",  "brook", "buoy",   "cedar",  "chart",  "clover", "coast",  "compass", "coral",
    "cove",    "crane", "delta",  "dune",   "falcon", "fern",   "ferry",  "field",   "fjord",
    "garden",  "gull",  "harbor", "heron",  "hill",   "island", "jetty",  "kettle",  "lagoon",
    "lantern", "leaf",  "marsh",  "meadow", "mill",   "oak",    "orchid", "otter",   "pebble",
    "pier",    "pine",  "quay",   "reef",   "river",  "rudder", "sail",   "shell",   "spruce",
    "strait",  "tide",  "tulip",  "valley", "wharf",  "willow"};

/// From the kernel itself: OpenSSL's generator takes a millisecond to begin, and asks it as well.
void fill(void* bytes, std::size_t size) {
  auto* into = static_cast<unsigned char*>(bytes);
  while (size > 0) {
    const ssize_t got = ::getrandom(into, size, 0);
    if (got < 0 && errno == EINTR) continue;
    CHECK(got > 0, "the kernel gives random bytes");
    into += got;
    size -= static_cast<std::size_t>(got);
  }
}

std::string random_suffix(std::size_t size) {
  static constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::string text(size, '\0');
  for (char& letter : text) letter = kAlphabet[random_below(kAlphabet.size())];
  return text;
}

std::string_view random_word(std::span<const std::string_view> words) {
  return words[random_below(words.size())];
}

}  // namespace

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  fill(raw.data(), raw.size());
  return to_hex(raw);
}

std::string random_uuid() {
  std::array<unsigned char, 16> bytes{};
  fill(bytes.data(), bytes.size());
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);  // Version 4,
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);  // variant 1 of RFC 4122.
  std::string text = to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  for (const std::size_t position : {8u, 13u, 18u, 23u}) text.insert(position, 1, '-');
  return text;
}

std::size_t random_below(std::size_t bound) {
  CHECK(bound > 0, "there is a number below the bound");
  // Numbers at or above the largest multiple of the bound would favour the small ones.
  const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / bound * bound;
  std::uint64_t number = 0;
  do {
    fill(&number, sizeof number);
  } while (number >= limit);
  return number % bound;
}

std::string random_job_name() {
  return fmt::format("{}_{}_{}", random_word(kAdjectives), random_word(kNouns), random_suffix(10));
}

std::string random_display_name() {
  return fmt::format("{}-{}-{}", random_word(kAdjectives), random_word(kNouns), random_suffix(4));
}

}  // namespace berth
