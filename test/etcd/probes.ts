import { openStore } from '../../src/open-store.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import type { DifferenceId } from './differences.ts';
import { EtcdWatch } from './etcd-watch.ts';
import { type DeleteResponse, type Gateway, GatewayError } from './gateway.ts';
import { LeaseNames } from './lease-names.ts';
import type { Seen } from './watch-pairs.ts';
import { base64, wireRange } from './wire.ts';

/**
 * What programs cannot ask: compaction of a store that never was compacted, and, for each listed difference, whether this
 * etcd shows it or has the fix. A third answer of etcd, or another one of the embedded store, is a failure.
 */
export interface Probe {
  readonly name: string;
  run(gateway: Gateway, seen: Seen): Promise<void>;
}

/** In this order: the first one needs an etcd that nothing was written to. */
export const PROBES: readonly Probe[] = [
  { name: 'the first compactions of a new store (store:C15)', run: firstCompactions },
  { name: 'E1, a delete without end beside a put in its range', run: deleteWithoutEnd },
  { name: 'E2, a watch from a delete at the compact revision', run: watchFromTombstone },
  { name: 'E3, a range in a transaction at a revision below 0', run: negativeRevision },
];

async function firstCompactions(gateway: Gateway): Promise<void> {
  const store = await openStore<string>();
  const [embedded, etcd]: [string[], string[]] = [[], []];
  for (const revision of [0, 1, 1, 2]) {
    embedded.push(await outcome(() => store.compact(revision)));
    etcd.push(await outcome(() => gateway.call('kv/compaction', { revision: String(revision) })));
  }
  await store.close();
  expectOne('the embedded store', embedded.join(', '), ['ok, ok, compacted, future']);
  expectOne('etcd', etcd.join(', '), ['ok, ok, compacted, future']);
}

async function deleteWithoutEnd(gateway: Gateway, seen: Seen): Promise<void> {
  const store = await openStore<string>();
  const embedded = await outcome(() =>
    store.txn({
      then: [
        { type: 'delete', start: 'a' },
        { type: 'put', key: 'b', value: '1' },
      ],
    }),
  );
  await store.close();
  expectOne('the embedded store', embedded, ['duplicate']);
  const success = [{ request_delete_range: wireRange({ start: 'a' }) }, { request_put: { key: text('b') } }];
  const etcd = await outcome(() => gateway.call('kv/txn', { success }));
  expectOne('etcd', etcd, ['duplicate', 'ok']);
  if (etcd === 'ok') note('E1', seen);
}

async function watchFromTombstone(gateway: Gateway, seen: Seen): Promise<void> {
  expectOne('the embedded store', await eventsOfEmbedded(), ['delete, put']);
  await gateway.call('kv/put', { key: text('a') });
  const { header } = await gateway.call<DeleteResponse>('kv/deleterange', { key: text('a') });
  const revision = String(header?.revision);
  await gateway.call('kv/compaction', { revision, physical: true });
  const watch = new EtcdWatch(gateway, { base: 0, leases: new LeaseNames() }, undefined);
  await watch.open({ key: text('a'), start_revision: revision });
  await gateway.call('kv/put', { key: text('a') });
  await watch.reached(Number(revision) + 1);
  await watch.close();
  const events = watch.batches.flatMap((batch) => batch.events.map(({ type }) => type)).join(', ');
  expectOne('etcd', events, ['delete, put', 'put']);
  if (events === 'put') note('E2', seen);
}

async function negativeRevision(gateway: Gateway, seen: Seen): Promise<void> {
  const store = await openStore<string>();
  const embedded = await outcome(() => store.txn({ then: [{ type: 'range', key: 'a', revision: -1 }] }));
  await store.close();
  expectOne('the embedded store', embedded, ['ok']);
  const success = [{ request_range: { key: text('a'), revision: '-1' } }];
  const etcd = await outcome(() => gateway.call('kv/txn', { success }));
  expectOne('etcd', etcd, ['ok', 'compacted']);
  if (etcd === 'compacted') note('E3', seen);
}

async function eventsOfEmbedded(): Promise<string> {
  const clock = createVirtualClock();
  const store = await openStore<string>({ clock });
  await store.put('a', '1');
  const { revision } = await store.delete('a');
  await store.compact(revision);
  // Physically too: what may go is gone.
  while (await clock.advanceToNext());
  await store.put('a', '2');
  const events: string[] = [];
  for await (const batch of store.watch({ key: 'a' }, { fromRevision: revision })) {
    events.push(...batch.events.map(({ type }) => type));
    if (batch.revision > revision) break;
  }
  await store.close();
  return events.join(', ');
}

function note(id: DifferenceId, seen: Seen): void {
  seen(id);
}

/** `ok`, or the class of the error in one word. Other errors are rethrown. */
async function outcome(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'ok';
  } catch (error) {
    const told = error instanceof GatewayError ? error.message : error instanceof Error ? error.name : '';
    const kind = /duplicate|compacted|future/i.exec(told)?.[0].toLowerCase();
    if (kind === undefined) throw error;
    return kind;
  }
}

function expectOne(who: string, answer: string, allowed: readonly string[]): void {
  if (!allowed.includes(answer)) throw new Error(`${who} answered "${answer}", allowed is "${allowed.join('" or "')}"`);
}

function text(key: string): string {
  return base64(new TextEncoder().encode(key));
}
