// Reads the settings, completes a sign-in that left the page, and renders the page.

import { render } from 'preact';
import { errorText } from './api/error';
import { createAuth } from './auth/create';
import { CALLBACK, readConfig } from './config';
import { App } from './store/app';
import './styles/index.css';
import { Broken } from './ui/broken';
import { Console } from './ui/console';

async function start(page: HTMLElement): Promise<void> {
  try {
    const config = await readConfig();
    const app = new App(config, await createAuth(config));
    await resume(app);
    render(<Console app={app} />, page);
  } catch (error) {
    render(<Broken reason={errorText(error)} />, page);
  }
}

async function resume(app: App): Promise<void> {
  try {
    const from = await app.auth.resume();
    if (from) history.replaceState(null, '', from);
  } catch (error) {
    if (location.pathname === CALLBACK) history.replaceState(null, '', import.meta.env.BASE_URL);
    app.toasts.fail(error);
  }
}

const page = document.getElementById('page');
if (page) void start(page);
