// Keys as they are shown.

import { bindingOf, type KeyId } from './registry';

const APPLE = /Mac|iPhone|iPad/;

const NAMES: Record<string, string> = { Escape: 'Esc', ArrowUp: '↑' };
const SPOKEN: Record<string, string> = { '↑': 'Arrow up', '⌘': 'Command', '/': 'Slash' };

/** The names of the keys of a combination, as this system has them. */
export function namesOf(keys: string, platform = navigator.platform): string[] {
  const mod = APPLE.test(platform) ? '⌘' : 'Ctrl';
  return keys.split('+').map((key) => (key === 'Mod' ? mod : (NAMES[key] ?? key)));
}

export function Keys({ of }: { of: KeyId }) {
  return (
    <span class="keys">
      {bindingOf(of).keys.map((keys) => (
        <span key={keys}>
          {namesOf(keys).map((name) => (
            <kbd key={name} aria-label={SPOKEN[name]}>
              {name}
            </kbd>
          ))}
        </span>
      ))}
    </span>
  );
}
