# SPDX-License-Identifier: Apache-2.0
"""What a spreadsheet has, as JSON: for each sheet its cells, formats, panes and bars."""
import json
import sys

from openpyxl import load_workbook

book = load_workbook(sys.argv[1])
sheets = {}
for sheet in book:
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    sheets[sheet.title] = {
        "rows": rows,
        "formats": [cell.number_format for cell in sheet[2]] if sheet.max_row > 1 else [],
        "frozen": sheet.freeze_panes,
        "filter": sheet.auto_filter.ref,
        "bars": sorted(str(area.sqref) for area in sheet.conditional_formatting),
    }
json.dump(sheets, sys.stdout, default=str)
