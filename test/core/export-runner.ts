import type { CoreExports } from '../../src/core/abi.ts';
import { STATUS_FULL, STATUS_INVALID, STATUS_NOT_FOUND, STATUS_OK } from '../../src/core/abi.ts';
import type { FilterCode } from '../../src/core/core.ts';
import type { ByteRange } from '../../src/types/backend.ts';
import { NaiveCore } from '../support/naive-core.ts';
import type { ExportProgram, RangeStep, Step } from './export-program.ts';
import { GuardedMemory } from './guarded-memory.ts';

/**
 * Runs a program on the exports and on the oracle, with every answer compared, every refusal checked to have changed
 * nothing, and the guards looked at after every step. Throws for the first step that is wrong.
 *
 * @param core a new one, on which nothing was called yet
 */
export function runExportProgram(core: CoreExports, program: ExportProgram): void {
  const runner = new ExportRunner(core, program);
  for (const [index, step] of program.steps.entries()) {
    try {
      runner.step(step);
    } catch (error) {
      throw new Error(`step ${index + 1}, ${step.do}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
  runner.end();
}

const LIMIT_MAX = 0x7fff0000;
/** Parts of the account of memory (`assembly/account.ts`). */
const MEMORY_PARTS = 8;
const NOTHING = { events: 0, newKeys: 0, keyBytes: 0, longest: 0 };
/** Slots in a page of results; asked once, as `Core` does. */
type Reader = (pointer: number, startLength: number, endLength: number) => number;

class ExportRunner {
  readonly #e: CoreExports;
  readonly #memory: GuardedMemory;
  readonly #naive = new NaiveCore();
  readonly #keys: readonly Buffer[];
  readonly #slots = new Map<number, number>();
  /** Key ids of the oracle, and what the core calls them. */
  readonly #ids = new Map<number, number>();
  readonly #pageWords: number;
  #commit = 0;
  /** The newest commit that was appended; a compaction may be ahead of it. */
  #newest = 0;
  #target = 0;
  #isLimited = false;
  /** What the last `reserve` promised and no call has used yet. */
  #promised = NOTHING;

  constructor(core: CoreExports, program: ExportProgram) {
    this.#e = core;
    this.#memory = new GuardedMemory(this.#e);
    this.#keys = program.keys.map((key) => Buffer.from(key, 'latin1'));
    this.#pageWords = this.#e.outputWords();
  }

  step(step: Step): void {
    switch (step.do) {
      case 'intern':
        this.#intern(this.#key(step.key), step.at);
        break;
      case 'append':
        this.#append(step);
        break;
      case 'wrong append':
        this.#wrongAppend(step.keyId, step.commit);
        break;
      case 'look':
        this.#look(step);
        break;
      case 'number':
        this.#number(step.of, step.revision);
        break;
      case 'range':
        this.#range(step, step.limit);
        break;
      case 'events':
        this.#events(step, step.filter as FilterCode, step.most);
        break;
      case 'log':
        this.#log(step.back, step.entries);
        break;
      case 'compact':
        this.#compact(step.back, step.budget);
        break;
      case 'wrong compact':
        this.#wrongCompact(step.revision);
        break;
      case 'reserve':
        this.#reserve(step);
        break;
      case 'limit':
        this.#e.setMemoryLimit(Math.max(0, Math.min(LIMIT_MAX, this.#e.claimedBytes() + step.spare)));
        this.#isLimited = true;
        this.#promised = NOTHING;
        break;
      case 'input':
        this.#memory.input(step.bytes, this.#isLimited);
        break;
    }
    this.#memory.check();
  }

  /** All of the structure, and everything in it once more. */
  end(): void {
    same('verify', this.#e.verify(), 0);
    same('keyRegion', this.#e.keyRegion(), this.#memory.keyRegion);
    same('keyRegionBytes', this.#e.keyRegionBytes(), this.#memory.keyRegionBytes);
    const log = this.#naive.log();
    same('logLength', this.#e.logLength(), log.length);
    same('firstCommit', this.#e.firstCommit(), log[0]?.commit ?? 0);
    same('lastCommit', this.#e.lastCommit(), log.at(-1)?.commit ?? 0);
    same('keyCount', this.#e.keyCount(), this.#naive.keys.size);
    same('versionCount', this.#e.versionCount(), this.#naive.versions.length);
    const live = this.#naive.range({ start: Buffer.alloc(0), end: Buffer.alloc(0) }, Number.POSITIVE_INFINITY, 0);
    same('liveKeyCount', this.#e.liveKeyCount(), live.length);
    for (const [slot, naiveSlot] of this.#slots) this.#compareVersion(slot, naiveSlot);
    const parts = Array.from({ length: MEMORY_PARTS }, (_, part) => this.#e.memoryPart(part));
    same(
      'the account of memory',
      parts.reduce((sum, bytes) => sum + bytes, 0),
      this.#e.claimedBytes(),
    );
    same('a part that is none', this.#e.memoryPart(MEMORY_PARTS), 0);
    this.#memory.check();
  }

  #intern(key: Buffer, at: number): number {
    const pointer = this.#memory.put(key, at);
    if (pointer === 0) return -1;
    const known = this.#naive.findKey(key);
    const before = this.#sizes();
    const id = this.#e.internKey(pointer, key.length);
    if (known >= 0) {
      same('internKey of a known key', id, this.#ids.get(known));
      return known;
    }
    const { newKeys, keyBytes, longest } = this.#promised;
    const isPromised = newKeys > 0 && keyBytes >= key.length && longest >= key.length;
    if (id === STATUS_FULL && this.#isLimited && !isPromised) {
      same('sizes after a refusal', this.#sizes(), before);
      same('findKey after a refusal', this.#e.findKey(pointer, key.length), STATUS_NOT_FOUND);
      return -1;
    }
    if (id < 0 || [...this.#ids.values()].includes(id)) throw new Error(`internKey answered ${id}`);
    this.#promised = isPromised
      ? { ...this.#promised, newKeys: newKeys - 1, keyBytes: keyBytes - key.length }
      : NOTHING;
    const naiveId = this.#naive.internKey(key);
    this.#ids.set(naiveId, id);
    same('headSlot of a new key', this.#e.headSlot(id), STATUS_NOT_FOUND);
    return naiveId;
  }

  #append(step: Extract<Step, { do: 'append' }>): void {
    const keyId = this.#intern(this.#key(step.key), 0);
    if (keyId < 0) return;
    const id = this.#ids.get(keyId) ?? -1;
    const newest = this.#naive.at(keyId, Number.POSITIVE_INFINITY);
    const tombstone = step.tombstone && newest !== undefined && !newest.tombstone;
    const commit = this.#commit + step.jump;
    const mod = commit - step.modBack;
    const create = tombstone ? 0 : step.create < 0 ? mod : step.create;
    const before = this.#sizes();
    const slot = this.#e.append(id, commit, mod, create, step.version, step.lease, tombstone ? 1 : 0);
    const isPromised = this.#promised.events > 0;
    if (slot === STATUS_FULL && this.#isLimited && !isPromised) {
      same('sizes after a refusal', this.#sizes(), before);
      same('verify after a refusal', this.#e.verify(), 0);
      return;
    }
    if (slot < 0 || this.#slots.has(slot)) throw new Error(`append answered ${slot}`);
    this.#promised = { ...this.#promised, events: Math.max(0, this.#promised.events - 1) };
    this.#commit = commit;
    this.#newest = commit;
    const { version, lease } = step;
    this.#slots.set(slot, this.#naive.append({ keyId, commit, mod, create, version, lease, tombstone }));
    same('headSlot', this.#e.headSlot(id), slot);
  }

  /** An id that names nothing, or a commit that goes backwards: refused, with nothing changed. */
  #wrongAppend(keyId: number, commit: number): void {
    const isKnown = [...this.#ids.values()].includes(keyId | 0);
    if (isKnown && commit >= this.#newest) return;
    const before = this.#sizes();
    same('append', this.#e.append(keyId, commit, commit, commit, 1, 0, 0), STATUS_INVALID);
    same('sizes after a refusal', this.#sizes(), before);
  }

  #look(step: Extract<Step, { do: 'look' }>): void {
    const key = this.#key(step.key);
    const pointer = this.#memory.put(key, step.at);
    if (pointer === 0) return;
    const naiveId = this.#naive.findKey(key);
    const id = this.#e.findKey(pointer, key.length);
    same('findKey', id, naiveId < 0 ? STATUS_NOT_FOUND : this.#ids.get(naiveId));
    if (naiveId < 0) return;
    const stored = this.#e.keyPointer(id);
    same('keyLength', this.#e.keyLength(id), key.length);
    same('key bytes', this.#memory.bytes(stored, key.length).toString('latin1'), key.toString('latin1'));
    const version = this.#naive.at(naiveId, this.#revision(step.back));
    const slot = this.#e.slotAt(id, this.#revision(step.back));
    same('slotAt', slot < 0 ? slot : this.#slots.get(slot), version?.slot ?? STATUS_NOT_FOUND);
    if (version !== undefined) this.#compareVersion(slot, version.slot);
  }

  #compareVersion(slot: number, naiveSlot: number): void {
    const version = this.#naive.versions.find((candidate) => candidate.slot === naiveSlot);
    if (version === undefined) throw new Error(`slot ${slot} outlived its version`);
    same('commitRevision', this.#e.commitRevision(slot), version.commit);
    same('modRevision', this.#e.modRevision(slot), version.mod);
    same('createRevision', this.#e.createRevision(slot), version.create);
    same('versionNumber', this.#e.versionNumber(slot), version.version);
    same('leaseTag', this.#e.leaseTag(slot), version.lease);
    same('keyOfVersion', this.#e.keyOfVersion(slot), this.#ids.get(version.keyId));
    same('tombstoneFlag', this.#e.tombstoneFlag(slot), version.tombstone ? 1 : 0);
  }

  /** Any number where an id or a slot belongs: an answer of its own, whatever the number. */
  #number(of: number, revision: number): void {
    if (![...this.#ids.values()].includes(of | 0)) {
      same('keyPointer', this.#e.keyPointer(of), 0);
      same('keyLength', this.#e.keyLength(of), 0);
      same('headSlot', this.#e.headSlot(of), STATUS_INVALID);
      same('slotAt', this.#e.slotAt(of, revision), STATUS_INVALID);
    }
    if (this.#slots.has(of | 0)) return;
    for (const name of ['commitRevision', 'modRevision', 'createRevision', 'versionNumber', 'leaseTag'] as const) {
      same(name, this.#e[name](of), Number.NaN);
    }
    same('keyOfVersion', this.#e.keyOfVersion(of), STATUS_NOT_FOUND);
    same('tombstoneFlag', this.#e.tombstoneFlag(of), STATUS_NOT_FOUND);
  }

  #range(step: RangeStep, limit: number): void {
    const revision = this.#revision(step.back);
    const range = this.#bounds(step);
    const expected = this.#naive.range(range, revision, limit);
    this.#read(
      range,
      step.at,
      (pointer, start, end) => {
        const slots = this.#pages(this.#e.range(pointer, start, end, revision, limit), () => this.#e.rangeMore());
        same('range', this.#known(slots), expected.join());
        return this.#e.count(pointer, start, end, revision);
      },
      this.#naive.range(range, revision, 0).length,
    );
  }

  #events(step: RangeStep, filter: FilterCode, most: number): void {
    const from = this.#revision(step.back);
    const range = this.#bounds(step);
    // Both filters at once let nothing pass; the oracle knows one at a time.
    const none = (filter as number) === 3;
    const next = none ? 0 : this.#naive.nextCommit(range, from, filter);
    this.#read(
      range,
      step.at,
      (pointer, start, end) => {
        const replayed = this.#e.replay(pointer, start, end, from, filter, most);
        const slots = this.#pages(replayed, () => this.#e.replayMore());
        same('replay', this.#known(slots), none ? '' : this.#naive.replay(range, from, filter, most).join());
        const commit = next === 0 ? from : next;
        const events = this.#pages(this.#e.eventsAt(pointer, start, end, commit, filter), () => this.#e.eventsMore());
        same('eventsAt', this.#known(events), none ? '' : this.#naive.eventsAt(range, commit, filter).join());
        return this.#e.nextCommit(pointer, start, end, from, filter);
      },
      next,
    );
  }

  #read(range: ByteRange, at: number, ask: Reader, expected: number): void {
    const end = range.end === undefined ? -1 : range.end.length;
    const pointer = this.#memory.put(Buffer.concat([range.start, range.end ?? Buffer.alloc(0)]), at);
    if (pointer !== 0) same('the last answer', ask(pointer, range.start.length, end), expected);
  }

  #log(back: number, entries: number): void {
    const log = this.#naive.log();
    const from = this.#revision(back);
    same('entriesFrom', this.#e.entriesFrom(from), log.filter(({ commit }) => commit >= from).length);
    same('commitFromEnd', this.#e.commitFromEnd(entries), entries === 0 ? 0 : (log.at(-entries)?.commit ?? 0));
  }

  /** A whole compaction, in steps. */
  #compact(back: number, budget: number): void {
    const target = Math.max(this.#target, this.#commit - back);
    if (target === Number.POSITIVE_INFINITY) return;
    this.#target = target;
    const freed: number[] = [];
    const dropped: number[] = [];
    for (let left = budget, isDone = false; !isDone; left = Math.max(left, 1)) {
      same('compactStep', this.#e.compactStep(target, left), STATUS_OK);
      const [free = 0, drop = 0, done = 0, offset = 0, entries = 0] = this.#memory.output(5);
      if (entries > left) throw new Error(`a step of ${left} entries worked on ${entries}`);
      freed.push(...this.#memory.output(5 + free).subarray(5));
      dropped.push(...this.#memory.output(offset + drop).subarray(offset));
      isDone = done === 1;
    }
    const expected = this.#naive.compact(target);
    same('freed slots', this.#known(Uint32Array.from(freed.sort(byNumber)), true), sorted(expected.freedSlots));
    const ids = [...expected.droppedKeys].map((keyId) => this.#ids.get(keyId) ?? -1);
    same('dropped keys', sorted(dropped), sorted(ids));
    for (const keyId of expected.droppedKeys) this.#ids.delete(keyId);
    for (const slot of freed) this.#slots.delete(slot);
    same('verify', this.#e.verify(), 0);
    this.#commit = Math.max(this.#commit, target);
  }

  #wrongCompact(revision: number): void {
    if (revision >= this.#target) return;
    const before = this.#sizes();
    same('compactStep', this.#e.compactStep(revision, 10), STATUS_INVALID);
    same('sizes after a refusal', this.#sizes(), before);
  }

  #reserve({ events, newKeys, keyBytes, longest }: Extract<Step, { do: 'reserve' }>): void {
    const before = this.#sizes();
    const status = this.#e.reserve(events, newKeys, keyBytes, longest);
    same('sizes after reserve', this.#sizes(), before);
    if (status !== STATUS_OK && status !== STATUS_FULL) throw new Error(`reserve answered ${status}`);
    const isModest = events <= 2000 && newKeys <= 50 && longest <= 60;
    if (status === STATUS_FULL && isModest && !this.#isLimited) throw new Error('reserve refused without a limit');
    this.#promised = status === STATUS_OK ? { events, newKeys, keyBytes, longest } : NOTHING;
    if (status === STATUS_OK) return;
    // Of a single new key the core looks at the bytes. The promise has a property test of its own.
    const key = newKeys === 1 ? Buffer.alloc(Math.min(longest, 64), 'k') : undefined;
    const pointer = key === undefined ? 0 : this.#memory.put(key, 0);
    const exact = this.#e.reserveExact(pointer, key?.length ?? longest, 0, newKeys, events);
    if (exact !== STATUS_OK && exact !== STATUS_FULL) throw new Error(`reserveExact answered ${exact}`);
    same('sizes after reserveExact', this.#sizes(), before);
    // What was set aside is for nobody: another call lets go of it, whatever it answers.
    this.#e.reserve(0, 0, 0, 0);
  }

  #pages(count: number, more: () => number): Uint32Array {
    const slots: number[] = [...this.#memory.output(count)];
    for (let last = count; last === this.#pageWords; ) {
      last = more();
      slots.push(...this.#memory.output(last));
    }
    return Uint32Array.from(slots);
  }

  /** Slots of the core as those of the oracle. */
  #known(slots: Uint32Array, isSorted = false): string {
    const known = Array.from(slots, (slot) => this.#slots.get(slot) ?? -1);
    return isSorted ? sorted(known) : known.join();
  }

  #sizes(): string {
    const e = this.#e;
    return [e.keyCount(), e.liveKeyCount(), e.versionCount(), e.logLength(), e.firstCommit(), e.lastCommit()].join();
  }

  #key(index: number): Buffer {
    return this.#keys[index % this.#keys.length] ?? Buffer.alloc(0);
  }

  /** At or above the last compaction's target: below it the core answers what is left. */
  #revision(back: number): number {
    return Math.max(this.#target, this.#commit - back);
  }

  #bounds({ start, end, kind }: RangeStep): ByteRange {
    if (kind === 0) return { start: this.#key(start) };
    if (kind === 1) return { start: this.#key(start), end: Buffer.alloc(0) };
    if (kind === 2) return { start: this.#key(start), end: this.#key(end) };
    return { start: Buffer.alloc(0), end: Buffer.alloc(0) };
  }
}

const byNumber = (left: number, right: number): number => left - right;

function sorted(numbers: Iterable<number>): string {
  return [...numbers].sort(byNumber).join();
}

function same(what: string, actual: unknown, expected: unknown): void {
  if (!Object.is(actual, expected)) throw new Error(`${what}: got ${String(actual)}, expected ${String(expected)}`);
}
