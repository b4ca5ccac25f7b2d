// Somebody new who follows docs/five-minutes.md in an empty folder, command by command. Only what
// depends on the machine differs: addresses, where the repository is cloned from, and that the
// clone has what this checkout has built.

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './ports.ts';
import { ROOT } from './system.ts';
import { Terminal } from './terminal.ts';
import { readTutorial } from './tutorial.ts';

const run = promisify(execFile);
const REPOSITORY = 'https://github.com/rethread/rethread.git';

export class Newcomer {
  /** The commands that were run. */
  readonly commands: string[] = [];
  readonly #parent: string;
  readonly #folder: string;
  readonly #terminals: Terminal[];
  readonly #addresses: [string, string][];
  #done = 0; // the steps of the page that were done

  private constructor(parent: string, addresses: [string, string][], env: NodeJS.ProcessEnv) {
    this.#parent = parent;
    this.#folder = join(parent, 'empty');
    this.#addresses = addresses;
    this.#terminals = [0, 1, 2].map((i) => new Terminal(this.#folder, `terminal-${i}`, env));
  }

  static async arrive(): Promise<Newcomer> {
    const parent = await mkdtemp(join(tmpdir(), 'five-minutes-'));
    await mkdir(join(parent, 'empty'));
    const [http, ws, agent] = [await freePort(), await freePort(), await freePort()];
    const origin = await commit(join(parent, 'origin'));
    const env = {
      ...process.env,
      RETHREAD_HTTP_ADDR: `127.0.0.1:${http}`,
      RETHREAD_WS_ADDR: `127.0.0.1:${ws}`,
      BUILT: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `url.${origin}.insteadOf`,
      GIT_CONFIG_VALUE_0: REPOSITORY,
    };
    return new Newcomer(
      parent,
      [
        ['127.0.0.1:3000', `127.0.0.1:${http}`],
        ['127.0.0.1:3001', `127.0.0.1:${ws}`],
        ['8080', `${agent}`],
      ],
      env,
    );
  }

  /**
   * Follows the page until a command matches, which is run too, and returns the output of that.
   */
  async follow(until: RegExp): Promise<string> {
    const steps = await readTutorial('five-minutes.md');
    for (const step of steps.slice(this.#done)) {
      this.#done++;
      if ('file' in step) {
        await this.#write(step.file, step.text);
        continue;
      }
      const terminal = this.#terminals[step.terminal] as Terminal;
      if (step.interrupt) await terminal.interrupt();
      let output = '';
      for (const command of step.commands) {
        output = await terminal.run(this.#here(command));
        this.commands.push(command);
        if (command.startsWith('git clone')) await this.#reuse();
      }
      if (until.test(step.commands.at(-1) ?? '')) return output;
    }
    throw new Error(`the page has no further command ${until}`);
  }

  async leave(): Promise<void> {
    await Promise.all(this.#terminals.map((terminal) => terminal.interrupt()));
    await rm(this.#parent, { recursive: true, force: true });
  }

  #here(text: string): string {
    return this.#addresses.reduce((here, [from, to]) => here.replaceAll(from, to), text);
  }

  async #write(name: string, text: string): Promise<void> {
    const path = join(this.#folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, this.#here(text));
  }

  /** Gives the clone what `make run` would build: programs, the database, the npm package. */
  async #reuse(): Promise<void> {
    const clone = join(this.#folder, 'rethread');
    await mkdir(join(clone, 'build'));
    for (const name of ['functions', 'programs', 'rethread-local', 'dynamodb-local']) {
      await symlink(join(ROOT, 'build', name), join(clone, 'build', name));
    }
    for (const name of ['clients/js/dist', 'clients/js/src/schema.ts']) {
      await cp(join(ROOT, name), join(clone, name), { recursive: true });
    }
  }
}

/** Returns a repository whose only commit has the files of this checkout as they are now. */
async function commit(origin: string): Promise<string> {
  const git = [
    '-c',
    'user.name=test',
    '-c',
    'user.email=test@example.com',
    '-c',
    'commit.gpgsign=false',
  ];
  const tree = [`--git-dir=${origin}`, `--work-tree=${ROOT}`];
  await run('git', ['init', '--quiet', '--bare', '--initial-branch=main', origin]);
  await run('git', [...tree, 'add', '--all'], { cwd: ROOT });
  await run('git', [...git, ...tree, 'commit', '--quiet', '--no-verify', '--message=all'], {
    cwd: ROOT,
  });
  return origin;
}

/** The versions that the page names, as `name@version`. */
export async function versionsOnPage(): Promise<string[]> {
  const text = await readFile(join(ROOT, 'docs/five-minutes.md'), 'utf8');
  return [...text.matchAll(/[a-z-]+@[0-9]+\.[0-9.]+/g)].map(([found]) => found).sort();
}
