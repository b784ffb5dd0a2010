import { CoreUnavailableError, createController, createEssenceHasher, createKeyedLock, openStore } from 'plimsoll';
import { createObjectSource, createSeededRandom, createVirtualClock } from 'plimsoll/testing';
import { equal, Harness, rejects, throws } from './harness.ts';

/**
 * Entry for a page whose Content-Security-Policy has no 'wasm-unsafe-eval': what needs the core says so, and what does not
 * works.
 */
const harness = new Harness();
const UNAVAILABLE = { class: CoreUnavailableError, code: 'CORE_UNAVAILABLE' };

harness.test('a policy without wasm-unsafe-eval: openStore rejects and says what is missing', async () => {
  const error = await rejects(openStore(), UNAVAILABLE);
  equal(error.message.includes("'wasm-unsafe-eval'"), true);
  equal(error.cause instanceof Error, true);
});

harness.test('a policy without wasm-unsafe-eval: a hasher throws, each time', () => {
  throws(() => createEssenceHasher(), UNAVAILABLE);
  throws(() => createEssenceHasher(), UNAVAILABLE);
});

harness.test('a policy without wasm-unsafe-eval: a controller throws', () => {
  const source = createObjectSource({ clock: createVirtualClock(), random: createSeededRandom(1) });
  throws(() => createController({ source }), UNAVAILABLE);
});

harness.test('a policy without wasm-unsafe-eval: a keyed lock needs no core', async () => {
  const lock = createKeyedLock();
  const held = await lock.acquire('a', 'write');
  equal(lock.tryAcquire('a', 'write'), undefined);
  held.release();
});

const result = await harness.run((name) => console.log(`PLIMSOLL-CASE ${JSON.stringify(name)}`));
console.log(`PLIMSOLL-RESULT ${JSON.stringify(result)}`);
