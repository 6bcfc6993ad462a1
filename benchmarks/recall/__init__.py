"""Evidence recall on long conversations: Hindsight beside BM25, dense retrieval and their fusion."""
