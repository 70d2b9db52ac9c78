// SPDX-License-Identifier: Apache-2.0
// Throws broken YAML at the parser: whatever comes, it answers with a tree or with an error.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "wire/yaml/asset.h"
#include "wire/yaml/document.h"
#include "wire/yaml/job.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

constexpr std::array<std::string_view, 5> kSeeds = {
    "type: command\ncommand: >-\n  python a.py\n  --lr ${{inputs.lr}}\ninputs:\n  lr: 0.05\n"
    "  rows: {type: uri_file, path: azureml:rows@latest, mode: download}\n"
    "outputs:\n  fitted: {type: custom_model, mode: upload, name: fitted-model}\n"
    "resources: {instance_count: 2, shm_size: 1g}\nlimits: {timeout: 900}\n",
    "a: &x {k: [1, 2, *y]}\nb: &y\n  - *x\n  - |\n    text\n    more\n  - 'it''s'\nc: {<<: *x}\n",
    "%YAML 1.2\n---\n? key\n: \"esc \\u00e9 \\n\"\n\"q\": >+\n  folded\n\n...\n",
    "environment:\n  image: python\n  conda_file:\n    dependencies: [a, {pip: [b]}]\n"
    "command: x\ntags: {a: 1, b: true, c: ~}\nservices: {lab: {type: jupyter_lab, port: 1}}\n",
    "- - - a\n    - b\n  - {a: {b: {c: [[[]]]}}}\n- !!str x\n- # comment\n- \ttab\n",
};

constexpr std::array<std::string_view, 24> kPieces = {
    "[",  "]", "{",   "}",    ": ",    "- ",    "\n",   "\n  ", "&a ",  "*a", "<<: ", "!!x ",
    "\"", "'", "|\n", ">-\n", "---\n", "...\n", "%TAG", "\t",   "\xff", "? ", "#",    "\\u12"};

std::string mutate(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  for (std::size_t edits = 1 + below(6); edits > 0; --edits) {
    const std::size_t at = text.empty() ? 0 : below(text.size());
    switch (below(5)) {
      case 0: text.insert(at, kPieces[below(kPieces.size())]); break;
      case 1: text.erase(at, 1 + below(8)); break;
      case 2: text.insert(at, text.substr(below(text.size() + 1), below(40))); break;
      case 3: text.insert(at, 1, static_cast<char>(random() & 0xff)); break;
      default: text.resize(at); break;
    }
  }
  return text;
}

TEST(RandomYaml, AlwaysGivesATreeOrAnErrorThatNamesTheFile) {
  int accepted = 0;
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    std::mt19937 random(seed);
    const std::string text = mutate(std::string(kSeeds[seed % kSeeds.size()]), random);

    const Result<Node> node = parse(text, "random.yml");

    if (!node) {
      EXPECT_TRUE(node.error().message.starts_with("random.yml:")) << "seed " << seed;
      continue;
    }
    ++accepted;
    const Result<JobFile> job = job_from_yaml(*node, "/nonexistent");
    EXPECT_TRUE(job || !job.error().message.empty()) << "seed " << seed;
    // What we write must be YAML again, and say the same.
    const boost::json::value value = to_json(*node);
    const Result<Node> again = parse(to_yaml_text(value), "again.yml");
    ASSERT_TRUE(again) << "seed " << seed << ": " << again.error().message;
    EXPECT_EQ(to_json(*again), value) << "seed " << seed;
  }
  EXPECT_GT(accepted, 500) << "the mutations leave nothing to look at";
}

}  // namespace
}  // namespace berth::wire::yaml
