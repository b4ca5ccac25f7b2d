// Short names for the types of the contract (infra/openapi.yaml).

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

/** An input event of a run. (The generated type does not allow any content.) */
export interface InputEvent {
  id?: string;
  author: string;
  content: Record<string, unknown>;
}

/** A page of a list, and the cursor of the next one; null on the last. */
export interface Page<T> {
  data: T[];
  next: string | null;
}
