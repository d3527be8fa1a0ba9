#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The generator's output is reproducible byte for byte, and its truth adds up. usage: selftest.sh
# TRACEGEN
set -eu
tracegen=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "selftest: $*" >&2
    exit 1
}

same_bytes_twice() {
    "$tracegen" "$@" --out "$folder/first"
    "$tracegen" "$@" --out "$folder/second"
    diff -r "$folder/first" "$folder/second" >/dev/null || fail "different bytes from: $*"
    rm -r "$folder/first" "$folder/second"
}

# All formats contain the same text; compressed ones are read back with the usual tools.
same_text_in_every_format() {
    for format in json gz zst; do
        "$tracegen" --layers 2 --steps 2 --format "$format" --out "$folder/$format"
    done
    gzip -dc "$folder/gz/rank0.json.gz" | cmp - "$folder/json/rank0.json" || fail "gz differs"
    command -v zstd >/dev/null || return 0
    zstd -dcq "$folder/zst/rank0.json.zst" | cmp - "$folder/json/rank0.json" || fail "zst differs"
}

# Different white space, otherwise the same text.
same_text_with_other_white_space() {
    for layout in pretty compact indented; do
        "$tracegen" "$@" --$layout --out "$folder/$layout"
        tr -d ' \n' <"$folder/$layout/rank0.json" >"$folder/$layout/bare"
        cmp "$folder/$layout/bare" "$folder/pretty/bare" || fail "--$layout changes the text: $*"
    done
    [ "$(wc -l <"$folder/compact/rank0.json")" -eq 0 ] || fail "--compact has several lines: $*"
    [ "$(wc -l <"$folder/indented/rank0.json")" -gt "$(wc -l <"$folder/pretty/rank0.json")" ] ||
        fail "--indented has no line for each member: $*"
    rm -r "$folder/pretty" "$folder/compact" "$folder/indented"
}

# As many events as truth.json says, and about as many as requested.
shape_has_its_events() {
    "$tracegen" --shape "$1" --events 3000 --out "$folder/shape"
    said=$(grep -o '"events": [0-9]*' "$folder/shape/truth.json" | grep -o '[0-9]*$')
    [ "$said" -eq "$(grep -o '"ph"' "$folder/shape/rank0.json" | wc -l)" ] || fail "events of $1"
    { [ "$said" -ge 3000 ] && [ "$said" -le 4500 ]; } || fail "$1 has $said events, not 3000"
    rm -r "$folder/shape"
}

# Every breakdown of truth.json: window = compute + exposed_comm + exposed_memory + idle.
breakdowns_add_up() {
    "$tracegen" "$@" --out "$folder/sums"
    grep -o '"breakdown": {[^}]*}' "$folder/sums/truth.json" | tr -dc '0-9,\n' | awk -F, '
        { if ($1 != $2 + $3 + $4 + $5 || $1 <= 0) { print "wrong sum: " $0; exit 1 } lines++ }
        END { if (lines < 2) { print "no breakdowns"; exit 1 } }' || fail "truth of: $*"
    rm -r "$folder/sums"
}

# The first number for a key of truth.json's first rank: the one over the whole trace.
rank_figure() {
    grep -m1 '"clock_offset_ns"' "$folder/$1/truth.json" | grep -o "\"$2\": [0-9]*" |
        head -n 1 | grep -o '[0-9]*$'
}

# A plant lengthens the trace by the cost in truth.json, which is about the requested one.
plant_costs_what_truth_says() {
    "$tracegen" --layers 4 --noise 0 --steps 5 --plant "$1=2000000" --out "$folder/plant"
    cost=$(rank_figure plant "$1")
    longer=$(($(rank_figure plant window_ns) - $(rank_figure clean window_ns)))
    off=$((longer - cost))
    [ "$cost" -ge $((2000000 * 4 * 9 / 10)) ] || fail "$1 cost $cost ns in 5 steps"
    [ "$cost" -le $((2000000 * 5 * 5 / 4)) ] || fail "$1 cost $cost ns in 5 steps"
    [ "${off#-}" -le $((cost / 8)) ] || fail "$1 named $cost ns, the trace grew by $longer ns"
    rm -r "$folder/plant"
}

# The causes of the probe's idle time sum to its total.
all_idle_time_of_the_probe_is_planted() {
    "$tracegen" --job probe "$@" --out "$folder/probe"
    planted=$(grep '"idle_causes"' "$folder/probe/truth.json" | grep -o '"total_ns": [0-9]*' |
        awk '{ sum += $2 } END { printf "%d", sum }')
    [ "$planted" -gt 0 ] || fail "nothing is planted in the probe: $*"
    [ "$planted" -eq "$(rank_figure probe idle_ns)" ] || fail "idle time of the probe: $*"
    rm -r "$folder/probe"
}

# A mesh is reproducible, has a trace per rank, and wait and transfer parts for each step.
mesh_repeats_itself() {
    "$tracegen" mesh "$@" --out "$folder/first"
    "$tracegen" mesh "$@" --out "$folder/second"
    diff -r "$folder/first" "$folder/second" >/dev/null || fail "different bytes from a mesh: $*"
    rm -r "$folder/first" "$folder/second"
}

# Calls missing from a trace are not counted, and each is one row less in the text.
mesh_lacks_what_was_asked() {
    "$tracegen" mesh --dp 4 --steps 3 --out "$folder/mesh0"
    "$tracegen" mesh --dp 4 --steps 3 --drop 1=3 --out "$folder/mesh3"
    full=$(grep -c '"Collective name"' "$folder/mesh0/rank1.json")
    less=$(grep -c '"Collective name"' "$folder/mesh3/rank1.json")
    [ $((full - less)) -eq 3 ] || fail "a trace lacks $((full - less)) calls, not 3"
    cmp -s "$folder/mesh0/rank2.json" "$folder/mesh3/rank2.json" || fail "another rank changed"
    "$tracegen" mesh --dp 4 --steps 3 --without 2 --out "$folder/mesh2"
    [ ! -e "$folder/mesh2/rank2.json" ] || fail "the trace of a missing rank is there"
    [ -e "$folder/mesh2/rank3.json" ] || fail "a trace that was not to be missing is not there"
    rm -r "$folder/mesh0" "$folder/mesh2" "$folder/mesh3"
}

# Clocks that are off shift every time of a rank, and change nothing else.
mesh_clocks_change_only_times() {
    for skew in 0 50000000; do
        "$tracegen" mesh --tp 2 --dp 2 --steps 2 --skew $skew --out "$folder/skew$skew"
        sed 's/"ts": [0-9.]*//' "$folder/skew$skew/rank1.json" >"$folder/skew$skew/bare"
    done
    cmp -s "$folder/skew0/rank1.json" "$folder/skew50000000/rank1.json" && fail "the clock is right"
    cmp "$folder/skew0/bare" "$folder/skew50000000/bare" || fail "the clock changes more than times"
    rm -r "$folder/skew0" "$folder/skew50000000"
}

# Only the straggler makes the others wait.
mesh_straggler_is_waited_for() {
    "$tracegen" mesh --dp 4 --steps 3 --straggler "2=5000000" --cause "$1" --out "$folder/late"
    waited=$(grep -o '"caused_wait_ns": \[[0-9]*' "$folder/late/truth.json" | grep -o '[0-9]*$')
    # Three others, in the first collective of the backward and again at most in each one after it.
    { [ "$waited" -ge 14000000 ] && [ "$waited" -le 80000000 ]; } ||
        fail "$1 made the others wait $waited ns"
    rm -r "$folder/late"
}

refuses() {
    "$tracegen" --out "$folder/refused" "$@" 2>/dev/null && fail "accepted: $*"
    return 0
}

refuses_mesh() {
    "$tracegen" mesh --out "$folder/refused" "$@" 2>/dev/null && fail "accepted: mesh $*"
    return 0
}

for flavour in cuda rocm; do
    for strategy in ddp fsdp; do
        same_bytes_twice --flavour $flavour --strategy $strategy --ranks 2 --layers 2 --steps 3
    done
done
same_bytes_twice --seed 7 --stacks --one-line --events 1500 --plant tiny_kernels --format zst
same_bytes_twice --plant fp32_gemm --plant bad_attention --plant periodic_steps --plant launch_bound
same_bytes_twice --size 3M --layers 2 --noise 4 --straggler 0=120
same_text_in_every_format
breakdowns_add_up --strategy fsdp --ranks 2 --layers 3 --steps 4 --plant starvation
breakdowns_add_up --flavour rocm --layers 2 --steps 3 --plant low_overlap --slow gemm=140
"$tracegen" --layers 4 --noise 0 --steps 5 --out "$folder/clean"
for plant in exposed_comm starvation tiny_kernels low_overlap pageable_copies slow_calls; do
    plant_costs_what_truth_says $plant
done
for flavour in cuda rocm; do
    same_bytes_twice --flavour $flavour --job probe --steps 2 --sync-events --list-events
    same_bytes_twice --flavour $flavour --layers 2 --steps 3 --stacks --checkpoint --leak 4096
    all_idle_time_of_the_probe_is_planted --flavour $flavour --steps 3 --noise 3
done
same_text_with_other_white_space --layers 1 --steps 2
same_text_with_other_white_space --shape args --events 2000
same_bytes_twice --shape python --size 1M --format zst
for shape in standard small args escapes python long_names one_thread one_stream same_time deep \
    streams threads names reversed shuffled since_1970; do
    shape_has_its_events $shape
done
mesh_repeats_itself --tp 2 --pp 2 --dp 2 --skew 50000000 --steps 2 --format zst
mesh_repeats_itself --dp 4 --ep 2 --data fsdp --no-sequence --steps 2
mesh_repeats_itself --dp 4 --slow-ranks 1-2=12 --more 3=longer:20 --later 5000000000 --steps 2
mesh_repeats_itself --pp 4 --schedule gpipe --data zero1 --steps 2
mesh_repeats_itself --pp 4 --passing batched --flavour rocm --sends-only --drift 1=20 --steps 2
mesh_repeats_itself --tp 4 --sequence-parallel --data zero2 --no-metadata --steps 2
mesh_lacks_what_was_asked
mesh_clocks_change_only_times
for cause in compute_slower more_work data_loading host copies; do
    mesh_straggler_is_waited_for $cause
done
# A slow operator lengthens the trace by what truth.json says, and only run noise moves a run.
slow_op_costs_what_truth_says() {
    "$tracegen" --layers 4 --noise 0 --steps 5 --slow-op aten::mm=120 --out "$folder/slow"
    cost=$(grep -o '"ns_per_step": [0-9]*' "$folder/slow/truth.json" | grep -o '[0-9]*$')
    longer=$((($(rank_figure slow window_ns) - $(rank_figure clean window_ns)) / 5))
    off=$((longer - cost))
    [ "$cost" -gt 100000 ] || fail "the slow operator costs $cost ns"
    [ "${off#-}" -le $((cost / 20)) ] || fail "the slow operator costs $cost ns, not $longer ns"
    rm -r "$folder/slow"
}

runs_differ_by_seed_as_stated() {
    for seed in 1 2 3; do
        "$tracegen" --layers 4 --noise 0 --steps 5 --run-noise 4 --seed $seed --out "$folder/run"
        ppm=$(grep -o '"run_ppm": [0-9]*' "$folder/run/truth.json" | grep -o '[0-9]*$')
        { [ "$ppm" -ne 1000000 ] && [ "$ppm" -ge 960000 ] && [ "$ppm" -le 1040000 ]; } ||
            fail "run noise of 4 percent made $ppm"
        window=$(rank_figure run window_ns)
        [ "$window" -ne "$(rank_figure clean window_ns)" ] || fail "run $seed is like the others"
        rm -r "$folder/run"
    done
}

slow_op_costs_what_truth_says
runs_differ_by_seed_as_stated
same_bytes_twice --layers 2 --run-noise 2 --slow-op aten::add_=150
refuses --slow-op aten::mm
refuses --slow-op aten::none=110
refuses --plant nonsense
refuses --shape nonsense
refuses --plant idle_
refuses --held much
refuses --plant idle_untold
refuses --ranks 0
refuses --ranks 4 --world 2
refuses --size 10X
refuses --slow gemm=fast
refuses_mesh --dp 1
refuses_mesh --dp 4 --ep 3
refuses_mesh --dp 4 --data nonsense
refuses_mesh --dp 4 --straggler 2
refuses_mesh --dp 4 --slow-link 1-2
refuses_mesh --dp 4 --straggler 4=1000
refuses_mesh --dp 4 --without 4
refuses_mesh --dp 4 --slow-ranks 3-1=10
refuses_mesh --dp 4 --slow-ranks 4=10
refuses_mesh --dp 4 --more 1=heavier:10
refuses_mesh --dp 4 --sends-only
refuses_mesh --pp 4 --passing batched --drop 1=2
refuses_mesh --dp 4 --drift 20
