// SPDX-License-Identifier: Apache-2.0
// The table of input formats.
#include "ingest/format_kineto.h"
#include "ingest/stranger.h"

// One line per format, in the order in which they are tried.
static const struct format *const formats[] = {
    &format_kineto,
};

const struct format *format_probe(struct str head, struct err *err)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i]->probe(head))
            return formats[i];
    if (head.len == 0) {
        err_set_at(err, ERR_FORMAT, 0, "the file is empty; expected a PyTorch trace in JSON");
        return NULL;
    }
    const struct stranger *stranger = stranger_by_bytes(head);
    if (stranger) {
        stranger_refuse(stranger, err);
        return NULL;
    }
    err_set_at(err, ERR_UNSUPPORTED, 0,
               "found bytes of no known format (%02x %02x %02x %02x), expected a trace as .json, "
               ".json.gz or .json.zst",
               (unsigned char)head.at[0], (unsigned char)(head.len > 1 ? head.at[1] : 0),
               (unsigned char)(head.len > 2 ? head.at[2] : 0),
               (unsigned char)(head.len > 3 ? head.at[3] : 0));
    return NULL;
}
