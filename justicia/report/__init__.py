"""Reports: text for the terminal, JSON by contract."""
