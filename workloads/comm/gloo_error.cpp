// SPDX-License-Identifier: Apache-2.0
#include "workloads/comm/gloo_error.hpp"

#include <c10/util/Exception.h>
#include <gloo/common/error.h>
#include <gloo/common/logging.h>

#include <new>
#include <system_error>

#include "common/endpoint.hpp"
#include "common/error.hpp"

namespace tersor::workloads {
namespace {

[[noreturn]] void fail(ErrorKind kind, const std::string& what, const std::exception& error) {
  const std::string text = error.what();
  throw Error(kind, what + " failed: " + text.substr(0, text.find("\nException raised from")));
}

}  // namespace

void rethrow_from_gloo(const std::string& what) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const gloo::InvalidOperationException& error) {
    fail(ErrorKind::kInternal, what, error);
  } catch (const gloo::EnforceNotMet& error) {
    fail(ErrorKind::kInternal, what, error);
  } catch (const gloo::Exception& error) {  // a connection that broke, a time-out
    fail(ErrorKind::kPeer, what, error);
  } catch (const c10::DistError& error) {
    fail(ErrorKind::kPeer, what, error);
  } catch (const std::system_error& error) {
    fail(ErrorKind::kIo, what, error);
  }
}

void rethrow_from_meeting(const std::string& what, const std::string& address) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::exception& error) {
    // Gloo says "Cannot resolve 127.0.0.1" where it got no socket.
    BoundSocket(address, 0).listen();
    if (dynamic_cast<const gloo::EnforceNotMet*>(&error)) fail(ErrorKind::kIo, what, error);
    if (dynamic_cast<const c10::Error*>(&error)) fail(ErrorKind::kPeer, what, error);
    rethrow_from_gloo(what);
  }
}

}  // namespace tersor::workloads
