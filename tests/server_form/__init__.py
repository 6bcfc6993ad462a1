"""The server form for tests: five workers and their servers as processes that can be killed and started again."""
