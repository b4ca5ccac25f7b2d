// Types of the API.

export type {
  ArtifactVersion,
  Branch,
  Bubble,
  Event,
  ListedSession,
  Rewound,
  Run,
  RunError,
  SentRequest,
  Session,
  SessionStatus,
  Share,
  State,
  Task,
  TaskSave,
  Thread,
} from 'rethread';

/** An input event of a run, with any content. */
export interface InputEvent {
  id?: string;
  author: string;
  content: Record<string, unknown>;
  actions?: {
    artifact_delta?: Record<string, number>;
    state_delta?: Record<string, unknown>;
  };
}

/** A page of a list, and the cursor of the next one; null on the last. */
export interface Page<T> {
  data: T[];
  next: string | null;
}
