// Refuses connections of a process to other machines, and names them.

import { Socket } from 'node:net';

const connect = Socket.prototype.connect;
Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  const host = options?.host ?? options?.hostname ?? 'localhost';
  if (options?.path || ['127.0.0.1', 'localhost', '::1'].includes(host))
    return connect.apply(this, args);
  process.stderr.write(`outside: ${host}\n`);
  throw new Error(`${host} is outside`);
};
