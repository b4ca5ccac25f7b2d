// The state and the artifacts that a rewind restores, each as it is now and as it will be.

import { Database, File } from 'lucide-preact';
import type { Rewound } from '../../api/types';
import { versionName } from '../../store/artifacts';
import type { Now } from '../../store/rewind';
import { Change } from '../kit/change';

interface Props {
  restored: Rewound['restored'];
  now: Now;
  /** The versions that the chat will name; unknown unless its history is loaded completely. */
  artifacts: ReadonlyMap<string, number> | null | undefined;
}

export function Restored({ restored, now, artifacts }: Props) {
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
            <Change before={now.state[key]} after={value ?? undefined} />
          </li>
        ))}
        {files.map((name) => (
          <li key={name}>
            <File size={14} aria-hidden="true" />
            <bdi>
              <b>{name}</b>
            </bdi>{' '}
            <Version before={now.artifacts.get(name)} after={versionThen(name, artifacts)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

type Then = number | 'removed' | 'unknown';

function Version({ before, after }: { before: number | undefined; after: Then }) {
  const is = before === undefined ? undefined : versionName(before);
  if (after !== 'unknown') {
    return <Change before={is} after={after === 'removed' ? undefined : versionName(after)} />;
  }
  return <i>as it was then{is && `, now ${is}`}</i>;
}

function versionThen(name: string, artifacts: Props['artifacts']): Then {
  const version = artifacts?.get(name);
  if (version !== undefined) return version;
  // Another session may have created the version of a shared name
  return artifacts && !name.startsWith('user:') ? 'removed' : 'unknown';
}
