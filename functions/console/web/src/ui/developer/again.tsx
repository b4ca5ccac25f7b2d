// The dialog that asks a turn again in a fork from before it. What it will do and cost is said first.

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { agentName } from '../../store/agents';
import { AskingAgain, type Wanted } from '../../store/developer/again';
import { costOf, dollars, spentIn } from '../../store/developer/cost';
import { askedIn, type Trace } from '../../store/developer/traces';
import { comparePath } from '../compare/address';
import { useApp } from '../context';
import { addressOf } from '../history/address';
import { Field } from '../kit/field';
import { Form, FormError } from '../kit/form';
import { Modal } from '../kit/modal';
import '../../styles/settings.css';

const LONGEST = 100_000; // characters, as of other questions
const TEXT = '/input/0/content';
const STATE = '/input/0/actions/state_delta';

interface Props {
  trace: Trace;
  /** The session that the turn is of. */
  session: string;
  /** The agent of its runs; '' for the default one. */
  agent: string;
}

export function AgainDialog({ trace, session, agent: own }: Props) {
  const { api, agents, sessions, toasts } = useApp();
  const [, navigate] = useLocation();
  const element = useRef<HTMLDialogElement>(null);
  const title = useId();
  const [asking] = useState(() => new AskingAgain(trace, session, api));
  const before = trace.run?.agent ?? own;
  const [agent, setAgent] = useState(before);
  useEffect(() => {
    void asking.loadPreview();
    agents.load().catch((error: unknown) => toasts.fail(error));
  }, [asking, agents, toasts]);
  const run = async (form: FormData) => {
    const made = await asking.go({ ...wantedIn(form), agent });
    sessions.value?.changed(made);
    element.current?.close();
    navigate(comparePath({ session, before: '' }, { session: made.id, before: '' }));
  };
  const names = agents.names.value;
  return (
    <Modal element={element} class="dialog again" aria-labelledby={title}>
      <h2 id={title}>Ask again from here</h2>
      <div class="dialog-body">
        <Form submit="Fork and ask" run={run} cancel={() => element.current?.close()}>
          <Plan asking={asking} />
          <Field
            label="Question"
            name="text"
            pointer={TEXT}
            control={(props) => (
              <textarea
                {...props}
                class="field"
                dir="auto"
                rows={4}
                required
                maxLength={LONGEST}
                defaultValue={askedIn(trace)}
              />
            )}
          />
          <Field
            label="Agent"
            name="agent"
            control={(props) => (
              <select
                {...props}
                class="field"
                value={agent}
                onChange={({ currentTarget }) => setAgent(currentTarget.value)}
              >
                {[...new Set([before, ...names])].map((name) => (
                  <option key={name} value={name}>
                    {agentName(name)}
                  </option>
                ))}
              </select>
            )}
          />
          <Field
            label="Changes of the state before the question"
            name="state"
            pointer={STATE}
            hint={
              <>
                A JSON object; null removes a key. <code>user:</code> and <code>app:</code> keys
                change for other chats too.
              </>
            }
            control={(props) => (
              <textarea
                {...props}
                class="field code-field"
                rows={3}
                spellcheck={false}
                defaultValue="{}"
              />
            )}
          />
          <Estimate trace={trace} agent={agent} changed={agent !== before} />
          <Left asking={asking} />
        </Form>
      </div>
    </Modal>
  );
}

function wantedIn(form: FormData): Omit<Wanted, 'agent'> {
  const text = String(form.get('text')).trim();
  if (text === '') throw new FormError(TEXT, 'The question is empty.');
  return { text, state: stateIn(String(form.get('state'))) };
}

function stateIn(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() || '{}');
  } catch {
    throw new FormError(STATE, 'This is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FormError(STATE, 'This is not a JSON object.');
  }
  return value as Record<string, unknown>;
}

function Plan({ asking }: { asking: AskingAgain }) {
  const preview = asking.preview.value;
  const failed = asking.failed.value;
  const files = asking.files.join(', ');
  if (failed) {
    return (
      <p class="notice" role="alert">
        {failed}{' '}
        <button type="button" class="button small" onClick={() => void asking.loadPreview()}>
          Try again
        </button>
      </p>
    );
  }
  if (!preview) return <p class="hint">Loading what it will do…</p>;
  const events = preview.head_seq === 1 ? '1 event' : `${preview.head_seq} events`;
  return (
    <p data-testid="plan">
      A new chat <q dir="auto">{preview.name}</q> begins with the {events} before this turn, and the
      question is asked there. This chat does not change.
      {files && ` These files are left out: ${files}.`}
    </p>
  );
}

// The tokens of the turn before are all that is known of the next one's.
function Estimate({ trace, agent, changed }: { trace: Trace; agent: string; changed: boolean }) {
  const { config } = useApp();
  const prices = config.prices ?? {};
  const { usage, cost } = spentIn([trace], prices);
  if (!usage) {
    return <p class="hint">What it will cost is unknown: this turn has recorded no tokens.</p>;
  }
  const price = changed ? costOf(usage, prices, agent || 'default') : cost;
  const tokens = `${usage.input.toLocaleString()} tokens in and ${usage.output.toLocaleString()} out`;
  return (
    <p class="hint" data-testid="estimate">
      This turn took {tokens}
      {price !== null && `; as many cost about ${dollars(price)}`}
      {price === null && config.prices && '; there is no price for this agent'}.
    </p>
  );
}

function Left({ asking }: { asking: AskingAgain }) {
  const left = asking.left.value;
  if (asking.unsure.value) {
    return (
      <p class="notice" data-testid="left">
        The new chat may have been made. Trying again does not make another one.
      </p>
    );
  }
  if (left.length === 0) return null;
  return (
    <div class="notice" data-testid="left">
      <p>These chats were made and are still there, perhaps without the question:</p>
      <ul>
        {left.map(({ id, name }) => (
          <li key={id}>
            <Link href={addressOf(id)} dir="auto">
              {name || 'Untitled'}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
