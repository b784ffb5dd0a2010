// @ts-check
// A process that has a lock, or leads, and writes under it until it is told that it has not any more:
//
//   node etcd-lock-holder.mjs DIST ENDPOINT KIND NAME       KIND: lock or election
//
//   acquired TOKEN       its fencing token
//   wrote REVISION       a guarded write was committed
//   refused WHY          one was not; then it ends
import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { loadLibrary } from './etcd-load.mjs';

const [, , dist = '', endpoint = '', kind, name = ''] = process.argv;
const { openStore, openEtcdBackend, textCodec } = await loadLibrary(dist);
/** @param {string} line */
const say = (line) => writeSync(1, `${line}\n`);

const backend = await openEtcdBackend({ endpoints: [endpoint], timeoutMs: 2_000 });
/** @type {import('./etcd-load.mjs').Store} */
const store = await openStore({ backend, codec: textCodec() });
const options = { ttlMs: 2_000 };
const held = kind === 'lock' ? await store.acquireLock('L', options) : await store.campaign('L', name, options);
say(`acquired ${held.fencingToken}`);
for (;;) {
  try {
    // Sent whatever this process believes: who has the lock is for the server to say.
    const { succeeded, revision } = await store.txn(
      held.guard({ then: [{ type: 'put', key: 'guarded', value: name }] }),
    );
    if (!succeeded) {
      say('refused by the guard');
      break;
    }
    say(`wrote ${revision}`);
  } catch (error) {
    say(`refused ${error instanceof Error ? `${error.name}: ${error.message}` : error}`);
    break;
  }
  await delay(20);
}
process.exit(0);
