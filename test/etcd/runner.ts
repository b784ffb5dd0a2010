import type { Key } from '../../src/types/revision.ts';
import { Deadlines } from './deadlines.ts';
import type { Coverage } from './marks.ts';
import type { Program, Start, Step } from './program.ts';
import { resolveAt, resolveSelection, resolveTxn } from './resolve.ts';
import { Mismatch, Stores } from './stores.ts';
import type { Answer, Call, RangeCall, Subject, WatchCall } from './subject.ts';
import { type Seen, WatchPairs } from './watch-pairs.ts';

/** The two stores that are compared. */
export interface Subjects {
  readonly memory: Subject;
  readonly etcd: Subject;
}

/**
 * Runs one program on both stores, step by step. Rejects with a {@link Mismatch} at the first answer, and at the end at
 * the first batch of a watch, that is not the same.
 */
export async function runProgram(program: Program, subjects: Subjects, mark: Coverage, seen: Seen): Promise<void> {
  const { memory, etcd } = subjects;
  const run = new Run(program, new Stores(memory, etcd, mark), seen);
  await memory.begin(program.settings);
  await etcd.begin(program.settings);
  try {
    for (const [index, step] of program.steps.entries()) await at(`step ${index + 1}`, () => run.step(step));
    await at('the end', () => run.finish());
  } finally {
    await memory.end();
    await etcd.end();
  }
}

async function at(place: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Mismatch) error.message = `${place}: ${error.message}`;
    throw error;
  }
}

/** etcd keeps ties of so many rows in key order, not of more. */
const STABLE_ROWS_MAX = 12;

class Run {
  readonly #isExpiry: boolean;
  readonly #wholeRange: RangeCall;
  readonly #stores: Stores;
  readonly #watches: WatchPairs;
  readonly #deadlines = new Deadlines();
  /** Those that have a next page. */
  readonly #ranges = new Map<number, RangeCall>();

  constructor({ settings }: Program, stores: Stores, seen: Seen) {
    const isText = settings.keys === 'utf8';
    this.#isExpiry = settings.expiry;
    this.#stores = stores;
    this.#watches = new WatchPairs(stores, isText, seen);
    this.#wholeRange = {
      ...{ op: 'range', id: -1, range: { prefix: isText ? '' : new Uint8Array(0) }, revision: undefined },
      ...{
        limit: undefined,
        keysOnly: false,
        countOnly: false,
        sortTarget: undefined,
        sortOrder: undefined,
        bounds: {},
      },
    };
  }

  async step(step: Step): Promise<void> {
    const { revision } = this.#stores;
    switch (step.op) {
      case 'put':
      case 'delete':
        return this.#write(step);
      case 'txn':
        await this.#stores.perform({ op: 'txn', ...resolveTxn(step, revision) });
        return;
      case 'get':
        await this.#stores.perform({ op: 'get', key: step.key, revision: resolveAt(step.at, revision) });
        return;
      case 'range': {
        const { op, id, range, at: where } = step;
        return this.#range({
          op,
          id,
          range,
          revision: resolveAt(where, revision),
          ...resolveSelection(step, revision),
        });
      }
      case 'page': {
        const of = [...this.#ranges.values()][step.pick % Math.max(this.#ranges.size, 1)];
        if (of !== undefined) await this.#range(of, { op: 'page', of });
        return;
      }
      case 'compact':
        await this.#watches.catchUp();
        await this.#stores.perform({ op: 'compact', revision: Math.max(1, this.#stores.revision - step.back) });
        return;
      case 'watch': {
        const { op, id, start, ...rest } = step;
        return this.#watches.open(id, { ...rest, start: this.#start(start) });
      }
      case 'cancel':
        return this.#watches.cancel(step.pick);
      case 'sleep':
        return this.#sleep(step.ms);
      case 'grant':
      case 'revoke':
      case 'keepAlive':
        return this.#lease(step);
      default:
        await this.#stores.perform(step);
    }
  }

  finish(): Promise<void> {
    return this.#watches.finish();
  }

  async #write(step: Extract<Step, { op: 'put' | 'delete' }>): Promise<void> {
    const key = step.op === 'put' ? step.key : 'key' in step.range ? step.range.key : undefined;
    const expect = key === undefined ? undefined : await this.#expect(step, key);
    const { expect: _, ...rest } = step;
    await this.#stores.perform({ ...rest, ...(expect === undefined ? {} : { expect }) });
  }

  async #range(range: RangeCall, call: Call = range): Promise<void> {
    const { more, count } = await this.#stores.perform(call);
    if (Number(count) > STABLE_ROWS_MAX)
      throw new TypeError(`Cannot compare ties of ${count} rows: see the vocabulary`);
    const isInKeyOrder = (range.sortTarget ?? 'key') === 'key' && range.sortOrder !== 'descend';
    if (more === true && isInKeyOrder) this.#ranges.set(range.id, range);
    else this.#ranges.delete(range.id);
  }

  async #lease(step: Extract<Step, { op: 'grant' | 'revoke' | 'keepAlive' }>): Promise<void> {
    const ttlMs = step.op === 'grant' ? step.ttlMs : undefined;
    // Two that are due at about the same time may expire in any order on etcd.
    if (this.#isExpiry && step.op !== 'revoke' && !this.#deadlines.fits(step.lease, ttlMs)) return;
    const answer = await this.#stores.perform(step);
    if (answer.error !== undefined) return;
    if (step.op === 'grant') this.#deadlines.granted(step.lease, step.ttlMs);
    else if (step.op === 'keepAlive') this.#deadlines.kept(step.lease);
    else this.#deadlines.revoked(step.lease);
  }

  /** Time goes on; then everything is looked at. */
  async #sleep(wanted: number): Promise<void> {
    const { ms, due } = this.#deadlines.sleep(wanted);
    const before = await this.#statusOf(due);
    await this.#stores.memory.sleep(ms, due);
    await this.#stores.etcd.sleep(ms, due);
    await this.#stores.perform(this.#wholeRange);
    await this.#stores.perform({ op: 'leases' });
    await this.#statusOf([...due, ...this.#deadlines.names]);
    for (const { keys } of before) {
      const count = Array.isArray(keys) ? keys.length : 0;
      this.#stores.mark(`expiry: ${count === 0 ? 'no key' : count === 1 ? 'one key' : 'several keys'}`);
    }
    if (due.length > 1) this.#stores.mark('expiry: several leases, one after the other');
  }

  async #statusOf(names: readonly string[]): Promise<readonly Answer[]> {
    const result: Answer[] = [];
    for (const lease of names) result.push(await this.#stores.perform({ op: 'timeToLive', lease, withKeys: true }));
    return result;
  }

  /** The mod revision that a write expects; what the key has now is asked of both. */
  async #expect(step: Extract<Step, { op: 'put' | 'delete' }>, key: Key): Promise<number | undefined> {
    if (step.expect === 'nothing') return undefined;
    if (step.expect === 'absent') return 0;
    const { kv } = await this.#stores.perform({ op: 'get', key, revision: undefined });
    const mod = (kv as { mod?: number } | null | undefined)?.mod ?? 0;
    return step.expect === 'current' ? mod : mod + 1;
  }

  #start(start: Start): WatchCall['start'] {
    if (start === 'initial') return start;
    const { compacted, revision } = this.#stores;
    return start === 'compacted' ? Math.max(1, compacted) : resolveAt(start, revision);
  }
}
