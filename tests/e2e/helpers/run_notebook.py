# SPDX-License-Identifier: Apache-2.0
"""Runs the code cells of a notebook in order, shows each last value as a notebook would, and ends
with one line of JSON: what the expressions named on the command line are then.

usage: run_notebook.py NOTEBOOK [NAME=EXPRESSION...]
"""

import ast
import json
import sys


def run_cell(source, names):
    """Runs a cell; gives how its last expression is shown, "" for none."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return ""
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    show = getattr(value, "_repr_html_", None)
    return show() if show else "" if value is None else repr(value)


def main():
    notebook, *asked = sys.argv[1:]
    sys.path.insert(0, "")
    names = {"__name__": "__main__"}
    with open(notebook, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    shown = [run_cell("".join(cell["source"]), names)
             for cell in cells if cell["cell_type"] == "code"]
    found = {"shown": shown}
    for pair in asked:
        name, expression = pair.split("=", 1)
        found[name] = eval(expression, names)
    print(json.dumps(found))


main()
