"""What the synchronous and the asynchronous client share: everything without I/O."""
