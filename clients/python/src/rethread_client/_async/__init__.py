"""The client that its users see."""
