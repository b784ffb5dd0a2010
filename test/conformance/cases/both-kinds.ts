import { ClosedError, type Codec, openStore, type Store } from 'plimsoll';
import { createMemoryBackend } from 'plimsoll/testing';
import { equal, rejects, test, throws } from '../harness.ts';

/** What an embedded store and a replica must do alike, one case for both. */
type Kind = 'embedded store' | 'replica';

async function open(kind: Kind, codec: Codec<string>): Promise<Store<string>> {
  if (kind === 'embedded store') return openStore<string>({ codec });
  const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes' });
  return openStore<string>({ codec, backend: createMemoryBackend(data) });
}

/** UTF-8, and a look at who encodes. */
function spyCodec(onEncode: () => void): Codec<string> {
  return {
    encode(value) {
      onEncode();
      return new TextEncoder().encode(value);
    },
    decode: (bytes) => new TextDecoder().decode(bytes),
  };
}

for (const kind of ['embedded store', 'replica'] as const) {
  test(`${kind}: after close every call is ClosedError, identity and epoch stay readable`, async () => {
    const store = await open(
      kind,
      spyCodec(() => {}),
    );
    await store.put('k', 'v');
    const { identity } = store;
    await store.close();
    await store.close();
    const closed = { class: ClosedError, code: 'CLOSED' };
    throws(() => store.revision, closed);
    throws(() => store.compactRevision, closed);
    throws(() => store.get('k'), closed);
    throws(() => store.range({ prefix: '' }), closed);
    throws(() => store.watch({ prefix: '' }), closed);
    throws(() => store.stats(), closed);
    await rejects(store.ready(), closed);
    await rejects(store.put('k', 'v'), closed);
    await rejects(store.delete('k'), closed);
    await rejects(store.txn({}), closed);
    await rejects(store.compact(1), closed);
    equal([store.identity, store.epoch], [identity, 1]);
  });

  test(`${kind}: what changes the store cannot be called from inside a codec or toJSON`, async () => {
    const inside: Promise<unknown>[] = [];
    const errorOf = (call: Promise<unknown>) =>
      call.then(
        () => undefined,
        (error: unknown) => error,
      );
    let isSpying = true;
    const store: Store<string> = await open(
      kind,
      spyCodec(() => {
        if (!isSpying) return;
        isSpying = false;
        const calls = [store.put('other', 'v'), store.delete('k'), store.txn({}), store.compact(1)];
        inside.push(...calls.map(errorOf));
        equal(store.get('k'), undefined);
      }),
    );
    await store.put('k', 'v');
    equal(inside.length, 4);
    for (const error of await Promise.all(inside)) equal(error instanceof TypeError, true);
    equal(store.range({ prefix: '' }).count, 1);
    await store.close();
  });
}
