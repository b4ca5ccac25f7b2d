"""The AG-UI server that docs/agents.md shows."""

import os
from pathlib import Path
from typing import Any

import uvicorn

text = (Path(__file__).parents[4] / "docs" / "agents.md").read_text()
names: dict[str, Any] = {}
exec(text.split("## An agent that speaks AG-UI")[1].split("```python\n")[1].split("```")[0], names)
uvicorn.run(names["app"], port=int(os.environ["PORT"]), log_level="info")
