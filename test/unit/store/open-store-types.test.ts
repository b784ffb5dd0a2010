import { describe, expect, expectTypeOf, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import type { Key } from '../../../src/types/revision.ts';
import type { Store } from '../../../src/types/store.ts';

/** Never run: the compiler is what tests these (`tsc -p tsconfig.node.json`, part of tidy). */
const refused = [
  // @ts-expect-error keys of bytes have to be said: at run time a store of text would refuse each of them
  () => openStore<string, Uint8Array>(),
  // @ts-expect-error
  () => openStore<string, Uint8Array>({}),
  // @ts-expect-error
  () => openStore<string, Uint8Array>({ keys: 'utf8' }),
  // @ts-expect-error
  () => openStore<string, string>({ keys: 'bytes' }),
  // @ts-expect-error
  () => openStore<string, Key>(),
  // @ts-expect-error
  () => openStore({ unknown: true }),
];

const accepted = [
  () => expectTypeOf(openStore()).toEqualTypeOf<Promise<Store>>(),
  () => expectTypeOf(openStore<number>()).toEqualTypeOf<Promise<Store<number>>>(),
  () => expectTypeOf(openStore<number>({ keys: 'utf8' })).toEqualTypeOf<Promise<Store<number>>>(),
  () => expectTypeOf(openStore<number, string>({})).toEqualTypeOf<Promise<Store<number>>>(),
  () => expectTypeOf(openStore<number>({ keys: 'bytes' })).toEqualTypeOf<Promise<Store<number, Uint8Array>>>(),
  () => expectTypeOf(openStore({ keys: 'bytes' })).toEqualTypeOf<Promise<Store<unknown, Uint8Array>>>(),
  () =>
    expectTypeOf(openStore<number, Uint8Array>({ keys: 'bytes' })).toEqualTypeOf<Promise<Store<number, Uint8Array>>>(),
  (keys: 'utf8' | 'bytes') =>
    expectTypeOf(openStore<number, Key>({ keys })).toEqualTypeOf<Promise<Store<number, Key>>>(),
];

describe('the types of openStore', () => {
  it('are checked by the compiler', () => {
    expect([refused.length, accepted.length]).toEqual([6, 8]);
  });

  it('agree with what happens', async () => {
    const store = await openStore({ keys: 'bytes' });
    await store.put(Uint8Array.of(1), 'x');
    expect(store.range({ prefix: Uint8Array.of() }).count).toBe(1);
  });
});
