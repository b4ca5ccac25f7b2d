// The package `rethread`.

export { Rethread, type RethreadOptions } from './client.js';
export * from './http/codes.js';
export * from './http/error-of.js';
export * from './http/errors.js';
export { List, type Page } from './http/list.js';
export type { TokenRequest, TokenSource } from './http/token.js';
export type { CallOptions, ChangeOptions, WriteOptions } from './http/transport.js';
export type { Accepted, Erasure } from './resources/account.js';
export type { Answer } from './resources/answers.js';
export type { ArtifactUpload } from './resources/artifacts.js';
export type { Imported } from './resources/imports.js';
export { Invocation, type InvocationEvent } from './resources/invocation.js';
export type { AskOptions } from './resources/runs.js';
export type { TaskSaved } from './resources/tasks.js';
export type { components, operations, paths } from './schema.js';
export type * from './types.js';
export type { QueuedInput, WatchedItem, WatchedSession, WatchMessage } from './watch/message.js';
export type {
  Environment,
  WatchConnection,
  WatchError,
  Watching,
  WatchOptions,
} from './watch/options.js';
export { WatchState } from './watch/state.js';
export { backoff } from './watch/timers.js';
