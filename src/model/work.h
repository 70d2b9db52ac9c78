// SPDX-License-Identifier: Apache-2.0
// What a job is: the kinds of work there are, and what each of them alone says.
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "base/record.h"
#include "model/secret.h"
#include "model/service.h"

namespace berth::model {

struct JobResources {
  int instance_count = 1;
  std::string instance_type{};
  std::string shm_size{};
  std::string docker_args{};
  boost::json::object properties{};

  friend bool operator==(const JobResources&, const JobResources&) = default;
};
BOOST_DESCRIBE_STRUCT(JobResources, (),
                      (instance_count, instance_type, shm_size, docker_args, properties))

/// A command that runs to its end, on one node or on several at once.
struct CommandWork {
  static constexpr std::string_view kKind = "Command";

  std::string command{};
  std::string code_id{};         ///< ARM id of a code version; may be empty.
  std::string environment_id{};  ///< ARM id or azureml: reference; recorded.
  std::map<std::string, std::string> environment_variables{};
  SecretVariables secrets{};  ///< Their names; the values are looked up for each attempt.
  JobResources resources{};   ///< Of each attempt.
  boost::json::value distribution = nullptr;  ///< ARM's object, as sent.

  friend bool operator==(const CommandWork&, const CommandWork&) = default;
};
BOOST_DESCRIBE_STRUCT(CommandWork, (),
                      (command, code_id, environment_id, environment_variables, secrets, resources,
                       distribution))

/// The same command again and again, each time with another index, by jobs of their own: the
/// children. It holds no nodes itself.
struct ArrayWork {
  static constexpr std::string_view kKind = "Array";

  CommandWork each{};  ///< What a child runs, with its index in BERTH_ARRAY_INDEX.
  int first = 1;       ///< The indices are those from here …
  int last = 1;        ///< … up to and with this one.
  int at_once = 0;     ///< No more children than these go on at the same time; 0: all.

  friend bool operator==(const ArrayWork&, const ArrayWork&) = default;
};
BOOST_DESCRIBE_STRUCT(ArrayWork, (), (each, first, last, at_once))

/// A command that is not meant to end, and answers requests.
struct ServiceWork {
  static constexpr std::string_view kKind = "Service";

  CommandWork serves{};  ///< On one node, as one process.
  ServiceSpec service{};

  friend bool operator==(const ServiceWork&, const ServiceWork&) = default;
};
BOOST_DESCRIBE_STRUCT(ServiceWork, (), (serves, service))

using Work = std::variant<CommandWork, ArrayWork, ServiceWork>;

/// "Command", "Array", "Service": the word that rows have for it.
std::string_view kind_of(const Work& work);
/// The work consists of jobs of its own, and is decided by core/controller.h.
bool has_children(const Work& work);

}  // namespace berth::model

/// A row says it under `type`, as it did when there was only one kind.
template <>
struct berth::record::OneOf<berth::model::Work> {
  static constexpr std::string_view kKey = "type";
};
