// The settings of a session: its name, how long it is kept, and its metadata.

import { useId, useRef } from 'preact/hooks';
import type { SessionChange } from 'rethread';
import { Link } from 'wouter-preact';
import type { Session } from '../../api/types';
import { agentName } from '../../store/agents';
import { useApp } from '../context';
import { Field } from '../kit/field';
import { Form, FormError } from '../kit/form';
import { Modal } from '../kit/modal';
import { TextField } from '../kit/text-field';
import { exact } from '../kit/time';
import { Shown } from '../settings/loaded';
import { notificationsPath } from '../settings/notifications/address';
import { useVersion } from '../settings/version';
import '../../styles/settings.css';
import { RetentionField, retentionOf } from './retention';

export function SessionSettings({ id }: { id: string }) {
  const { api, sessions, chat, toasts } = useApp();
  const element = useRef<HTMLDialogElement>(null);
  const label = useId();
  const session = useVersion(`session ${id}`, (options) => api.sessions.get(id, options));
  const close = () => element.current?.close();
  const save = async (change: SessionChange, etag: string) => {
    const changed = await api.sessions.update(id, change, { ifMatch: etag });
    sessions.value?.changed(changed);
    if (chat.value?.id === id) chat.value.session.value = changed;
    toasts.say('Saved.');
    close();
  };
  return (
    <Modal
      element={element}
      class="dialog session-settings"
      aria-labelledby={label}
      closedby="closerequest" // a press beside it would lose what was typed
    >
      <div class="session-settings-body">
        <h2 id={label}>Chat settings</h2>
        <Shown of={session}>
          {({ value, etag }) => (
            <>
              <Fields session={value} save={(change) => save(change, etag)} close={close} />
              <Facts session={value} />
              <Link href={notificationsPath(id)} class="button small" onClick={close}>
                Notifications of other servers
              </Link>
            </>
          )}
        </Shown>
      </div>
    </Modal>
  );
}

interface FieldsProps {
  session: Session;
  save: (change: SessionChange) => Promise<void>;
  close: () => void;
}

function Fields({ session, save, close }: FieldsProps) {
  const metadata = JSON.stringify(session.metadata, null, 2);
  const run = async (form: FormData) => {
    const text = String(form.get('metadata'));
    const retention = retentionOf(form);
    await save({
      name: String(form.get('name')).trim(),
      ...(text !== metadata && { metadata: metadataOf(text) }),
      ...(retention !== undefined && { retention }),
    });
  };
  return (
    <Form submit="Save" run={run} cancel={close}>
      <TextField label="Name" name="name" dir="auto" maxLength={256} value={session.name} />
      <RetentionField session={session} />
      <Field
        label="Metadata"
        name="metadata"
        hint="For programs, such as where the chat comes from: a JSON object."
        control={(props) => (
          <textarea
            {...props}
            class="field code"
            rows={5}
            spellcheck={false}
            autocapitalize="off"
            defaultValue={metadata}
          />
        )}
      />
    </Form>
  );
}

function metadataOf(text: string): NonNullable<SessionChange['metadata']> {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() || '{}');
  } catch (error) {
    throw new FormError('/metadata', `It is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FormError('/metadata', 'It must be a JSON object, in braces.');
  }
  return value as NonNullable<SessionChange['metadata']>;
}

function Facts({ session }: { session: Session }) {
  return (
    <dl class="facts">
      <dt>Id</dt>
      <dd>{session.id}</dd>
      <dt>Agent</dt>
      <dd>{agentName(session.agent)}</dd>
      <dt>App</dt>
      <dd>{session.app_name}</dd>
      <dt>Created</dt>
      <dd>{exact(session.created_time)}</dd>
      <dt>Last activity</dt>
      <dd>{exact(session.updated_time)}</dd>
      <dt>Events</dt>
      <dd>
        {session.head_seq}, {rewinds(session.epoch)}
      </dd>
    </dl>
  );
}

function rewinds(epoch: number): string {
  if (epoch === 0) return 'never rewound';
  return epoch === 1 ? 'rewound once' : `rewound ${epoch} times`;
}
