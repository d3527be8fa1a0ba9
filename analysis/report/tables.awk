# SPDX-License-Identifier: Apache-2.0
# Reads tables (*.tables, README.md says how they are written) and writes two files: into `header`
# an enum of the columns of each, into `source` their descriptors. `guard` and `include` are the
# header's; tables are numbered from `number` on, which no two tables of a program may share.

function bad(at, what) {
    printf "%s: %s\n", at, what > "/dev/stderr"
    failed = 1
}

# A word for C and SQL, or a complaint.
function is_name(name, at) {
    if (name ~ /^[a-z][a-z0-9_]*$/)
        return 1
    bad(at, "found \"" name "\", expected a name of a-z, 0-9 and _")
    return 0
}

function open_block(kind, name, title, help) {
    block++
    block_kind[block] = kind
    block_name[block] = name
    block_title[block] = title
    block_help[block] = help
    block_at[block] = at
    if (!is_name(name, at) || !is_name(title, at))
        return
    if ((kind, name) in block_of)
        bad(at, kind " " name " is there twice")
    block_of[kind, name] = block
}

function open_table(line,    colon, words, count) {
    colon = index(line, ":")
    count = split(substr(line, 7, colon - 7), words, " ")
    if (colon == 0 || !(count == 1 || (count == 3 && words[2] == "as")))
        bad(at, "found \"" line "\", expected \"table NAME: What it holds.\"")
    open_block("table", words[1], count == 3 ? words[3] : words[1], trim(substr(line, colon + 1)))
}

function trim(text) {
    sub(/^ +/, "", text)
    sub(/ +$/, "", text)
    return text
}

# "    NAME TYPE UNIT Help." or "    include GROUP"
function add_item(line,    words, count, help) {
    count = split(line, words, " ")
    item++
    item_block[item] = block
    item_at[item] = at
    item_name[item] = words[1]
    if (words[1] == "include" && count == 2) {
        item_group[item] = words[2]
        return
    }
    if (count < 4) {
        bad(at, "found \"" trim(line) "\", expected \"NAME TYPE UNIT What it means.\"")
        return
    }
    is_name(words[1], at)
    if (!(words[2] in type_of))
        bad(at, "unknown type \"" words[2] "\", expected i64, f64, text or bool")
    if (!(words[3] in is_unit))
        bad(at, "unknown unit \"" words[3] "\", expected one of" units)
    item_type[item] = words[2]
    item_unit[item] = words[3] == "-" ? "" : words[3]
    help = trim(line)
    sub(/^[^ ]+ +[^ ]+ +[^ ]+ +/, "", help)
    item_help[item] = help
}

# A line of words in a list, or one that continues what is above it.
function go_on(text) {
    if (block_kind[block] == "list")
        block_help[block] = block_help[block] " " text
    else if (item_block[item] != block)
        block_help[block] = block_help[block] " " text
    else
        item_help[item] = item_help[item] " " text
}

function check_help(help, at) {
    if (help !~ /^[A-Za-z0-9(].*[.]$/ || help ~ /  /)
        bad(at, "found \"" help "\", expected a sentence that ends with a period")
}

function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}

# A constant for the next place of the table that is being written.
function name_place(b, name, value, at,    constant) {
    constant = toupper(block_name[b] "_" name)
    if (constant in taken)
        bad(at, constant " is there twice, also at " taken[constant])
    taken[constant] = at
    print "    " constant (value == "" ? "" : " = " value) "," > header
}

function write_column(b, i, value) {
    check_help(item_help[i], item_at[i])
    name_place(b, item_name[i], value, item_at[i])
    if (block_kind[b] == "table")
        printf "    {%s, %s, %s, %s},\n", quoted(item_name[i]), type_of[item_type[i]],
            quoted(item_unit[i]), quoted(item_help[i]) > source
    return 1
}

function write_group(b, i, value,    g, j, count) {
    g = block_of["group", item_group[i]]
    if (!g || block_kind[b] == "group") {
        bad(item_at[i], "unknown group \"" item_group[i] "\" in " block_kind[b] " " block_name[b])
        return 0
    }
    name_place(b, item_group[i], value, item_at[i])
    for (j = first_of[g]; item_block[j] == g; j++)
        count += write_column(b, j, count ? "" : toupper(block_name[b] "_" item_group[i]))
    return count
}

# All columns of a table or a group; their number.
function write_columns(b,    i, count, value) {
    for (i = first_of[b]; i && item_block[i] == b; i++) {
        value = count || block_kind[b] == "group" ? "" : number " << 8"
        count += i in item_group ? write_group(b, i, value) : write_column(b, i, value)
    }
    if (!count)
        bad(block_at[b], block_kind[b] " " block_name[b] " has no columns")
    return count
}

function write_table(b,    name, count) {
    name = block_name[b]
    check_help(block_help[b], block_at[b])
    print "\n// " block_help[b] "\nextern const struct table_desc table_" name ";\nenum {" > header
    print "\nstatic const struct column columns_" name "[] = {" > source
    count = write_columns(b)
    print "};" > header
    printf "};\nconst struct table_desc table_%s = {%s, %s, columns_%s, %d, %d};\n", name,
        quoted(block_title[b]), quoted(block_help[b]), name, count, number++ > source
}

function write_enum(b) {
    print "\n// Group " block_name[b] ": places from where a table includes it.\nenum {" > header
    write_columns(b)
    print "    " toupper(block_name[b]) "_COLUMNS,\n};" > header
}

function write_list(b,    words, count, i) {
    print "\nextern const struct table_desc *const " block_name[b] "[]; // ends with NULL" > header
    print "\nconst struct table_desc *const " block_name[b] "[] = {" > source
    count = split(block_help[b], words, " ")
    for (i = 1; i <= count; i++) {
        if (!(("table", words[i]) in block_of))
            bad(block_at[b], "unknown table \"" words[i] "\" in list " block_name[b])
        print "    &table_" words[i] "," > source
    }
    print "    NULL,\n};" > source
}

BEGIN {
    type_of["i64"] = "COLUMN_I64"
    type_of["f64"] = "COLUMN_F64"
    type_of["text"] = "COLUMN_TEXT"
    type_of["bool"] = "COLUMN_BOOL"
    units = " - ns bytes count share percent ppm 1/s GB/s TB/s TFLOP/s FLOP/B W J 1/J MHz C"
    unit_count = split(units, unit_words, " ")
    for (u = 1; u <= unit_count; u++)
        is_unit[unit_words[u]] = 1
    print "// Written by tables.awk.\n#ifndef " guard "\n#define " guard "\n" > header
    print "#include \"analysis/report/report.h\"" > header
    print "// Written by tables.awk.\n#include \"" include "\"" > source
}

{ at = FILENAME ":" FNR }
/^#/ || /^ *$/ { next }
/^table / { open_table($0); next }
/^group / { open_block("group", trim(substr($0, 7)), trim(substr($0, 7))); next }
/^list / { open_block("list", trim(substr($0, 6)), trim(substr($0, 6))); next }
!block || !/^    / {
    bad(at, "found \"" $0 "\", expected table, group, list or 4 blanks and a column")
    next
}
/^     / || block_kind[block] == "list" { go_on(trim($0)); next }
{
    add_item($0)
    if (!(block in first_of))
        first_of[block] = item
}

END {
    for (b = 1; b <= block; b++) {
        if (block_kind[b] == "group")
            write_enum(b)
        else if (block_kind[b] == "table")
            write_table(b)
        else
            write_list(b)
    }
    print "\n#endif" > header
    exit failed
}
