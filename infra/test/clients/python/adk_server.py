"""Runs `adk api_server` with the agents in adk_agents, at the port in PORT."""

import os
import sys
from pathlib import Path

from google.adk.cli import main

agents = Path(__file__).parent / "adk_agents"
memory = ["--session_service_uri", "memory://", "--artifact_service_uri", "memory://"]
sys.argv[1:] = ["api_server", "--host", "127.0.0.1", "--port", os.environ["PORT"], *memory, str(agents)]
main()
