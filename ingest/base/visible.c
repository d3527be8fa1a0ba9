// SPDX-License-Identifier: Apache-2.0
#include "ingest/base/visible.h"

struct range {
    uint32_t first, last;
};

// As web/base/visible.mjs: controls, separators of lines, and what Unicode's
// DerivedCoreProperties.txt lists as Default_Ignorable_Code_Point, without joiners and selectors.
static const struct range hidden[] = {
    {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
    {0x61C, 0x61C},     {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180E, 0x180E},
    {0x200B, 0x200B},   {0x200E, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
    {0x3164, 0x3164},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE00FF}, {0xE01F0, 0xE0FFF},
};

static uint32_t code_of(struct str text, size_t step)
{
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = (unsigned char)text.at[0] & masks[step];
    for (size_t i = 1; i < step; i++)
        code = code << 6 | ((unsigned char)text.at[i] & 0x3F);
    return code;
}

static bool is_hidden(uint32_t code)
{
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code <= hidden[i].last)
            return code >= hidden[i].first;
    return false;
}

void buf_add_visible(struct buf *buf, struct str raw)
{
    while (raw.len) {
        size_t bad = 1, step = str_utf8_next(raw, &bad);
        uint32_t code = step ? code_of(raw, step) : 0;
        if (!step)
            buf_puts(buf, "\xEF\xBF\xBD");
        else if (is_hidden(code))
            buf_printf(buf, "[U+%04X]", (unsigned)code);
        else
            buf_add(buf, raw.at, step);
        step = step ? step : bad;
        raw = (struct str){raw.at + step, raw.len - step};
    }
}
