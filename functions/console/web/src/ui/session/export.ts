// Exports one session into a file that the user chooses.

import type { ListedSession } from '../../api/types';
import type { App } from '../../store/app';
import { dataOf } from '../../store/data/data';
import { fileNameOf, pickFile } from '../../store/data/sink';
import { quote } from '../../store/text';
import { sizeOf } from '../artifact/kind';

/** Must be called by a click. Toasts say what came of it. */
export async function exportSession(app: App, session: ListedSession): Promise<void> {
  const { one } = dataOf(app);
  const { toasts } = app;
  try {
    if (one.running.value) throw new Error('Another chat is being exported.');
    const open = await pickFile(fileNameOf(session));
    if (!open) return;
    await one.start(open, [session]);
    const reason = one.stopped.value || one.failed.value[0]?.reason;
    if (reason) throw new Error(`The chat was not exported. ${reason}`);
    toasts.say(`Exported ${quote(session.name || 'Untitled')}, ${sizeOf(one.bytes.value)}.`);
  } catch (error) {
    toasts.fail(error);
  }
}
