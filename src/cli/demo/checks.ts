import type { KeyValue } from '../../types/revision.ts';
import type { Store } from '../../types/store.ts';
import type { DemoHandlers } from './demo-handlers.ts';
import { compareStates, type Difference, type Resource } from './difference.ts';
import type { ListReader } from './list-reader.ts';
import type { ReplayingWatcher } from './replaying-watcher.ts';
import type { SleepingWatcher } from './sleeping-watcher.ts';
import type { TrueObject } from './true-state.ts';
import { compareTruth, hashState, type TruthFile } from './truth-file.ts';

/** One thing that the demo shows. */
export interface Check {
  readonly name: string;
  /** `skipped`: the stream gives no occasion for it. */
  readonly outcome: 'ok' | 'failed' | 'skipped';
  /** What was found, with counts. */
  readonly summary: string;
  readonly difference?: Difference;
}

export interface CheckInput {
  readonly expected: ReadonlyMap<string, TrueObject>;
  readonly events: number;
  readonly listed: readonly KeyValue<Resource>[];
  readonly truthFile: TruthFile | undefined;
  readonly killAt: number | undefined;
  readonly store: Store<Resource>;
  readonly replaying: ReplayingWatcher;
  readonly sleeping: SleepingWatcher;
  readonly reader: ListReader;
  readonly handlers: DemoHandlers;
}

/** Everything the demo is there to show, in the order of the report. */
export function checkDemo(input: CheckInput): readonly Check[] {
  return [
    checkList(input),
    checkReads(input),
    checkReplay(input),
    checkCompaction(input),
    ...checkRelist(input),
    checkHandlers(input),
  ];
}

function checkList({ expected, listed, truthFile, events }: CheckInput): Check {
  const actual = new Map(listed.map((kv) => [kv.key, kv]));
  const difference =
    compareStates(expected, actual) ?? (truthFile === undefined ? undefined : compareTruth(truthFile, listed, events));
  const hash = truthFile === undefined ? '' : `, sha256 ${hashState(listed)} as in the truth file`;
  return judge('list', difference, `${count(listed.length, 'object')}, equal to the true final state${hash}`);
}

function checkReads({ reader }: CheckInput): Check {
  const { lists, pages, rows, expired } = reader.counts;
  const summary = `${count(lists, 'list')} served by ${count(pages, 'page')} with ${count(rows, 'row')} while loading, each consistent, ${expired} expired`;
  return judge('pages', reader.difference, summary);
}

function checkReplay({ replaying, expected }: CheckInput): Check {
  const { seen, pauses, spans, replaced } = replaying.counts;
  const inSpans = spans === 0 ? '' : `, ${replaced} more inside ${count(spans, 'span')}`;
  const summary = `${count(seen, 'change')} seen once and in order${inSpans}, after ${count(pauses, 'pause')}, same final state`;
  return judge('watch, replayed', replaying.difference ?? compareStates(expected, replaying.state), summary);
}

function checkCompaction({ sleeping, expected }: CheckInput): Check {
  const name = 'watch, compacted';
  const difference = sleeping.difference ?? compareStates(expected, sleeping.state);
  if (sleeping.isSkipped && difference === undefined) {
    const summary = 'not shown: it takes two revisions behind the first list';
    return { name, outcome: 'skipped', summary };
  }
  const { missed, signals, minRevision, relisted } = sleeping.counts;
  const told = `passed after ${count(missed, 'change')}, told ${count(signals, 'time')} (start from ${minRevision})`;
  return judge(name, difference, `${told}, relisted ${count(relisted, 'object')}, same final state`);
}

/** A connection that is lost behind the first list costs exactly one relist; without a loss there is none. */
function checkRelist({ store, killAt, replaying, events }: CheckInput): readonly Check[] {
  const { relists = 0, connections = 0, violations = 0 } = store.stats().replica ?? {};
  const isLost = killAt !== undefined && connections > 1;
  const expected = isLost ? 1 : 0;
  // The span of a relist that found nothing new is told to nobody.
  const isRight = relists === expected && replaying.counts.spans <= expected && violations === 0;
  const difference = {
    key: '',
    expected: `${expected} relists, at most ${expected} spans, 0 violations`,
    actual: `${relists} relists, ${replaying.counts.spans} spans, ${violations} violations`,
  };
  if (killAt === undefined && isRight) return [];
  const summary = isLost
    ? `connection lost at event ${killAt} of ${events}, recovered by ${count(relists, 'relist')} over ${count(connections, 'connection')}`
    : `connection lost at event ${killAt} of ${events}, before the first list was complete: listed anew`;
  return [judge('recovery', isRight ? undefined : difference, summary)];
}

function checkHandlers({ handlers, expected }: CheckInput): Check {
  const { calls, behind, temporaryFailures, permanentFailures } = handlers.stats;
  const difference =
    handlers.compare(expected) ??
    (behind === 0 ? undefined : { key: '', expected: '0 objects behind', actual: `${behind} objects behind` });
  const handled = expected.size * handlers.perObject;
  const failures = temporaryFailures + permanentFailures;
  const summary = `${handled} handlers and sub-handlers of ${count(expected.size, 'object')} last succeeded on the final essence, ${behind} behind, ${count(calls, 'call')}, ${failures} failed, an index of ${count(handlers.namespaces, 'namespace')}`;
  return judge('handlers', difference, summary);
}

export function judge(name: string, difference: Difference | undefined, summary: string): Check {
  if (difference === undefined) return { name, outcome: 'ok', summary };
  return { name, outcome: 'failed', summary: 'not as it has to be', difference };
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
