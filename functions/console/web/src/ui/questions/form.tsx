// One question: its text, and buttons or fields for the answer.

import type { ComponentChildren } from 'preact';
import { type Question, type Response, responseOf } from '../../store/questions';
import { Fields } from './fields';
import { fieldsOf } from './schema';

interface Props {
  question: Question;
  give: (response: Response) => void;
}

export function QuestionForm({ question, give }: Props) {
  const { kind, text, name, about, choices } = question;
  return (
    <div class="question" data-testid="question">
      <p class="question-text" dir="auto">
        {text || wordsFor(question)}
      </p>
      {about && <Call name={about.name} args={about.args} />}
      {kind === 'confirmation' ? (
        <Buttons>
          <Choice class="primary" label="Approve" choose={() => give({ confirmed: true })} />
          <Choice label="Reject" choose={() => give({ confirmed: false })} />
        </Buttons>
      ) : kind === 'credential' ? (
        <Credential name={name} give={give} />
      ) : choices.length > 0 ? (
        <Buttons>
          {choices.map((choice) => (
            <Choice key={choice} label={choice} choose={() => give({ result: choice })} />
          ))}
        </Buttons>
      ) : (
        <Open question={question} give={give} />
      )}
    </div>
  );
}

// A question that any text, or the fields of its schema, may answer.
function Open({ question, give }: Props) {
  const fields = fieldsOf(question.schema);
  return (
    <Fields
      fields={fields}
      give={(value) => give(responseOf(value))}
      decline={question.kind === 'call' ? () => give({ error: 'The user declined.' }) : undefined}
    />
  );
}

function Credential({ name, give }: { name: string; give: Props['give'] }) {
  return (
    <>
      <p class="hint">
        The agent asks for a sign-in to another service ({name}). It cannot be given in a chat,
        which keeps everything that is said.
      </p>
      <Buttons>
        <Choice label="Decline" choose={() => give({ error: 'The user declined.' })} />
      </Buttons>
    </>
  );
}

const Buttons = ({ children }: { children: ComponentChildren }) => (
  <p class="question-buttons">{children}</p>
);

function Choice({
  label,
  choose,
  class: name = '',
}: {
  label: string;
  choose: () => void;
  class?: string;
}) {
  return (
    <button type="button" class={`button ${name}`} onClick={choose}>
      <span dir="auto">{label}</span>
    </button>
  );
}

function Call({ name, args }: { name: string; args: string }) {
  return (
    <div class="question-call" dir="ltr">
      <b>{name}</b>
      <dl>
        {Object.entries(JSON.parse(args)).map(([key, value]) => (
          <div key={key}>
            <dt dir="auto">{key}</dt>
            <dd dir="auto">{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function wordsFor({ kind, name }: Question): string {
  if (kind === 'confirmation') return 'May the agent do this?';
  if (kind === 'call') return `The agent waits for the answer of ${name}.`;
  return 'The agent waits for an answer.';
}
