"""One worker as a process of its own: its command line, its waiting for servers, its health, its end."""
