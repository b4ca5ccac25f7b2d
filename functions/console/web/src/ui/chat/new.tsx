// A new chat: the message input and some suggestions.

import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { AgentChoice } from '../agents/choice';
import { useApp } from '../context';
import { Mark } from '../kit/brand';
import { useTitle } from '../kit/hooks';
import { Composer } from './composer';
import { Bar } from './header';
import { suggestions } from './suggestions';

export function NewChat() {
  const app = useApp();
  const draft = app.drafts.of('');
  const [busy, setBusy] = useState(false);
  const [, navigate] = useLocation();
  useTitle('New chat');

  const begin = async (text: string): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    const chat = await app.begin(text);
    if (chat) navigate(`/s/${encodeURIComponent(chat.id)}`);
    else setBusy(false);
    return chat !== null;
  };
  return (
    <main class="chat new">
      <Bar />
      <div class="welcome">
        <Mark size={40} />
        <h1>What shall we talk about?</h1>
        {app.config.sign_in.kind === 'dev' && (
          <ul class="suggestions">
            {suggestions.map(({ icon: Icon, title, text }) => (
              <li key={text}>
                <button type="button" disabled={busy} onClick={() => void begin(text)}>
                  <Icon size={18} aria-hidden="true" />
                  <span>{title}</span>
                  <code>{text}</code>
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <Composer
        draft={draft}
        files={app.files.of('')}
        trouble={app.trouble}
        busy={busy}
        running={false}
        onSend={begin}
      >
        <AgentChoice
          named={app.agents.preferred.value}
          choose={(agent) => app.agents.prefer(agent)}
        />
      </Composer>
    </main>
  );
}
