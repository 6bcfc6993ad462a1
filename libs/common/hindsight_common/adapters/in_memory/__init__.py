"""Stand-ins that keep everything in dictionaries; each passes the contract of its port."""
