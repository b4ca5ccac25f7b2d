// Starts the system with the scripted agent, CopilotKit's runtime, and the pages.

import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, preview } from 'vite';
import { startSystem } from '../../browser/support/system.ts';
import { startAgent } from './agent.ts';
import { PAGES, writePages } from './documented.ts';
import { freePort, RUNTIME_LOG, startRuntime } from './runtime.ts';

const PACKAGES = fileURLToPath(new URL('../node_modules', import.meta.url));

export default async function setup(): Promise<() => Promise<void>> {
  const agent = await startAgent();
  const agents = { demo: { type: 'http', url: agent.url } };
  const system = await startSystem('frontends', { AGENTS: JSON.stringify(agents) });
  const port = await freePort();
  const names = await writePages(system.url, port);
  await linkNewClient(join(PAGES, 'ag-ui/node_modules/@ag-ui'));
  await rm(RUNTIME_LOG, { force: true });
  const runtime = await startRuntime(join(PAGES, 'copilotkit/server.mjs'), port);
  const pages = await servePages(names);
  process.env.RETHREAD_URL = system.url; // inherited by the workers
  process.env.PAGES_URL = pages.url;
  process.env.RUNTIME_URL = `http://127.0.0.1:${port}`;
  return async () => {
    await pages.stop();
    runtime.kill();
    await system.stop();
    agent.stop();
    const refused = (await readFile(RUNTIME_LOG, 'utf8')).match(/^outside: .*$/gm);
    if (refused) throw new Error(`CopilotKit's runtime called other machines: ${refused}`);
  };
}

/** Gives a page @ag-ui/client 1.0; the other frameworks need an older one. */
async function linkNewClient(scope: string): Promise<void> {
  await mkdir(scope, { recursive: true });
  await symlink(join(PACKAGES, 'ag-ui-client-1.0'), join(scope, 'client'));
}

/** Builds the pages, and serves them. */
async function servePages(names: string[]): Promise<{ url: string; stop(): Promise<void> }> {
  const pages = names.filter((name) => name.endsWith('/main.tsx')).map((name) => dirname(name));
  const input = Object.fromEntries(pages.map((page) => [page, join(PAGES, page, 'index.html')]));
  const common = { root: PAGES, configFile: false as const, logLevel: 'error' as const };
  const options = { minify: false, reportCompressedSize: false, rolldownOptions: { input } };
  await build({ ...common, build: { target: 'esnext', ...options } });
  const server = await preview({ ...common, preview: { host: '127.0.0.1', port: 0 } });
  const url = server.resolvedUrls?.local[0];
  if (!url) throw new Error('the pages are not served');
  return { url, stop: () => server.close() };
}
