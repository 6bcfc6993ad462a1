"""A stand-in for a Qdrant server, for machines on which none can be installed.

What it is: a process of its own that speaks, over HTTP, the part of Qdrant's REST interface that the project's adapter
uses (collections, aliases, points, payload indexes), with the server's envelope, its status codes and its API key,
kept in a folder, so that it survives being killed. The worker in front of it runs the real client and the real network.

What it is not: the server. Behind the interface is the local mode of `qdrant-client`, a re-implementation in Python:
slow, exact where the server may approximate, without payload indexes, strict mode, snapshots, gRPC or a cluster.
Nothing measured against it says anything about Qdrant's speed. Where QDRANT_URL names a real server, the same tests
run against that one.
"""
