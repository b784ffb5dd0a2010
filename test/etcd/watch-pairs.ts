import { isDeepStrictEqual } from 'node:util';
import type { Key, KeyRange } from '../../src/types/revision.ts';
import { type DifferenceId, withoutTombstonesAt } from './differences.ts';
import { show } from './program.ts';
import { Mismatch, type Stores } from './stores.ts';
import { isWatch, type SubjectWatch, type WatchCall } from './subject.ts';

/** A listed difference showed. */
export type Seen = (id: DifferenceId) => void;

/** More are not opened: each is a connection, and has to be written to at the end. */
const WATCHES_MAX = 4;
/** Writes until a watch of the future has begun; starts lie at most 4 revisions ahead. */
const BARRIERS_MAX = 8;

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

/** The watches of a program. */
export class WatchPairs {
  readonly #stores: Stores;
  readonly #isText: boolean;
  readonly #seen: Seen;
  readonly #pairs = new Map<number, Pair>();
  #barriers = 0;

  constructor(stores: Stores, isText: boolean, seen: Seen) {
    this.#stores = stores;
    this.#isText = isText;
    this.#seen = seen;
  }

  async open(id: number, call: WatchCall): Promise<void> {
    if (this.#pairs.size >= WATCHES_MAX) return;
    const { revision, compacted, mark } = this.#stores;
    const memory = await this.#stores.memory.watch(call);
    const etcd = await this.#stores.etcd.watch(call);
    if (!isWatch(memory) || !isWatch(etcd)) {
      const [left, right] = [isWatch(memory) ? { watch: 'open' } : memory, isWatch(etcd) ? { watch: 'open' } : etcd];
      if (!isDeepStrictEqual(left, right)) throw Mismatch.of(`watch ${show(call)}`, left, right);
      mark(`watch: ${left.error}`);
      return;
    }
    const from = typeof call.start === 'number' ? call.start : 0;
    const isPast = from > 0 && from <= revision;
    mark(
      call.start === 'initial' ? 'watch: initial' : isPast ? 'watch: past' : `watch: ${from > 0 ? 'future' : 'now'}`,
    );
    if (call.filter !== undefined) mark(`watch: ${call.filter}`);
    const forgets = from > 0 && from === compacted ? from : undefined;
    this.#pairs.set(id, { id, call, memory, etcd, forgets, isCaughtUp: !isPast });
  }

  async cancel(pick: number): Promise<void> {
    const pair = [...this.#pairs.values()][pick % Math.max(this.#pairs.size, 1)];
    if (pair === undefined) return;
    this.#stores.mark('cancel: ok');
    await this.#barrier(pair);
    await this.#close(pair);
  }

  /** Before a compaction. Twice: catching one up may write, which the others have to deliver as well before history goes. */
  async catchUp(): Promise<void> {
    for (const pair of [...this.#pairs.values(), ...this.#pairs.values()]) await this.#catchUp(pair);
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

  /** Resolves when both have delivered what there is, without a further write if that can be known. */
  async #catchUp(pair: Pair): Promise<void> {
    await pair.memory.reached(this.#stores.revision);
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
    await pair.memory.reached(this.#stores.revision);
    if (pair.memory.ended !== undefined || pair.etcd.ended !== undefined) {
      return this.#reached(pair, Number.POSITIVE_INFINITY);
    }
    const { range, filter, start } = pair.call;
    const from = typeof start === 'number' ? start : 0;
    const nothing = { lease: undefined, ignoreValue: false, ignoreLease: false };
    let expected = 0;
    for (let round = 0; round < BARRIERS_MAX && (round === 0 || expected < from); round++) {
      const key = keyIn(range, this.#isText);
      const value = `barrier ${this.#barriers++}`;
      await this.#stores.perform({ op: 'put', key, value, prevKv: false, ...nothing });
      if (filter !== 'noput') expected = this.#stores.revision;
      await this.#stores.perform({ op: 'delete', range: { key }, prevKv: true });
      if (filter !== 'nodelete') expected = this.#stores.revision;
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
    const { mark } = this.#stores;
    const what = `watch ${show(call)}`;
    if (!isDeepStrictEqual(memory.ended, etcd.ended)) throw Mismatch.of(`${what}, its end`, memory.ended, etcd.ended);
    if (memory.ended !== undefined) mark(`watch: ${memory.ended.error}`);
    for (const { events } of memory.batches) {
      for (const event of events) {
        mark(`event: ${event.type}${event.prev === null ? '' : ' with prevKv'}`);
        if (event.type === 'put' && event.row.lease !== '0') mark('event: put with a lease');
      }
    }
    if (isDeepStrictEqual(memory.batches, etcd.batches)) return;
    if (forgets !== undefined && isDeepStrictEqual(withoutTombstonesAt(forgets, memory.batches), etcd.batches)) {
      this.#seen('E2');
      return;
    }
    const index = memory.batches.findIndex((batch, place) => !isDeepStrictEqual(batch, etcd.batches[place]));
    const first = index < 0 ? memory.batches.length : index;
    throw Mismatch.of(`${what}, batch ${first + 1}`, memory.batches[first], etcd.batches[first]);
  }
}

/** Any key of a range that has some. */
function keyIn(range: KeyRange<Key>, isText: boolean): Key {
  const first = 'key' in range ? range.key : 'prefix' in range ? range.prefix : range.start;
  if (first.length > 0) return first;
  return isText ? '\0' : Uint8Array.of(0);
}
