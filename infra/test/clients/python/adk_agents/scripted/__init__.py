"""An app of ADK with a scripted model."""
