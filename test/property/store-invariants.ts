import type { ReferenceModel } from '../../src/testing/model.ts';
import type { Key } from '../../src/types/revision.ts';
import type { Store } from '../../src/types/store.ts';
import { checkSame, Mismatch } from './store-outcome.ts';

/** Lists at each readable revision, and a replay from each of them on (invariants 4 and 5). `none` is the empty key. */
export async function checkHistory(
  store: Store<unknown, Key>,
  model: ReferenceModel<unknown, Key>,
  none: Key,
): Promise<void> {
  const range = { prefix: none };
  const [from, to] = [Math.max(model.compactRevision, 1), model.revision];
  for (let revision = from; revision <= to; revision++) {
    const list = store.range({ ...range, revision });
    checkSame(`list@${revision}`, list.kvs, model.range({ ...range, revision }).kvs);
  }
  const state = new Map(store.range({ ...range, revision: from }).kvs.map((kv) => [String(kv.key), kv]));
  const watch = store.watch(range, { fromRevision: from + 1 });
  while (watch.progressRevision < to) {
    const { value } = await watch.next();
    for (const { type, kv } of value?.events ?? []) {
      if (type === 'put') state.set(String(kv.key), kv);
      else state.delete(String(kv.key));
    }
  }
  await watch.return();
  const list = store.range(range).kvs;
  checkSame('size of list + replay', state.size, list.length);
  for (const kv of list) checkSame('list + replay', state.get(String(kv.key)), kv);
}

/** After full compaction nothing is stored but live keys and what happened exactly at the low watermark. */
export function checkFootprint(store: Store<unknown, Key>, model: ReferenceModel<unknown, Key>, none: Key): void {
  const { keys, storedVersions, logEntries } = store.stats();
  const { revision } = model;
  checkSame('keys', keys, model.range({ prefix: none }).count);
  const inLog = revision === 1 ? 0 : logEntries;
  if (storedVersions > keys + inLog) throw new Mismatch(`${storedVersions} versions for ${keys} keys, log ${inLog}`);
  const watch = model.watch({ prefix: none }, { fromRevision: Math.max(revision, 1) });
  checkSame('log entries', logEntries, watch.next()?.events.length ?? 0);
}
