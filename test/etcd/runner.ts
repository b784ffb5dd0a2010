import { isDeepStrictEqual } from 'node:util';
import type { Key, KeyRange } from '../../src/types/revision.ts';
import { type DifferenceId, withoutTombstonesAt } from './differences.ts';
import { type At, type CompareStep, type Program, type Start, type Step, show } from './program.ts';
import type { Subject, SubjectWatch, WatchCall } from './subject.ts';
import { type Answer, type Call, type CompareCall, isWatch, type RangeCall } from './subject.ts';

/** The embedded store and etcd answered differently. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
}

/** How often each thing happened. */
export type Coverage = (mark: string) => void;
/** A listed difference showed. */
export type Seen = (id: DifferenceId) => void;

export interface Stores {
  readonly memory: Subject;
  readonly etcd: Subject;
}

/** More are not opened: each is a connection, and has to be written to at the end. */
const WATCHES_MAX = 4;
/** Writes until a watch of the future has begun; starts lie at most 4 revisions ahead. */
const BARRIERS_MAX = 8;

/**
 * Runs one program on both stores, step by step. Rejects with a {@link Mismatch} at the first answer, and at the end at
 * the first batch of a watch, that is not the same.
 */
export async function runProgram(program: Program, stores: Stores, mark: Coverage, seen: Seen): Promise<void> {
  const run = new Run(program, stores, mark, seen);
  await stores.memory.begin(program.settings);
  await stores.etcd.begin(program.settings);
  try {
    for (const [index, step] of program.steps.entries()) await at(`step ${index + 1}`, () => run.step(step));
    await at('the end', () => run.finish());
  } finally {
    await stores.memory.end();
    await stores.etcd.end();
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

/**
 * A watch on both stores.
 *
 * etcd serves a watch of the past from a loop that runs every 100 ms, and a compaction may come before it. The embedded
 * store has no such moment, so nothing is compacted or cancelled until etcd's watch is known to be past it
 * (`isCaughtUp`): it delivered something, or it began at the newest revision and never was behind.
 */
interface Pair {
  readonly id: number;
  readonly call: WatchCall;
  readonly memory: SubjectWatch;
  readonly etcd: SubjectWatch;
  /** The compact revision if it is the start: what etcd forgets there is E2. */
  readonly forgets: number | undefined;
  isCaughtUp: boolean;
}

class Run {
  readonly #isText: boolean;
  readonly #stores: Stores;
  readonly #mark: Coverage;
  readonly #seen: Seen;
  readonly #ranges = new Map<number, RangeCall>();
  readonly #pairs = new Map<number, Pair>();
  #revision = 1;
  #compacted = 0;
  #barriers = 0;

  constructor(program: Program, stores: Stores, mark: Coverage, seen: Seen) {
    this.#isText = program.settings.keys === 'utf8';
    this.#stores = stores;
    this.#mark = mark;
    this.#seen = seen;
  }

  async step(step: Step): Promise<void> {
    this.#mark(step.op);
    switch (step.op) {
      case 'put':
      case 'delete': {
        const key = step.op === 'put' ? step.key : 'key' in step.range ? step.range.key : undefined;
        const expect = key === undefined ? undefined : await this.#expect(step, key);
        const { expect: _, ...rest } = step;
        await this.#both({ ...rest, ...(expect === undefined ? {} : { expect }) });
        return;
      }
      case 'txn':
        await this.#both({ ...step, compare: step.compare.map((one) => this.#compare(one)) });
        return;
      case 'get':
        await this.#both({ op: 'get', key: step.key, revision: this.#at(step.at) });
        return;
      case 'range': {
        const { at: where, ...rest } = step;
        return this.#range({ ...rest, revision: this.#at(where) });
      }
      case 'page': {
        const of = choose(this.#ranges, step.pick);
        if (of !== undefined) await this.#range(of, { op: 'page', of });
        return;
      }
      case 'compact':
        return this.#compact(Math.max(1, this.#revision - step.back));
      case 'watch':
        return this.#watch(step);
      case 'cancel': {
        const pair = choose(this.#pairs, step.pick);
        if (pair === undefined) return;
        await this.#barrier(pair);
        return this.#close(pair);
      }
    }
  }

  /**
   * Brings every watch to the present and compares what it delivered. One is closed before the next is brought there:
   * the writes for that one may be events of this one too, and nobody would wait for them.
   */
  async finish(): Promise<void> {
    for (const pair of [...this.#pairs.values()]) {
      await this.#barrier(pair);
      await this.#close(pair);
    }
  }

  /** One call on both; answers have to be equal in every field. */
  async #both(call: Call): Promise<Answer> {
    const memory = await this.#stores.memory.perform(call);
    const etcd = await this.#stores.etcd.perform(call);
    if (!isDeepStrictEqual(memory, etcd)) throw mismatch(show(call), memory, etcd);
    if (typeof memory.revision === 'number') this.#revision = memory.revision;
    this.#mark(typeof memory.error === 'string' ? `${call.op}: ${memory.error}` : `${call.op}: ok`);
    if (call.op === 'txn' && memory.succeeded === false) this.#mark('txn: else');
    return memory;
  }

  async #range(range: RangeCall, call: Call = range): Promise<void> {
    const { more } = await this.#both(call);
    if (more === true) this.#ranges.set(range.id, range);
    else this.#ranges.delete(range.id);
    if (more === true) this.#mark('range: more');
  }

  async #compact(revision: number): Promise<void> {
    // Twice: catching one up may write, which the others have to deliver as well before history goes.
    for (const pair of [...this.#pairs.values(), ...this.#pairs.values()]) await this.#catchUp(pair);
    const answer = await this.#both({ op: 'compact', revision });
    if (answer.error === undefined) this.#compacted = revision;
  }

  async #watch({ op, id, start, ...step }: Extract<Step, { op: 'watch' }>): Promise<void> {
    if (this.#pairs.size >= WATCHES_MAX) return;
    const call: WatchCall = { ...step, start: this.#start(start) };
    const memory = await this.#stores.memory.watch(call);
    const etcd = await this.#stores.etcd.watch(call);
    if (!isWatch(memory) || !isWatch(etcd)) {
      const [left, right] = [isWatch(memory) ? { watch: 'open' } : memory, isWatch(etcd) ? { watch: 'open' } : etcd];
      if (!isDeepStrictEqual(left, right)) throw mismatch(`${op} ${show(call)}`, left, right);
      this.#mark(`watch: ${left.error}`);
      return;
    }
    const from = typeof call.start === 'number' ? call.start : 0;
    const isPast = from > 0 && from <= this.#revision;
    this.#mark(
      call.start === 'initial' ? 'watch: initial' : isPast ? 'watch: past' : from > 0 ? 'watch: future' : 'watch: now',
    );
    const forgets = from > 0 && from === this.#compacted ? from : undefined;
    this.#pairs.set(id, { id, call, memory, etcd, forgets, isCaughtUp: !isPast });
  }

  /** Resolves when both have delivered what there is, without a further write if that can be known. */
  async #catchUp(pair: Pair): Promise<void> {
    await pair.memory.reached(this.#revision);
    if (pair.memory.ended !== undefined) return this.#reached(pair, Number.POSITIVE_INFINITY);
    const certain =
      pair.forgets === undefined ? pair.memory.batches : withoutTombstonesAt(pair.forgets, pair.memory.batches);
    const last = certain.at(-1);
    if (last !== undefined && !last.initial) {
      await this.#reached(pair, last.revision);
      pair.isCaughtUp = true;
    }
    if (!pair.isCaughtUp) await this.#barrier(pair);
  }

  /**
   * Writes a key of the watch's range, deletes it, and waits until etcd has delivered that: whatever was to come before
   * has come then. Events that only one of the two delivers show in the comparison.
   */
  async #barrier(pair: Pair): Promise<void> {
    await pair.memory.reached(this.#revision);
    if (pair.memory.ended !== undefined || pair.etcd.ended !== undefined) {
      return this.#reached(pair, Number.POSITIVE_INFINITY);
    }
    const { range, filter, start } = pair.call;
    const from = typeof start === 'number' ? start : 0;
    let expected = 0;
    for (let round = 0; round < BARRIERS_MAX && (round === 0 || expected < from); round++) {
      const key = keyIn(range, this.#isText);
      await this.#both({ op: 'put', key, value: `barrier ${this.#barriers++}`, prevKv: false });
      if (filter !== 'noput') expected = this.#revision;
      await this.#both({ op: 'delete', range: { key }, prevKv: true });
      if (filter !== 'nodelete') expected = this.#revision;
    }
    await this.#reached(pair, expected);
    await pair.memory.reached(expected);
    pair.isCaughtUp = true;
  }

  /** Waits for etcd; what does not come is a difference that is told with all that came. */
  async #reached(pair: Pair, revision: number): Promise<void> {
    if (await pair.etcd.reached(revision)) return;
    this.#same(pair);
    const what =
      revision === Number.POSITIVE_INFINITY ? 'end the watch as the embedded store did' : `deliver ${revision}`;
    throw new Mismatch(`watch ${show(pair.call)}: etcd did not ${what} in time`);
  }

  async #close(pair: Pair): Promise<void> {
    this.#same(pair);
    this.#pairs.delete(pair.id);
    await pair.memory.close();
    await pair.etcd.close();
  }

  /** Every batch with its revision and events, and the end. */
  #same({ call, memory, etcd, forgets }: Pair): void {
    const what = `watch ${show(call)}`;
    if (!isDeepStrictEqual(memory.ended, etcd.ended)) throw mismatch(`${what}, its end`, memory.ended, etcd.ended);
    if (memory.ended !== undefined) this.#mark(`watch: ${memory.ended.error}`);
    for (const { events } of memory.batches) {
      for (const { type, prev } of events) this.#mark(`event: ${type}${prev === null ? '' : ' with prevKv'}`);
    }
    if (isDeepStrictEqual(memory.batches, etcd.batches)) return;
    if (forgets !== undefined && isDeepStrictEqual(withoutTombstonesAt(forgets, memory.batches), etcd.batches)) {
      this.#seen('E2');
      return;
    }
    const index = memory.batches.findIndex((batch, place) => !isDeepStrictEqual(batch, etcd.batches[place]));
    const first = index < 0 ? memory.batches.length : index;
    throw mismatch(`${what}, batch ${first + 1}`, memory.batches[first], etcd.batches[first]);
  }

  /** The mod revision that a write expects; what the key has now is asked of both. */
  async #expect(step: Extract<Step, { op: 'put' | 'delete' }>, key: Key): Promise<number | undefined> {
    if (step.expect === 'nothing') return undefined;
    if (step.expect === 'absent') return 0;
    const { kv } = await this.#both({ op: 'get', key, revision: undefined });
    const mod = (kv as { mod?: number } | null | undefined)?.mod ?? 0;
    return step.expect === 'current' ? mod : mod + 1;
  }

  #compare(step: CompareStep): CompareCall {
    if (!('at' in step)) return step;
    const { key, target, result, at: where } = step;
    return { key, target, result, value: where === 'absent' ? 0 : Math.max(1, this.#revision - where.back) };
  }

  #start(start: Start): WatchCall['start'] {
    if (start === 'initial') return start;
    return start === 'compacted' ? Math.max(1, this.#compacted) : this.#at(start);
  }

  #at(where: At): number | undefined {
    if (where === undefined) return undefined;
    return 'raw' in where ? where.raw : Math.max(1, this.#revision - where.back);
  }
}

function choose<T>(open: ReadonlyMap<number, T>, pick: number): T | undefined {
  return [...open.values()][pick % Math.max(open.size, 1)];
}

/** Any key of a range that has some. */
function keyIn(range: KeyRange<Key>, isText: boolean): Key {
  const first = 'key' in range ? range.key : 'prefix' in range ? range.prefix : range.start;
  if (first.length > 0) return first;
  return isText ? '\0' : Uint8Array.of(0);
}

function mismatch(what: string, memory: unknown, etcd: unknown): Mismatch {
  return new Mismatch(`${what}\n      embedded ${show(memory)}\n      etcd     ${show(etcd)}`);
}
