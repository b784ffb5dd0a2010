import { CompactedError } from '../../types/errors.ts';
import type { Random } from '../../types/random.ts';
import type { KeyValue } from '../../types/revision.ts';
import type { Difference, Resource } from './difference.ts';
import { pick, pickFrom } from './pick.ts';
import { delay, type RunState } from './run-state.ts';

/** Wait between two lists while the store changes, */
const BUSY_MS = 1;
/** and while it does not: a live stream may be quiet for long. */
const QUIET_MS = 50;
/** One list in so many is of everything. */
const WHOLE_EVERY = 8;
/** Prefixes remembered to choose from. */
const PREFIXES_MAX = 1000;

/**
 * A client that lists while the store loads: one prefix at a time, once as a whole and once by pages with other work in
 * between. The pages must add up to the whole as it was at the first page, and revisions must not go back.
 *
 * Compaction may pass the revision of a half-read list, and a relist leaves none of the revisions inside it: the list
 * then expires, as it does in Kubernetes, and the client begins anew.
 */
export class ListReader {
  readonly counts = { lists: 0, pages: 0, rows: 0, expired: 0 };
  difference: Difference | undefined;
  readonly #run: RunState;
  readonly #random: Random;
  readonly #prefixes: string[] = [''];
  #revision = 0;

  constructor(run: RunState, random: Random) {
    this.#run = run;
    this.#random = random;
  }

  /** Works until `isOver`, and reads one list more. */
  async serve(isOver: () => boolean): Promise<void> {
    const { store, clock, signal } = this.#run;
    for (const { key } of store.range({ prefix: '', keysOnly: true }).kvs) this.#learn(key);
    for (let isLast = false; !isLast; ) {
      isLast = isOver();
      const before = this.#revision;
      const isWhole = isLast || pick(this.#random, WHOLE_EVERY) === 0;
      await this.#list(isWhole ? '' : pickFrom(this.#random, this.#prefixes));
      await delay(clock, this.#revision === before ? QUIET_MS : BUSY_MS, signal);
    }
  }

  async #list(prefix: string): Promise<void> {
    const { store, clock, signal } = this.#run;
    const whole = store.range({ prefix });
    if (whole.revision < this.#revision) {
      this.#expect(prefix, `revision ${this.#revision} or newer`, `revision ${whole.revision}`);
    }
    this.#revision = whole.revision;
    // A handful of pages, however long the list is.
    const limit = 1 + pick(this.#random, 1 + Math.ceil(whole.count / 4));
    const rows: KeyValue<Resource>[] = [];
    try {
      let page = store.range({ prefix, limit });
      for (;;) {
        this.counts.pages++;
        rows.push(...page.kvs);
        if (page.continue === undefined) break;
        await delay(clock, 0, signal);
        page = store.range({ prefix, limit, continue: page.continue });
      }
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      this.counts.expired++;
      return;
    }
    this.counts.lists++;
    this.counts.rows += rows.length;
    this.#compare(prefix, whole.kvs, rows);
  }

  #compare(prefix: string, whole: readonly KeyValue<Resource>[], pages: readonly KeyValue<Resource>[]): void {
    for (let index = 0; index < Math.max(whole.length, pages.length); index++) {
      const expected = describe(whole[index]);
      const actual = describe(pages[index]);
      if (expected !== actual) this.#expect(prefix, expected, actual);
    }
  }

  /** Everything of one kind, or of one kind in one namespace. */
  #learn(key: string): void {
    const parts = key.split('/');
    for (const length of [parts.length - 2, parts.length - 1]) {
      const prefix = `${parts.slice(0, length).join('/')}/`;
      if (this.#prefixes.length < PREFIXES_MAX && !this.#prefixes.includes(prefix)) this.#prefixes.push(prefix);
    }
  }

  #expect(key: string, expected: string, actual: string): void {
    this.difference ??= { key, expected, actual };
  }
}

function describe(kv: KeyValue<Resource> | undefined): string {
  return kv === undefined ? 'the end of the list' : `${kv.key} at revision ${kv.modRevision}`;
}
