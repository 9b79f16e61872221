"""Reads a workbook with openpyxl and prints its sheets as JSON: values with their types."""
import datetime, json, sys
import openpyxl

book = openpyxl.load_workbook(sys.argv[1])
out = {}
for sheet in book:
    rows = []
    for row in sheet.iter_rows():
        rows.append([
            {"v": c.value.isoformat() if isinstance(c.value, (datetime.date, datetime.datetime)) else (c.value.total_seconds() if isinstance(c.value, datetime.timedelta) else c.value),
             "t": c.data_type, "f": c.number_format} for c in row
        ])
    out[sheet.title] = {"rows": rows, "frozen": sheet.freeze_panes}
json.dump(out, sys.stdout)
