// A terminal in which commands run one after another, each in the folder that the last one left.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const SERVES = /(^| )(make run|npx vite|node \S+)$/; // runs until it is interrupted
const STOP_WITHIN = 20_000; // milliseconds
const READY = /Rethread answers on|Local: .*http/;

export class Terminal {
  #running: ChildProcess | null = null;
  #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #position: string;

  /**
   * @param folder where it begins
   * @param name name of a file beside `folder` that keeps its current folder
   */
  constructor(folder: string, name: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#position = join(folder, `../${name}`);
    this.#env = env;
  }

  /** Runs a command, and returns its output until it ended, or until a server is ready. */
  async run(command: string): Promise<string> {
    if (this.#running) throw new Error(`${command}: the terminal is busy`);
    const child = spawn('bash', ['-c', `trap 'pwd > "$0"' EXIT\n${command}`, this.#position], {
      cwd: this.#folder,
      env: this.#env,
      detached: true, // a group of its own, as Ctrl-C needs
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#running = child;
    const serves = SERVES.test(command);
    let output = '';
    const ready = new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        output += chunk;
        if (serves && READY.test(plain(output))) resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      if (serves && command.startsWith('node ')) child.once('spawn', resolve); // it prints nothing
      child.once('error', reject);
      child.once('close', (code) =>
        code === 0 && !serves
          ? resolve()
          : reject(new Error(`${command} ended with status ${code}:\n${output}`)),
      );
    });
    await ready;
    if (!serves) await this.#ended();
    return plain(output);
  }

  /** Presses Ctrl-C, and waits until the running command has ended. */
  async interrupt(): Promise<void> {
    const child = this.#running;
    if (child?.pid === undefined) return;
    const running = child.exitCode === null && child.signalCode === null;
    const closed = running ? new Promise((resolve) => child.once('close', resolve)) : null;
    const group = -child.pid;
    if (running) process.kill(group, 'SIGINT');
    const timer = setTimeout(() => running && process.kill(group, 'SIGKILL'), STOP_WITHIN);
    await closed;
    clearTimeout(timer);
    await this.#ended();
  }

  async #ended(): Promise<void> {
    this.#running = null;
    this.#folder = (await readFile(this.#position, 'utf8')).trim();
  }
}

/** Removes the colours of an output. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return text.replace(/\x1b\[[0-9;]*m/g, '');
}
