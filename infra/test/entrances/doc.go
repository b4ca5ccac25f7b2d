// Package entrances tests what each way into the system has to do alike: REST, A2A,
// AG-UI, the AI SDK, Responses, MCP and imports, over one store in memory. A rule that
// holds at one of them and not at another is found by its tables.
package entrances
