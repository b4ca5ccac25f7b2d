"""The asynchronous saver."""
