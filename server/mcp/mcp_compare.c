// SPDX-License-Identifier: Apache-2.0
// What tools that compare runs share.
#include "server/mcp/mcp_compare.h"

#include "server/mcp/mcp_rows.h"

const char *const mcp_compare_names[] = {"base", "cand", "per", "rank", NULL};

const char *mcp_compare_per(size_t i)
{
    static const char *const words[] = {"step", "token"};
    return i < sizeof words / sizeof *words ? words[i] : NULL;
}

const char *mcp_compare_rank(size_t i)
{
    static const char *const words[] = {"headline", "slowest"};
    return i < sizeof words / sizeof *words ? words[i] : NULL;
}

static void put_runs(json_t *side, struct buf *out)
{
    json_t *run = NULL;
    size_t i = 0;
    json_array_foreach(json_object_get(side, "runs"), i, run)
    {
        buf_puts(out, i ? "," : "");
        buf_puts(out, json_string_value(json_object_get(run, "id")));
    }
}

void mcp_compare_link(struct mcp_call *call, json_t *answer, json_t *base, json_t *cand)
{
    const char *per = mcp_text_argument(call, "per"), *rank = mcp_text_argument(call, "rank");
    struct buf path = {0};
    buf_puts(&path, "/compare?base=");
    put_runs(base, &path);
    buf_puts(&path, "&cand=");
    put_runs(cand, &path);
    if (per)
        buf_printf(&path, "&per=%s", per);
    if (rank)
        buf_printf(&path, "&rank=%s", rank);
    if (!path.failed)
        mcp_set_link(call, answer, "%s", path.at);
    buf_free(&path);
}
