"""Tables in: reading, cleaning, roles of the columns, groups of people."""

from __future__ import annotations

from justicia.tables.groups import Grouping, check_bins, group_rows, rows_with_groups
from justicia.tables.plain import check_plain
from justicia.tables.reading import Table, read_table
from justicia.tables.roles import Roles, assign_roles, find_groupings

__all__ = [
    "Grouping",
    "Roles",
    "Table",
    "assign_roles",
    "check_bins",
    "check_plain",
    "find_groupings",
    "group_rows",
    "read_table",
    "rows_with_groups",
]
