import { ClosedError, LimitExceededError } from '../types/errors.ts';
import type {
  Observation,
  WriterLease,
  WriterLeaseGroups,
  WriterLeaseGroupsOptions,
  WriterLeaseOptions,
  WriterTry,
} from '../types/writer-lease.ts';
import { checkCount, checkOptional } from './writer-checks.ts';
import { createWriterLease } from './writer-lease.ts';

const ACTION = 'create writer lease groups';

/**
 * Makes {@link WriterLeaseGroups}: a writer lease for each group of keys (a shard, a tenant, each key by itself), made when
 * its first key comes. Groups have nothing in common but the options: two leaders never wait for each other, and a key in
 * difficulties slows down its own group alone (WL25). Replicas that group keys differently still do no harm, and save
 * less.
 *
 * Bound: `groupsMax`; one more is refused. `drop` makes room.
 *
 * @throws TypeError and RangeError as `createWriterLease` does
 * @example
 * ```ts
 * import { createWriterLeaseGroups } from 'plimsoll';
 *
 * const writers = createWriterLeaseGroups<string>({ groupOf: (key) => key.split('/')[0] ?? '' });
 * writers.observe('tenant-a/status', { revision: 7, value: 'ready', wanted: 'ready' });
 * console.log(writers.group('tenant-a')?.role); // 'follower'
 * await writers.close();
 * ```
 */
export function createWriterLeaseGroups<V = unknown>(options: WriterLeaseGroupsOptions<V>): WriterLeaseGroups<V> {
  if (typeof options !== 'object' || options === null) throw new TypeError(`Cannot ${ACTION}: there are no options`);
  const { groupOf, groupsMax = 1000, ...each } = options;
  if (groupOf === undefined) throw new TypeError(`Cannot ${ACTION}: groupOf is missing`);
  checkOptional(ACTION, 'groupOf', groupOf, 'function');
  checkCount(ACTION, 'groupsMax', groupsMax);
  // What is wrong with the options is said now, not when the first key comes.
  void createWriterLease(each).close();
  return new Groups(groupOf, groupsMax, each);
}

class Groups<V> implements WriterLeaseGroups<V> {
  readonly #groupOf: (key: string) => string;
  readonly #max: number;
  readonly #options: WriterLeaseOptions<V>;
  readonly #groups = new Map<string, WriterLease<V>>();
  #isClosed = false;

  constructor(groupOf: (key: string) => string, max: number, options: WriterLeaseOptions<V>) {
    this.#groupOf = groupOf;
    this.#max = max;
    this.#options = options;
  }

  try(key: string, request: WriterTry<V>): boolean {
    if (this.#isClosed) throw new ClosedError('try a key');
    return this.#lease(key, 'try a key').try(key, request);
  }

  observe(key: string, observation: Observation<V>): void {
    if (!this.#isClosed) this.#lease(key, 'observe a key').observe(key, observation);
  }

  remove(key: string): void {
    this.#groups.get(this.#groupOf(key))?.remove(key);
  }

  group(name: string): WriterLease<V> | undefined {
    return this.#groups.get(name);
  }

  groups(): readonly string[] {
    return [...this.#groups.keys()];
  }

  async drop(name: string): Promise<void> {
    const lease = this.#groups.get(name);
    this.#groups.delete(name);
    await lease?.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#groups.keys()].map((name) => this.drop(name)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #lease(key: string, action: string): WriterLease<V> {
    const name = this.#groupOf(key);
    const found = this.#groups.get(name);
    if (found !== undefined) return found;
    if (typeof name !== 'string') {
      throw new TypeError(`Cannot ${action}: groupOf answered a value of type ${typeof name}, not a string`);
    }
    if (this.#groups.size >= this.#max) {
      throw new LimitExceededError(action, { limit: 'groupsMax', max: this.#max, actual: this.#max + 1 });
    }
    const made = createWriterLease<V>(this.#options);
    this.#groups.set(name, made);
    return made;
  }
}
