// SPDX-License-Identifier: Apache-2.0
// Datagrams of training processes: the first byte says how long the sender's address is.
#include "server/collect/fabric.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fabric_message message;
    struct sockaddr_un address = {0};
    if (size < 2)
        return 0;
    size_t len = data[0] < sizeof address ? data[0] : sizeof address;
    len = len < size - 1 ? len : size - 1;
    memcpy(&address, data + 1, len);
    address.sun_family = AF_UNIX;
    (void)fabric_is_client(&address, (socklen_t)len, data[1] & 1 ? NULL : "/run/agent");
    struct str datagram = {(const char *)data + 1, size - 1};
    enum fabric_kind kind = fabric_parse(datagram, &message);
    if (message.pid_count > FABRIC_MOST_PIDS || (kind != FABRIC_BAD && message.pid_count < 1))
        abort();
    return 0;
}
