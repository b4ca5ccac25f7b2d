// The addresses of the views for developers.

/** The path of the turns of a session, below the console's. */
export const TURNS = '/s/:id/turns';

/** @param turn the invocation of a turn to open; '' for none */
export function turnsPath(session: string, turn = ''): string {
  const path = `/s/${encodeURIComponent(session)}/turns`;
  return turn ? `${path}?${new URLSearchParams({ turn })}` : path;
}
