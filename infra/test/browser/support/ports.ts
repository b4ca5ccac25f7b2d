// Ports for servers whose address must be known before they start.

import { once } from 'node:events';
import { createServer } from 'node:net';

// Below those that systems give to whoever asks for any (from 32,768 on), so that nobody is given
// the port between its choice and its use.
const [FROM, TO] = [20_000, 32_000];

/** A free port that is given to nobody who asks for any. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FROM + Math.floor(Math.random() * (TO - FROM));
    const server = createServer().listen(port, '127.0.0.1');
    const free = await once(server, 'listening').catch((error) => {
      if (error.code !== 'EADDRINUSE') throw error;
      return null;
    });
    if (!free) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
