#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tables.awk refuses a bad line of a .tables file with its place, and takes the good ones.
set -euo pipefail

script=$(dirname "${BASH_SOURCE[0]}")/../../analysis/report/tables.awk
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
failed=0

read_tables() {
    awk -v header="$folder/a.h" -v source="$folder/a.c" -v guard=A_H -v include=a.h -v number=1 \
        -f "$script" "$folder/a.tables" 2>&1
}

# usage: refused MESSAGE <<< LINES; they come after a good table of two lines
refused() {
    { printf 'table fruit: Fruit.\n    name  text  -  Its name.\n' && cat; } >"$folder/a.tables"
    local said
    if said=$(read_tables) || [[ $said != "$folder/a.tables:$1"* ]]; then
        echo "found \"$said\", expected a refusal \"$1\"" >&2
        failed=1
    fi
}

refused '3: FRUIT_NAME is there twice' <<<'    name  i64  -  Its name.'
refused '3: unknown type "int"' <<<'    weight  int  bytes  Its weight.'
refused '3: unknown unit "kg"' <<<'    weight  i64  kg  Its weight.'
refused '3: found "Its weight", expected a sentence' <<<'    weight  i64  bytes  Its weight'
refused '3: found "Its  weight.", expected a sentence' <<<'    weight  i64  bytes  Its  weight.'
refused '3: found "weight i64 Its.", expected "NAME TYPE UNIT' <<<'    weight i64 Its.'
refused '3: found "Weight", expected a name' <<<'    Weight  i64  bytes  Its weight.'
refused '3: found "weight i64 - Its weight.", expected table' <<<'weight i64 - Its weight.'
refused '3: unknown group "taste"' <<<'    include taste'
refused '3: table fruit is there twice' <<<'table fruit: Fruit.'
refused '3: table empty has no columns' <<<'table empty: Nothing.'
refused '3: found "table other", expected "table NAME' <<<'table other'
refused '4: unknown table "bread"' <<<$'\nlist foods\n    fruit bread'

cat >"$folder/a.tables" <<'END'
group taste
    sweet  bool  -  True when it is sweet.

table fruit as fruits: Fruit, one row
        each.
    name  text  -  Its name; "" when
                   unknown.
    include taste
    mass  f64   bytes  Its mass.
END
read_tables
for line in 'FRUIT_NAME = 1 << 8,' 'FRUIT_TASTE,' 'FRUIT_SWEET = FRUIT_TASTE,' 'TASTE_SWEET,'; do
    grep -qF "    $line" "$folder/a.h" || { echo "a.h has no line $line" >&2 && failed=1; }
done
for line in '{"name", COLUMN_TEXT, "", "Its name; \"\" when unknown."},' \
    'table_fruit = {"fruits", "Fruit, one row each.", columns_fruit, 3, 1};'; do
    grep -qF "$line" "$folder/a.c" || { echo "a.c has no line $line" >&2 && failed=1; }
done
exit "$failed"
