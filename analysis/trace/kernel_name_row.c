// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/kernel_name_row.h"

#include "analysis/report/tables.h"

#include <stdio.h>

static void add_tile(struct row *row, const int32_t tile[3], struct kernel_name_texts *texts)
{
    if (tile[2])
        snprintf(texts->tile, sizeof texts->tile, "%dx%dx%d", tile[0], tile[1], tile[2]);
    else
        snprintf(texts->tile, sizeof texts->tile, "%dx%d", tile[0], tile[1]);
    row_text_if(row, KERNELS_TILE, tile[0], str_of(texts->tile));
}

static void add_marks(struct row *row, const struct kernel_decoded *decoded,
                      struct kernel_name_texts *texts)
{
    size_t len = 0;
    for (enum kernel_flag flag = FLAG_NONE + 1; flag < FLAG_COUNT; flag++)
        if (kernel_has_flag(decoded, flag) && len + 32 < sizeof texts->marks)
            len += (size_t)snprintf(texts->marks + len, sizeof texts->marks - len, "%s%s",
                                    len ? " " : "", kernel_flag_word(flag));
    row_text_if(row, KERNELS_MARKS, len > 0, (struct str){texts->marks, len});
}

void kernel_name_put(struct row *row, struct str name, struct kernel_name_texts *texts)
{
    struct kernel_decoded *decoded = &texts->decoded;
    kernel_decode(name, decoded);
    row_word(row, KERNELS_LABEL, decoded->label);
    row_word(row, KERNELS_LIBRARY, kernel_library_word(decoded->library));
    row_word(row, KERNELS_OPERATION, kernel_op_word(decoded->op));
    row_word(row, KERNELS_DTYPE, kernel_type_word(decoded->dtype));
    row_text_if(row, KERNELS_ARCH, decoded->arch[0], str_of(decoded->arch));
    row_text_if(row, KERNELS_LAYOUT, decoded->layout[0], str_of(decoded->layout));
    row_i64_if(row, KERNELS_ALIGNMENT, decoded->alignment, decoded->alignment);
    add_tile(row, decoded->tile, texts);
    add_marks(row, decoded, texts);
}
