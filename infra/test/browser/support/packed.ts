// The example docs/examples/react-chat, built in an empty folder with the packed npm package, and
// served beside a system of its own.

import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { ROOT, type System, startSystem } from './system.ts';

const run = promisify(execFile);

// What the example needs besides the package; where it differs, a new one is made by
// `npm install --package-lock-only` beside the example's package.json without `rethread`.
const LOCK = join(ROOT, 'infra/test/browser/react-chat/package-lock.json');

export interface Packed {
  /** Address of the built page. */
  page: string;
  /** Address of the system. */
  url: string;
  /** The names of the files in the package. */
  files: string[];
  stopSystem(): Promise<void>;
  startSystem(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPacked(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'react-chat-'));
  const start = (http: string, ws: string) =>
    startSystem('packed', {}, { http, ws, data: join(folder, 'data') });
  let system: System | null = await start('127.0.0.1:0', '127.0.0.1:0');
  const { url } = system;
  const watch = await watchAddress(url);
  const files = await pack(folder);
  await build(join(folder, 'app'));
  const preview = await serve(join(folder, 'app'), url);
  const stopSystem = async () => {
    await system?.stop();
    system = null;
  };
  return {
    page: preview.page,
    url,
    files,
    stopSystem,
    startSystem: async () => {
      system = await start(new URL(url).host, new URL(watch).host);
    },
    stop: async () => {
      preview.stop();
      await stopSystem();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Packs clients/js, and copies the example to an app that depends on the package. */
async function pack(folder: string): Promise<string[]> {
  const client = join(ROOT, 'clients/js');
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: client,
  });
  const [{ filename, files }] = JSON.parse(stdout);
  const [example, app] = [join(ROOT, 'docs/examples/react-chat'), join(folder, 'app')];
  await cp(example, app, { recursive: true, filter: (path) => !/node_modules|dist$/.test(path) });
  const manifest = JSON.parse(await readFile(join(app, 'package.json'), 'utf8'));
  manifest.dependencies.rethread = `file:../${filename}`;
  await writeFile(join(app, 'package.json'), JSON.stringify(manifest));
  await cp(LOCK, join(app, 'package-lock.json'));
  return files.map(({ path }: { path: string }) => path);
}

async function build(app: string): Promise<void> {
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: app });
  const [locked, installed] = [
    await versionsIn(LOCK),
    await versionsIn(join(app, 'package-lock.json')),
  ];
  if (locked !== installed) throw new Error(`${LOCK} has\n${locked}\ninstalled is\n${installed}`);
  await run('npm', ['run', 'build'], { cwd: app });
}

/** Returns the packages of a lock file but the packed one, with their versions. */
async function versionsIn(lock: string): Promise<string> {
  const { packages } = JSON.parse(await readFile(lock, 'utf8'));
  return Object.entries<{ version: string }>(packages)
    .filter(([path]) => path !== '' && path !== 'node_modules/rethread')
    .map(([path, { version }]) => `${path} ${version}`)
    .sort()
    .join('\n');
}

/** Returns the address of a system's websockets. */
async function watchAddress(url: string): Promise<string> {
  const config = await (await fetch(`${url}/console/config.json`)).json();
  return (config as { watch_url: string }).watch_url;
}

/** Serves the built app on any free port. */
async function serve(app: string, system: string): Promise<{ page: string; stop: () => void }> {
  const args = ['node_modules/vite/bin/vite.js', 'preview', '--host', '127.0.0.1', '--port', '0'];
  const preview = spawn(process.execPath, args, {
    cwd: app,
    env: { ...process.env, RETHREAD_URL: system },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const page = await new Promise<string>((resolve, reject) => {
    preview.once('exit', (code) => reject(new Error(`the preview ended with status ${code}`)));
    let said = '';
    preview.stdout.on('data', (text) => {
      said += stripVTControlCharacters(String(text));
      const address = /http:\/\/127\.0\.0\.1:[1-9]\d*\//.exec(said);
      if (address) resolve(address[0]);
    });
  });
  return { page, stop: () => preview.kill() };
}
