"""Tables and charts of a report, rebuilt from samples. Pure: files are read in `report_files.py`.

table_form(entry) → TableForm      a definition of tables.yaml, checked; FormError says where it is wrong
rebuilt(form, samples) → PrintedTable     in the report's own order, with its headings, units, pairs and N.A. cells
"""
