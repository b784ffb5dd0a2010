import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { openStore } from '../../../src/open-store.ts';
import { createFaultyBackend, type FaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { openRig, PREFIX, Reader, type Rig, thing } from './rig.ts';

/** A replica with a connection that can be cut, and behind which the data can be replaced. */
async function openFaulty(): Promise<Rig & { readonly faulty: FaultyBackend }> {
  let faulty: FaultyBackend | undefined;
  const rig = await openRig('replica', {
    storage: { pinsMax: 0 },
    wrap: (backend, clock) => {
      faulty = createFaultyBackend(backend, { clock });
      return faulty;
    },
  });
  return { ...rig, faulty: faulty as FaultyBackend };
}

const POD = `${PREFIX}/pods/`;

describe('a storage over a replica whose backend is lost for a while', () => {
  it('K20: a watch goes on with what has changed, in the order of versions; within it none can start (M12)', async () => {
    const rig = await openFaulty();
    for (const name of 'abc') await rig.run(rig.storage.create(`/pods/${name}`, thing(name)));
    const open = () => new Reader(rig.storage.watch('/pods', { recursive: true, resourceVersion: '4' }), rig.clock);
    const reader = open();
    await reader.more();
    rig.faulty.offline();
    await rig.truth.put(`${POD}c`, thing('c', 5));
    await rig.truth.delete(`${POD}a`);
    await rig.truth.delete(`${POD}b`);
    await rig.truth.put(`${POD}b`, thing('b', 8));
    await rig.truth.put(`${POD}d`, thing('d'));
    await rig.truth.delete(`${POD}d`);
    await rig.truth.compact(10);
    rig.faulty.online();
    await rig.run(rig.storage.getCurrentResourceVersion());
    expect(await reader.more()).toEqual(['MODIFIED c=5@5', 'DELETED b=1@7', 'ADDED b=8@8', 'DELETED a=1@10']);
    expect(rig.store.stats().replica?.relists).toBeGreaterThan(0);
    // Whoever has seen the beginning of it only is told so, and misses nothing.
    for (const resourceVersion of ['5', '7', '8', '9']) {
      const late = new Reader(rig.storage.watch('/pods', { recursive: true, resourceVersion }), rig.clock);
      await late.more();
      expect(late.error).toMatchObject({ code: 'EXPIRED', resourceVersion });
    }
    expect(await open().more()).toEqual(reader.events);
    await rig.store.close();
  });

  it('K10: when the data are replaced, watches and tokens of the old ones are expired', async () => {
    const rig = await openFaulty();
    for (const name of 'abc') await rig.run(rig.storage.create(`/pods/${name}`, thing(name)));
    const reader = new Reader(rig.storage.watch('/pods', { recursive: true, resourceVersion: '4' }), rig.clock);
    await reader.more();
    const page = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 1 }));
    const other = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock: rig.clock, random: () => 0.75 });
    const encode = (text: string) => new TextEncoder().encode(text);
    for (const name of 'xyz') await other.put(encode(`${POD}${name}`), encode(JSON.stringify(thing(name))));
    rig.faulty.replace(createMemoryBackend(other));
    // The revisions are the same ones, and mean something else.
    expect(other.revision).toBe(4);
    await rig.clock.advance(1000);
    await rig.run(rig.storage.getCurrentResourceVersion());
    await reader.more();
    expect(reader.error).toMatchObject({ code: 'EXPIRED', httpStatus: 410 });
    const next = { recursive: true, continue: page.metadata.continue as string };
    const gone = await rig.refusal(rig.storage.list('/pods', next));
    expect(gone).toMatchObject({ code: 'EXPIRED', continue: expect.any(String) });
    const rest = await rig.run(
      rig.storage.list('/pods', { recursive: true, continue: (gone as unknown as { continue: string }).continue }),
    );
    expect(rest.items.map(({ metadata }) => metadata?.name)).toEqual(['x', 'y', 'z']);
    await rig.store.close();
  });

  it('K01: a consistent read of a backend that is away is no old answer, and no empty one', async () => {
    const rig = await openFaulty();
    await rig.run(rig.storage.create('/pods/a', thing('a')));
    rig.faulty.offline();
    const refusal = await rig.refusal(rig.storage.list('/pods', { recursive: true }));
    expect(['BACKEND', 'TOO_MANY_REQUESTS']).toContain((refusal as { code?: string }).code);
    const any = await rig.run(rig.storage.list('/pods', { recursive: true, resourceVersion: '0' }));
    expect(any.items).toHaveLength(1);
    await rig.store.close();
  });
});
