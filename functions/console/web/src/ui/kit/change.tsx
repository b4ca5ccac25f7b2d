// A value before and after a change. Of objects the members that change are listed; what is long is
// folded.

import { type Difference, differences } from '../../store/difference';
import './change.css';

interface Props {
  /** Undefined where there is none. */
  before: unknown;
  after: unknown;
}

export function Change({ before, after }: Props) {
  const members = differences(before, after);
  const [only] = members;
  if (members.length === 1 && only) return <Member difference={only} />;
  if (members.length === 0 || members.length > FEW || !members.every(isShort)) {
    return <Folded before={before} after={after} />;
  }
  return (
    <ul class="change-members">
      {members.map((difference) => (
        <li key={difference.path.join('\n')}>
          <Member difference={difference} />
        </li>
      ))}
    </ul>
  );
}

const FEW = 8; // members that are listed without being unfolded
const SHORT = 60; // characters of a value that is shown whole

function Member({ difference }: { difference: Difference }) {
  const { path, before, after } = difference;
  return (
    <>
      {path.length > 0 && <bdi class="change-path">{path.join(' › ')}</bdi>}
      {path.length > 0 && ' '}
      {isShort(difference) ? (
        <Line before={before} after={after} />
      ) : (
        <Folded before={before} after={after} />
      )}
    </>
  );
}

function Line({ before, after }: Props) {
  const [was, will] = texts(before, after);
  if (after === undefined) {
    return (
      <span class="change">
        <code dir="auto">{was}</code> <i>removed</i>
      </span>
    );
  }
  if (before === undefined) {
    return (
      <span class="change">
        <code dir="auto">{will}</code> <i>added</i>
      </span>
    );
  }
  return (
    <span class="change">
      <code dir="auto">{was}</code>{' '}
      <span role="img" aria-label="becomes">
        →
      </span>{' '}
      <code dir="auto">{will}</code>
    </span>
  );
}

function Folded({ before, after }: Props) {
  return (
    <details class="fold change-fold">
      <summary>
        <Line before={cut(before)} after={cut(after)} />
      </summary>
      {before !== undefined && <Whole label="Now" value={before} />}
      {after !== undefined && <Whole label="Then" value={after} />}
    </details>
  );
}

function Whole({ label, value }: { label: string; value: unknown }) {
  return (
    <>
      <p class="fold-label">{label}</p>
      <pre dir="auto">{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
    </>
  );
}

const isShort = ({ before, after }: Difference): boolean =>
  [before, after].every((value) => {
    const text = value === undefined ? '' : textOf(value);
    return text.length <= SHORT && !text.includes('\n');
  });

// A text in quotes only where it would look like the other value.
function texts(before: unknown, after: unknown): [string, string] {
  const plain = [before, after].map((value) => (value === undefined ? '' : textOf(value)));
  const [was = '', will = ''] =
    plain[0] === plain[1] ? [before, after].map((value) => JSON.stringify(value) ?? '') : plain;
  return [was, will];
}

const textOf = (value: unknown): string =>
  typeof value === 'string' && value.trim() !== '' ? value : JSON.stringify(value);

const BEGINNING = 24; // characters of a folded value

function cut(value: unknown): unknown {
  if (value === undefined) return undefined;
  const letters = Array.from(textOf(value).replace(/\s+/g, ' '));
  return letters.length > BEGINNING ? `${letters.slice(0, BEGINNING).join('')}…` : letters.join('');
}
