"""Tables in: reading, cleaning, roles of the columns, groups of people."""

from __future__ import annotations

from justicia.tables.groups import Grouping, group_rows
from justicia.tables.reading import Table, read_table
from justicia.tables.roles import Roles, assign_roles

__all__ = ["Grouping", "Roles", "Table", "assign_roles", "group_rows", "read_table"]
