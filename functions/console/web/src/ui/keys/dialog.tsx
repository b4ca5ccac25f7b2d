// The list of keys, and the choice whether those of a single character act.

import { useId, useRef } from 'preact/hooks';
import { useApp } from '../context';
import { Modal } from '../kit/modal';
import { Keys } from './names';
import { bindings, type Group } from './registry';
import './keys.css';

const groups: readonly Group[] = ['Everywhere', 'In a chat', 'In the message field'];

export function KeysDialog() {
  const { keys } = useApp();
  const element = useRef<HTMLDialogElement>(null);
  const title = useId();
  return (
    <Modal element={element} class="dialog keys-dialog" aria-labelledby={title}>
      <form method="dialog">
        <h2 id={title}>Keys</h2>
        <div class="dialog-body">
          {groups.map((group) => (
            <section key={group}>
              <h3>{group}</h3>
              <dl>
                {bindings
                  .filter((binding) => binding.group === group)
                  .map(({ id, label, character }) => (
                    <div key={id} data-off={character && !keys.characters.value}>
                      <dt>{label}</dt>
                      <dd>
                        <Keys of={id} />
                      </dd>
                    </div>
                  ))}
              </dl>
            </section>
          ))}
          <label class="keys-choice">
            <input
              type="checkbox"
              checked={keys.characters.value}
              onChange={({ currentTarget }) => {
                keys.characters.value = currentTarget.checked;
              }}
            />
            Use keys of a single character
          </label>
        </div>
        <div class="dialog-buttons">
          <button type="submit" class="button">
            Close
          </button>
        </div>
      </form>
    </Modal>
  );
}
