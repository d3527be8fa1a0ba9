// SPDX-License-Identifier: Apache-2.0
// Moves a stream through memory in blocks that stay in the cache from copy to walk.
#include "ingest/json/json_window.h"
#include "ingest/base/fuzzed.h"
#include "ingest/base/simd.h"

#include <string.h>

#define BLOCK_BYTES ((size_t)FUZZED_SIZE(256 << 10, 2 << 10))
// How far the index runs ahead of the walk: text and tokens fit the cache. Starts small, as the
// walk may need only one item.
#define INDEX_BYTES ((size_t)FUZZED_SIZE(64 << 10, 700))
#define FIRST_BYTES ((size_t)FUZZED_SIZE(2 << 10, 300))
#define TOKEN_SLACK 64
#define TEXT_SLACK  (1 + SIMD_SLACK)

static bool reserve_tokens(struct json_window *window, size_t more, struct err *err)
{
    size_t need = window->token_count + more + TOKEN_SLACK;
    if (need <= window->token_cap)
        return true;
    uint32_t *tokens =
        budget_realloc(window->budget, window->tokens, window->token_cap * sizeof *tokens,
                       need * sizeof *tokens, err);
    if (!tokens)
        return false;
    window->tokens = tokens;
    window->token_cap = need;
    return true;
}

bool json_window_open(struct json_window *window, struct source *source, struct budget *budget,
                      struct err *err)
{
    *window = (struct json_window){.source = source, .budget = budget, .index = json_index_best()};
    window->text = budget_alloc(budget, 2 * BLOCK_BYTES + TEXT_SLACK, err);
    if (!window->text)
        return false;
    window->cap = 2 * BLOCK_BYTES;
    memset(window->text, 0, TEXT_SLACK);
    window->step = FIRST_BYTES;
    if (reserve_tokens(window, INDEX_BYTES, err))
        return true;
    json_window_close(window);
    return false;
}

void json_window_close(struct json_window *window)
{
    budget_free(window->budget, window->text, window->cap + TEXT_SLACK);
    budget_free(window->budget, window->tokens, window->token_cap * sizeof *window->tokens);
}

void json_window_view(struct json_window *window, struct str text, uint64_t offset)
{
    // A view has ended: its text is never moved or written.
    union {
        const char *borrowed;
        char *text;
    } view = {text.at};
    *window = (struct json_window){.budget = window->budget,
                                   .index = json_index_best(),
                                   .text = view.text,
                                   .len = text.len,
                                   .base = offset,
                                   .step = FIRST_BYTES,
                                   .tokens = window->tokens,
                                   .token_cap = window->token_cap,
                                   .ended = true};
}

static void drop_tokens(struct json_window *window)
{
    if (window->token == 0)
        return;
    window->token_count -= window->token;
    memmove(window->tokens, window->tokens + window->token,
            window->token_count * sizeof *window->tokens);
    window->token = 0;
}

static void drop_text(struct json_window *window)
{
    size_t pos = window->pos;
    if (pos == 0)
        return;
    for (size_t i = 0; i < window->token_count; i++)
        window->tokens[i] -= (uint32_t)pos;
    memmove(window->text, window->text + pos, window->len - pos + TEXT_SLACK);
    window->len -= pos;
    window->indexed -= pos;
    window->base += pos;
    window->pos = 0;
}

void json_window_restart(struct json_window *window, size_t pos)
{
    window->token_count = 0;
    window->token = 0;
    window->state = (struct json_index_state){false, false};
    window->indexed = pos;
    window->pos = pos;
    window->step = FIRST_BYTES;
}

void json_window_seek(struct json_window *window, uint64_t offset)
{
    json_window_restart(window, 0);
    window->base = offset;
    window->len = 0;
    memset(window->text, 0, TEXT_SLACK);
}

void json_window_advance(struct json_window *window, size_t pos)
{
    if (pos >= window->indexed) {
        json_window_restart(window, pos);
        return;
    }
    window->pos = pos;
    while (window->token < window->token_count && window->tokens[window->token] < pos)
        window->token++;
}

static bool make_room(struct json_window *window, struct err *err)
{
    if (window->cap - window->len >= BLOCK_BYTES)
        return true;
    size_t cap = window->cap * 2;
    char *text = budget_realloc(window->budget, window->text, window->cap + TEXT_SLACK,
                                cap + TEXT_SLACK, err);
    if (!text)
        return false;
    window->text = text;
    window->cap = cap;
    return true;
}

bool json_window_read(struct json_window *window, bool *more, struct err *err)
{
    *more = false;
    if (window->ended)
        return true;
    drop_tokens(window);
    drop_text(window);
    if (!make_room(window, err))
        return false;
    size_t got = 0;
    struct err cut;
    if (!source_read(window->source, window->text + window->len, BLOCK_BYTES, &got, &cut)) {
        if (cut.code != ERR_FORMAT) {
            *err = cut;
            return false;
        }
        window->cut = cut;
        got = 0;
    }
    window->ended = got == 0;
    window->len += got;
    memset(window->text + window->len, 0, TEXT_SLACK);
    *more = got > 0;
    return true;
}

bool json_window_more(struct json_window *window, bool *more, struct err *err)
{
    // An item that did not fit in the indexed text is walked again from its start; doubling keeps
    // that linear, however small the source's blocks are.
    size_t live = window->indexed - window->pos;
    *more = true;
    while (*more && window->len - window->indexed <= live)
        if (!json_window_read(window, more, err))
            return false;
    size_t left = window->len - window->indexed;
    *more = left > 0;
    if (!*more)
        return true;
    drop_tokens(window);
    size_t step = live > window->step ? live : window->step;
    step = step < left ? step : left;
    window->step = window->step < INDEX_BYTES ? window->step * 2 : INDEX_BYTES;
    if (!reserve_tokens(window, step, err))
        return false;
    window->token_count +=
        window->index(window->text + window->indexed, step, (uint32_t)window->indexed,
                      &window->state, window->tokens + window->token_count);
    window->indexed += step;
    return true;
}
