// Short names for the types of the contract, infra/openapi.yaml.

import type { components, operations } from './schema.js';

type Schemas = components['schemas'];

export type A2ATask = Schemas['A2ATask'];
export type Archive = Schemas['Archive'];
export type ArtifactVersion = Schemas['ArtifactVersion'];
export type Automation = Schemas['Automation'];
export type AutomationChange = Schemas['AutomationChange'];
export type AutomationRequest = Schemas['AutomationRequest'];
export type AppendRequest = Schemas['AppendRequest'];
export type Branch = Schemas['Branch'];
export type Bubble = Schemas['Bubble'];
export type Content = Schemas['Content'];
export type Delivery = Schemas['Delivery'];
export type DeltaPush = Schemas['DeltaPush'];
export type Event = Schemas['Event'];
export type EventRequest = Schemas['EventRequest'];
export type Feedback = Schemas['Feedback'];
export type FeedbackRequest = Schemas['FeedbackRequest'];
export type ForkRequest = Schemas['ForkRequest'];
export type ImportProgress = Schemas['ImportProgressAnswer']['data'];
export type InputEvent = Schemas['InputEvent'];
export type ListedSession = Schemas['ListedSession'];
export type Message = Schemas['Message'];
export type OnFailed = Schemas['OnFailed'];
export type Part = Schemas['Part'];
export type RewindRequest = Schemas['RewindRequest'];
export type Rewound = Schemas['Rewound'];
export type Run = Schemas['Run'];
export type SentRequest = Schemas['SentRequest'];
export type RunChange = Schemas['RunChange'];
export type RunError = Schemas['RunError'];
export type RunEvents = Schemas['RunEvents'];
/** The code of an error. Later versions of the server may add some. */
export type ErrorCode = Schemas['ErrorCode'];
export type RunRequest = Schemas['RunRequest'];
export type Session = Schemas['Session'];
export type SessionChange = Schemas['SessionChange'];
export type SessionRequest = Schemas['SessionRequest'];
export type SessionStatus = Schemas['SessionStatus'];
export type Share = Schemas['Share'];
export type ShareRequest = Schemas['ShareRequest'];
export type State = Schemas['State'];
export type Task = Schemas['Task'];
export type TaskSave = Schemas['TaskSave'];
export type Thread = Schemas['Thread'];
export type Usage = Schemas['Usage'];
export type Webhook = Schemas['Webhook'];
export type WebhookChange = Schemas['WebhookChange'];
export type WebhookRequest = Schemas['WebhookRequest'];
export type WebhookSecret = Schemas['SecretAnswer']['data'];
export type SecretRotation = Schemas['SecretRotation'];

/** The query of an operation. */
export type Query<N extends keyof operations> = NonNullable<operations[N]['parameters']['query']>;

/** A thread, and the cursor of its next page; null on the last one. */
export type ThreadPage = Thread & { next_cursor: string | null };
/** The thread after the start of the run `run_id`, which may wait in the queue. */
export type StartedThread = ThreadPage & { run_id: string };
