// SPDX-License-Identifier: Apache-2.0
// Heavy: include from .cc files only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/http/client_end.h"
#include "io/http/client_watch.h"
#include "io/http/relay_head.h"
#include "io/http/upstream_connection.h"
#include "io/message/answer_parser.h"
#include "io/message/body_framing.h"
#include "io/message/reply_text.h"
#include "io/message/request_parser.h"
#include "io/wake.h"

namespace berth::io {

/// One request on its way to an upstream, and the answer on its way back. Made by the session when
/// the request's head is read; run() once. Loop thread only.
///
/// The session's coroutine sends the head, then carries the answer. A body that did not arrive with
/// the head is carried by a coroutine of its own, which ends before run() does.
class RelayExchange {
 public:
  struct Asked {
    RequestParser& parser;  ///< Its head is complete.
    bool keep_alive = true;
    const bool& is_draining;
  };
  struct Outcome {
    std::optional<Reply> instead{};  ///< The client was sent nothing: it is owed this.
    bool is_read = false;            ///< The request, to its end.
    bool goes_on = false;            ///< The client's connection can take another request.
  };

  RelayExchange(ClientEnd& client, Asked asked, const RelayPlan& plan);
  RelayExchange(const RelayExchange&) = delete;
  RelayExchange& operator=(const RelayExchange&) = delete;

  Awaitable<Outcome> run();

 private:
  using error_code = boost::system::error_code;
  /// What became of sending a request and waiting for its answer.
  enum class Step { GotHead, Retry, Failed };

  const UpstreamOptions& options() const { return pool_.options; }

  bool pass_first();
  Awaitable<bool> connect(bool is_retry);
  Awaitable<bool> take_parked();
  Awaitable<Step> ask();
  Awaitable<Step> read_head();
  Step head_failed(error_code error);
  Awaitable<bool> pass_interim();
  Awaitable<bool> answer();
  AnswerMark mark_answer();
  Awaitable<bool> carry_answer(std::string head);
  Awaitable<bool> end_answer(std::string& before, error_code error);
  Awaitable<bool> tunnel();
  Awaitable<void> settle();

  using Carry = Awaitable<void> (RelayExchange::*)();
  void start(Carry carry);
  static Awaitable<void> run_beside(RelayExchange& self, Carry carry);
  Awaitable<void> carry_request();
  Awaitable<bool> read_request();
  Awaitable<bool> pass_request();
  Awaitable<void> carry_tunnel();
  void watch_client();

  Awaitable<error_code> read_upstream();
  Awaitable<bool> write_upstream(std::string_view first, std::string_view second);
  Awaitable<bool> write_client(std::string_view first, std::string_view second);
  void arm_client();
  void arm_upstream();
  void abort();
  void owe(int status, std::string_view code, std::string_view message);

  ClientEnd& client_;
  Asked asked_;
  const RelayPlan& plan_;
  Upstream::State& pool_;
  std::string request_text_;
  RequestMark request_mark_{};
  BodyFraming request_;
  Passed first_{};  ///< Of the body: what is sent with the head.
  BodyFraming answer_ = BodyFraming::none();
  std::unique_ptr<UpstreamConnection> connection_{};
  std::shared_ptr<Upstream::State::Waiter> waiter_{};  ///< While none is parked.
  std::optional<AnswerParser> parser_{};
  ClientWatch watch_;
  std::shared_ptr<Wake> beside_{};  ///< Rings when the coroutine beside ends; null: there is none.
  std::optional<Reply> owed_{};
  std::size_t discarded_ = 0;  ///< Of a body that nobody takes any more.

  bool answers_head_ = false;
  bool has_answered_ = false;   ///< The answer's head is on its way to the client.
  bool was_continued_ = false;  ///< The upstream has said that it wants the body.
  bool is_carrying_ = false;    ///< A request's body is under way beside.
  bool is_discarding_ = false;  ///< The rest of the request is read and thrown away.
  bool is_stopping_ = false;    ///< Not even that.
  bool is_tunnel_ = false;
  bool wraps_answer_ = false;  ///< In chunks: the upstream only marks its end by closing.
  bool client_ended_ = false;  ///< It sends no more.
  bool upstream_ended_ = false;
  bool reads_client_ = false;
  bool writes_client_ = false;
  bool reads_upstream_ = false;
  bool writes_upstream_ = false;
};

}  // namespace berth::io
