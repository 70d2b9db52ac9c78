// SPDX-License-Identifier: Apache-2.0
// Asio and Beast compiled once; everywhere else only their declarations are seen.

#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
