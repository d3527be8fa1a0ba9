// SPDX-License-Identifier: Apache-2.0
// Texts of traces, made harmless for a reader that may take them for instructions.
#ifndef SERVER_MCP_TEXT_H
#define SERVER_MCP_TEXT_H

#include "ingest/base/buf.h"

#include <jansson.h>

enum { MCP_NAME_MAX = 96, MCP_EFFECT_MAX = 170, MCP_SENTENCE_MAX = 260 };

// Appends at most max characters: what is invisible, unassigned, or changes the direction of text
// becomes U+FFFD, and so do invalid bytes; a longer text ends with dots.
void mcp_clean(struct str text, size_t max, struct buf *out);

// Same for a JSON string; null for anything else.
json_t *mcp_sentence(const json_t *text, size_t max);

// A name: if it is longer than MCP_NAME_MAX, its start, six digits of its hash and its end, so that
// different names stay different.
json_t *mcp_name(const json_t *text);

// The length of an answer in characters, where those that tokenizers split count more: digits by a
// quarter, bytes beyond ASCII twice. 4,200 of them are at most 2,000 tokens of o200k.
size_t mcp_weight(struct str text);

#endif
