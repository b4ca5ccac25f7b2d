// Short names for what the contract (infra/openapi.yaml) describes.

import type { components } from './schema';

type Schemas = components['schemas'];

export type Session = Schemas['Session'];
export type SessionStatus = Schemas['SessionStatus'];
export type Event = Schemas['Event'];
export type Thread = Schemas['Thread'];
export type Run = Schemas['Run'];
export type RunError = Schemas['RunError'];
export type Branch = Schemas['Branch'];
export type State = Schemas['State'];
export type Task = Schemas['Task'];
export type TaskSave = Schemas['TaskSave'];
export type Bubble = Schemas['Bubble'];
export type Rewound = Schemas['Rewound'];
export type ArtifactVersion = Schemas['ArtifactVersion'];

/** An event that a run begins with. (The generated type lets its content hold nothing.) */
export interface InputEvent {
  id?: string;
  author: string;
  content: Record<string, unknown>;
}

/** A page of a list, and where the next one begins; null on the last. */
export interface Page<T> {
  data: T[];
  next: string | null;
}
