"""Where the tools read and write."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
SOURCE = PACKAGE / "src" / "rethread_client"
CONTRACT = PACKAGE.parents[1] / "infra" / "openapi.yaml"
