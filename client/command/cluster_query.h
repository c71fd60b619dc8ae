// houtu node list, node show, dc list.
#pragma once

#include <string>

#include "client/command/console.h"
#include "client/command/session.h"

namespace houtu::client {

/// `datacenter` empty: all. Datacenters whose master could not be reached are told on stderr.
ExitStatus NodeList(const Console& console, Session* session, const std::string& datacenter);

/// By name or DATACENTER/NAME. A name of several datacenters: kConflict.
ExitStatus NodeShow(const Console& console, Session* session, const std::string& node);

ExitStatus DatacenterList(const Console& console, Session* session);

}  // namespace houtu::client
