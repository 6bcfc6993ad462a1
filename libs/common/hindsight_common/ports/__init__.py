"""What the use cases need from the outside, as small protocols in the words of the domain."""
