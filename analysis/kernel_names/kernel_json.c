// SPDX-License-Identifier: Apache-2.0
// Fields of a name as JSON.
#include "analysis/kernel_names/kernel_json.h"

static void put_text(struct buf *out, const char *key, const char *text)
{
    if (!text || !*text)
        return;
    buf_printf(out, ",\"%s\":", key);
    buf_json(out, str_of(text));
}

static void put_count(struct buf *out, const char *key, int32_t count)
{
    if (count)
        buf_printf(out, ",\"%s\":%d", key, (int)count);
}

// The sizes up to the first that is unsaid.
static void put_sizes(struct buf *out, const char *key, const int32_t *sizes, size_t count)
{
    if (!sizes[0])
        return;
    buf_printf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < count && sizes[i]; i++)
        buf_printf(out, i ? ",%d" : "%d", (int)sizes[i]);
    buf_putc(out, ']');
}

static void put_ops(struct buf *out, const struct kernel_decoded *decoded)
{
    if (!decoded->op_count)
        return;
    buf_puts(out, ",\"ops\":[");
    for (uint32_t i = 0; i < decoded->op_count; i++) {
        buf_puts(out, i ? "," : "");
        buf_json(out, decoded->ops[i]);
    }
    buf_putc(out, ']');
}

static void put_flags(struct buf *out, const struct kernel_decoded *decoded)
{
    const char *before = "";
    buf_puts(out, ",\"flags\":[");
    for (enum kernel_flag flag = FLAG_NONE + 1; flag < FLAG_COUNT; flag++)
        if (kernel_has_flag(decoded, flag)) {
            buf_printf(out, "%s\"%s\"", before, kernel_flag_word(flag));
            before = ",";
        }
    buf_putc(out, ']');
}

static void put_doubts(struct buf *out, const struct kernel_decoded *decoded)
{
    static const struct {
        enum kernel_doubt doubt;
        const char *field;
    } fields[] = {{DOUBT_LIBRARY, "library"}, {DOUBT_OP, "op"}, {DOUBT_TYPES, "dtype"}};
    const char *before = "";
    bool says_nothing = !decoded->library && !decoded->op;
    buf_printf(out, ",\"sure\":%s", decoded->doubts || says_nothing ? "false" : "true");
    if (!decoded->doubts)
        return;
    buf_puts(out, ",\"unsure\":[");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (decoded->doubts & fields[i].doubt) {
            buf_printf(out, "%s\"%s\"", before, fields[i].field);
            before = ",";
        }
    buf_putc(out, ']');
}

static void put_types(struct buf *out, const struct kernel_decoded *decoded)
{
    put_text(out, "dtype", kernel_type_word(decoded->dtype));
    put_text(out, "dtype_b", kernel_type_word(decoded->dtype_b));
    put_text(out, "dtype_out", kernel_type_word(decoded->dtype_out));
    put_text(out, "dtype_acc", kernel_type_word(decoded->dtype_acc));
}

void kernel_json(struct str name, const struct kernel_decoded *decoded, struct buf *out)
{
    buf_puts(out, "{\"name\":");
    buf_json(out, name);
    put_text(out, "library", kernel_library_word(decoded->library));
    put_text(out, "op", kernel_op_word(decoded->op));
    put_text(out, "func", kernel_func_word(decoded->func));
    put_types(out, decoded);
    put_text(out, "arch", decoded->arch);
    put_sizes(out, "tile", decoded->tile, 3);
    put_count(out, "stages", decoded->stages);
    put_sizes(out, "cluster", decoded->cluster, 2);
    put_text(out, "layout", decoded->layout);
    put_count(out, "alignment", decoded->alignment);
    put_count(out, "head_dim", decoded->head_dim);
    if (decoded->causal != KERNEL_CAUSAL_UNSAID)
        buf_printf(out, ",\"causal\":%s", decoded->causal == KERNEL_CAUSAL_YES ? "true" : "false");
    put_text(out, "algo", kernel_algo_word(decoded));
    put_text(out, "proto", kernel_proto_word(decoded));
    put_count(out, "vec", decoded->vec);
    put_count(out, "shape_n", decoded->shape_n);
    put_count(out, "shape_k", decoded->shape_k);
    put_ops(out, decoded);
    put_flags(out, decoded);
    put_text(out, "short", decoded->label);
    put_doubts(out, decoded);
    buf_putc(out, '}');
}
