// SPDX-License-Identifier: Apache-2.0
// Messages over standard input and output, one a line.
#include "server/mcp/mcp.h"

#include "server/mcp/mcp_rpc.h"

void mcp_answer_line(const struct request *request, struct str line, struct buf *out)
{
    struct mcp_message message;
    struct mcp_reply reply;
    mcp_message_read(line, &message);
    mcp_rpc_answer(request, &message, &reply);
    if (reply.body && mcp_dump(reply.body, out))
        buf_putc(out, '\n');
    json_decref(reply.body);
    mcp_message_free(&message);
}
