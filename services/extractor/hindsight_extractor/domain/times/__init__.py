"""Words that name a time, language by language; `domain.time_expressions` is the way in."""
