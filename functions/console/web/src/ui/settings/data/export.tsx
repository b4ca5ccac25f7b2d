// Exports all sessions.

import type { Exporting } from '../../../store/data/export';
import { pickFolder } from '../../../store/data/sink';
import { sizeOf } from '../../artifact/kind';
import { useApp } from '../../context';

export function Export({ exporting }: { exporting: Exporting }) {
  const { toasts } = useApp();
  const { running } = exporting;
  const start = async () => {
    try {
      const open = await pickFolder();
      if (open) await exporting.start(open);
    } catch (error) {
      toasts.fail(error);
    }
  };
  return (
    <section class="group" aria-labelledby="export">
      <h3 id="export">Export</h3>
      <p class="hint">
        Each chat becomes one file with its whole history, state and files, which can be imported
        again.{' '}
        {'showDirectoryPicker' in globalThis
          ? 'You choose the folder.'
          : 'Your browser may ask whether to allow several downloads.'}{' '}
        To export one chat, use its menu.
      </p>
      <div class="settings-actions">
        <button type="button" class="button" disabled={running.value} onClick={() => void start()}>
          Export all my chats
        </button>
        {running.value && (
          <button type="button" class="button" onClick={() => exporting.cancel()}>
            Cancel
          </button>
        )}
      </div>
      <Progress exporting={exporting} />
    </section>
  );
}

/** How far an export is, and what could not be exported. */
export function Progress({ exporting }: { exporting: Exporting }) {
  const { begun, running, total, done, bytes, failed, stopped } = exporting;
  if (!begun.value) return null;
  const all = total.value;
  const words = `${done.value} of ${all ?? '…'} exported, ${sizeOf(bytes.value)}`;
  return (
    <div class="progress" data-testid="export-progress">
      {running.value && (
        <progress
          aria-label="Export"
          max={all ?? undefined}
          value={all === null ? undefined : done.value + failed.value.length}
        />
      )}
      <p role="status">{running.value && all === null ? 'Listing the chats…' : words}</p>
      {stopped.value && (
        <p class="notice" role="alert">
          {stopped.value}
        </p>
      )}
      {failed.value.length > 0 && (
        <div class="notice" role="alert">
          <p>Not exported:</p>
          <ul>
            {failed.value.map(({ session: { id, name }, reason }) => (
              <li key={id}>
                <bdi>{name || id}</bdi>: {reason}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
