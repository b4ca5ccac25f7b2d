// The state and the artifacts that a rewind restores.

import { Database, File } from 'lucide-preact';
import type { Rewound } from '../../api/types';

interface Props {
  restored: Rewound['restored'];
  /** The versions that the chat will name; unknown unless its history is loaded completely. */
  artifacts: ReadonlyMap<string, number> | null | undefined;
}

export function Restored({ restored, artifacts }: Props) {
  const state = Object.entries(restored.state as Record<string, unknown>);
  const files = Object.keys(restored.artifacts);
  if (state.length + files.length === 0) {
    return <p class="hint">State and artifacts stay as they are.</p>;
  }
  return (
    <div>
      <p>State and artifacts are restored too:</p>
      <ul
        class="restored"
        data-testid="restored"
        aria-label="Restored"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
      >
        {state.map(([key, value]) => (
          <li key={key}>
            <Database size={14} aria-hidden="true" />
            <bdi>
              <b>{key}</b>
            </bdi>{' '}
            {value === null ? <i>removed</i> : <code>{brief(value)}</code>}
          </li>
        ))}
        {files.map((name) => (
          <li key={name}>
            <File size={14} aria-hidden="true" />
            <bdi>
              <b>{name}</b>
            </bdi>{' '}
            <i>{versionText(name, artifacts)}</i>
          </li>
        ))}
      </ul>
    </div>
  );
}

function versionText(name: string, artifacts: Props['artifacts']): string {
  const version = artifacts?.get(name);
  if (version !== undefined) return `as of version ${version}`;
  // Another session may have created the version of a shared name
  return artifacts && !name.startsWith('user:') ? 'removed' : 'as it was then';
}

const LONGEST = 80;

function brief(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
