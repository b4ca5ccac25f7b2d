"""Lets ADK's servers keep sessions and artifacts in Rethread."""

from rethread_client import adk

adk.register()
