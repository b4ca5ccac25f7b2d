// Lists last which tests passed only when they were repeated, and fails the run if they are many: a
// busy machine fails one, a fault that comes and goes fails more.

import type { FullConfig, Reporter, Suite } from '@playwright/test/reporter';

export const MOST_FLAKY = 3; // titles; a test on two screens has one

export default class Flaky implements Reporter {
  readonly #print: (text: string) => void;
  #suite: Pick<Suite, 'allTests'> | null = null;

  /** @param print what writes the list; Playwright itself passes options, which have none */
  constructor({ print }: { print?: (text: string) => void } = {}) {
    this.#print = print ?? ((text) => process.stdout.write(text));
  }

  onBegin(_: Pick<FullConfig, 'rootDir'>, suite: Pick<Suite, 'allTests'>): void {
    this.#suite = suite;
  }

  async onEnd(): Promise<{ status?: 'failed' }> {
    const flaky = (this.#suite?.allTests() ?? []).filter((test) => test.outcome() === 'flaky');
    const titles = [...new Set(flaky.map(({ location, title }) => `${location.file}: ${title}`))];
    if (titles.length === 0) return {};
    this.#print(`\n${titles.length} passed only when repeated:\n  ${titles.join('\n  ')}\n`);
    if (titles.length <= MOST_FLAKY) return {};
    this.#print(`At most ${MOST_FLAKY} may: the run has failed.\n`);
    return { status: 'failed' };
  }

  printsToStdio(): boolean {
    return true;
  }
}
