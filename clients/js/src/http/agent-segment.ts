/** The segment that names an agent in addresses: one of a namespace has `~` for its slash. */
export const agentSegment = (agent: string): string => agent.replace('/', '~');
