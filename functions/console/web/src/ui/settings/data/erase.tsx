// Deletes everything that the user owns.

import { useEffect } from 'preact/hooks';
import type { Erasure } from 'rethread';
import { useLocation } from 'wouter-preact';
import type { Data } from '../../../store/data/data';
import { useApp, useView } from '../../context';
import { Confirm } from '../../kit/confirm';
import { exact } from '../../kit/time';

const TYPED = 'delete everything';

export function Erase({ data }: { data: Data }) {
  const app = useApp();
  const { dialog } = useView();
  const [, navigate] = useLocation();
  const { erasing, busy } = data;
  useEffect(() => {
    void erasing.read();
    return () => erasing.stop();
  }, [erasing]);
  const report = erasing.report.value;
  return (
    <section class="group" aria-labelledby="erase">
      <h3 id="erase">Delete everything</h3>
      <p class="hint">
        Deletes all that you own: chats with everything in them, files and state that they share,
        feedback, webhooks and automations. What others have shared with you stays.
      </p>
      {report && <Report report={report} />}
      {erasing.failed.value && (
        <p class="notice" role="alert">
          {erasing.failed.value}
        </p>
      )}
      <div class="settings-actions">
        {erasing.requested.value && (
          <button
            type="button"
            class="button"
            onClick={() => {
              app.signOut();
              navigate('/');
            }}
          >
            Sign out
          </button>
        )}
        <button
          type="button"
          class="button danger"
          disabled={busy.value || report?.status === 'in_progress'}
          onClick={() => {
            dialog.value = (
              <Confirm
                title="Delete everything?"
                action="Delete everything"
                typed={TYPED}
                run={() => data.erase()}
              >
                <p>
                  All your chats, files, feedback, webhooks and automations are deleted. This cannot
                  be undone. Export what you want to keep before.
                </p>
              </Confirm>
            );
          }}
        >
          Delete everything…
        </button>
      </div>
    </section>
  );
}

const COUNTED: [keyof Erasure['removed'] & string, one: string, many: string][] = [
  ['sessions', 'chat', 'chats'],
  ['tasks', 'task', 'tasks'],
  ['artifacts', 'version of a file', 'versions of files'],
  ['feedback', 'feedback', 'feedbacks'],
  ['webhooks', 'webhook', 'webhooks'],
  ['automations', 'automation', 'automations'],
];

function Report({ report: { status, removed, started_time, ended_time } }: { report: Erasure }) {
  const counts = COUNTED.filter(([name]) => (removed[name] ?? 0) > 0).map(
    ([name, one, many]) => `${removed[name]} ${removed[name] === 1 ? one : many}`,
  );
  const what = counts.length > 0 ? counts.join(', ') : 'nothing';
  return (
    <div class="notice" role="status" data-testid="erasure">
      {status === 'in_progress' ? (
        <p>
          Deleting what existed at {exact(started_time)}… So far: {what}. It goes on if you leave.
        </p>
      ) : (
        <p>
          Deleted at {exact(ended_time ?? started_time)}: {what}. This report is kept for 30 days.
        </p>
      )}
      {status === 'in_progress' && <progress aria-label="Deletion" />}
    </div>
  );
}
