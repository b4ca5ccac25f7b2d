// The example docs/examples/react-chat, built in an empty folder with the packed npm package, and
// served beside a system of its own.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, type System, startSystem } from './system.ts';

const run = promisify(execFile);

export interface Packed {
  /** Address of the built page. */
  page: string;
  /** Address of the system. */
  url: string;
  /** The names of the files in the package. */
  files: string[];
  /** The number of lines of the example's sources. */
  lines: number;
  stopSystem(): Promise<void>;
  startSystem(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPacked(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'react-chat-'));
  const [http, ws, port] = [await freePort(), await freePort(), await freePort()];
  const place = { http: `127.0.0.1:${http}`, ws: `127.0.0.1:${ws}`, data: join(folder, 'data') };
  const start = () => startSystem('packed', {}, place);
  let system: System | null = await start();
  const files = await pack(folder);
  await build(join(folder, 'app'), `ws://${place.ws}`);
  const preview = await serve(join(folder, 'app'), port, system.url);
  const stopSystem = async () => {
    await system?.stop();
    system = null;
  };
  return {
    page: `http://127.0.0.1:${port}/`,
    url: system.url,
    files,
    lines: await countLines(join(folder, 'app/src')),
    stopSystem,
    startSystem: async () => {
      system = await start();
    },
    stop: async () => {
      preview.kill();
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
  return files.map(({ path }: { path: string }) => path);
}

async function countLines(sources: string): Promise<number> {
  const files = await readdir(sources);
  const texts = await Promise.all(files.map((file) => readFile(join(sources, file), 'utf8')));
  return texts.join('').split('\n').length;
}

async function build(app: string, ws: string): Promise<void> {
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: app });
  await run('npm', ['run', 'build'], { cwd: app, env: { ...process.env, VITE_WS_URL: ws } });
}

async function serve(app: string, port: number, system: string): Promise<ChildProcess> {
  const args = ['node_modules/vite/bin/vite.js', 'preview', '--host', '127.0.0.1', '--strictPort'];
  const preview = spawn(process.execPath, [...args, '--port', String(port)], {
    cwd: app,
    env: { ...process.env, RETHREAD_URL: system },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    preview.once('exit', (code) => reject(new Error(`the preview ended with status ${code}`)));
    preview.stdout.on('data', (text) => String(text).includes(String(port)) && resolve());
  });
  return preview;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
}
