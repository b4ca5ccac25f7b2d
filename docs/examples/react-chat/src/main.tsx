// Signs a user in, and gives the hooks this user's client.

import { type FormEvent, StrictMode, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Rethread, type TokenRequest } from 'rethread';
import { RethreadProvider } from 'rethread/react';
import { Chats } from './chats';

/** Tokens for development. In production they come from your identity provider. */
function tokensOf(user: string) {
  let token = '';
  return async ({ rejected }: TokenRequest): Promise<string> => {
    if (token && !rejected) return token;
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ user_id: user });
    const response = await fetch('/dev/token', { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`no token: ${response.status}`);
    token = (await response.json()).token;
    return token;
  };
}

function App() {
  const [user, setUser] = useState(() => localStorage.getItem('user') ?? '');
  const client = useMemo(() => {
    if (!user) return null;
    return new Rethread({ url: location.origin, token: tokensOf(user) });
  }, [user]);

  function signIn(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name'));
    localStorage.setItem('user', name);
    setUser(name);
  }

  function signOut() {
    client?.close();
    localStorage.removeItem('user');
    location.hash = '';
    setUser('');
  }

  if (!client) {
    return (
      <form onSubmit={signIn}>
        <input name="name" aria-label="Name" placeholder="Name" required />
        <button type="submit">Sign in</button>
      </form>
    );
  }
  return (
    <RethreadProvider client={client}>
      <header>
        <h1>Chat</h1>
        <button type="button" onClick={signOut}>Sign out</button>
      </header>
      <Chats />
    </RethreadProvider>
  );
}

const page = document.getElementById('page');
if (page) createRoot(page).render(<StrictMode><App /></StrictMode>);
