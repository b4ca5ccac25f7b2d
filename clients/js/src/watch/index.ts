// The package `rethread/watch`: sessions live, without the rest of the client.

export * from '../http/codes.js';
export * from '../http/errors.js';
export type { TokenRequest, TokenSource } from '../http/token.js';
export type { QueuedInput, WatchedItem, WatchedSession } from './message.js';
export type {
  Environment,
  WatchConnection,
  WatchError,
  Watching,
  WatchOptions,
} from './options.js';
export { Watcher, type WatcherOptions } from './watcher.js';
