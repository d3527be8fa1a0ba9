// SPDX-License-Identifier: Apache-2.0
// Operations over peak, bytes over bandwidth.
#include "analysis/work/work_roofline.h"

#include <math.h>

static double time_of(int64_t amount, int64_t calls, double per_ns)
{
    if (!count_known(amount) || per_ns <= 0)
        return NAN;
    return (double)amount * (double)calls / per_ns;
}

// 1 TFLOP/s is 1000 operations in a nanosecond.
struct roofline work_roofline(const struct work_row *row, const struct peak *peak)
{
    struct roofline roof = {NAN, NAN, NAN, NULL, NULL};
    const struct work *work = &row->work;
    bool flops = work_kind_has_flops(work->kind);
    if (!count_known(work->bytes) || (flops && !count_known(work->flops)))
        return roof;
    if (!peak) {
        roof.note = "no peaks are listed for this device";
        return roof;
    }
    if (row->host_link) {
        roof.note = "a copy over a link is not compared with the device's memory";
        return roof;
    }
    roof.memory_ns = time_of(work->bytes, row->calls, peak->tbps * 1e3);
    roof.compute_ns =
        flops ? time_of(work->flops, row->calls, peak->tflops[work->precision] * 1e3) : 0;
    if (isnan(roof.memory_ns) || isnan(roof.compute_ns)) {
        roof.note = "no peak is listed for this device at this precision";
        return roof;
    }
    bool compute = flops && roof.compute_ns >= roof.memory_ns;
    roof.bound = compute ? "compute" : "memory";
    roof.total_ns = compute ? roof.compute_ns : roof.memory_ns;
    if (roof.total_ns > (double)row->busy_ns)
        roof.note = compute ? "faster than the peak in the data sheet"
                            : "faster than memory: partly served from caches";
    return roof;
}
