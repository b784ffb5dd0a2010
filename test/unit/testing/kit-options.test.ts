import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import {
  type BackendSuiteOptions,
  createCommitHistory,
  createFaultyBackend,
  createMemoryBackend,
  createObjectSource,
  createReferenceModel,
  createSeededRandom,
  createVirtualClock,
  testBackend,
} from '../../../src/testing/mod.ts';

const seams = { clock: createVirtualClock(), random: createSeededRandom(1) };

/** Everything of the kit that takes options, with some that are right. */
const MAKERS: readonly (readonly [string, object, (options: never) => unknown])[] = [
  ['createVirtualClock', { startMs: 1, wallTimeMs: 2 }, createVirtualClock],
  ['createReferenceModel', { retention: { events: 3 }, now: () => 0, leaseId: () => '1' }, createReferenceModel],
  ['createReferenceModel: retention', { events: 3 }, (retention) => createReferenceModel({ retention })],
  ['createReferenceModel: limits', { keyBytes: 9, pins: 1 }, (limits) => createReferenceModel({ limits })],
  ['createFaultyBackend', { clock: seams.clock }, (options) => faulty(options)],
  ['fail', { times: 2, when: 'after', error: 1 }, (options) => faulty().fail('txn', options)],
  ['replace', { keepStreams: true }, (options) => faulty().replace(createCommitHistory(), options)],
  ['createCommitHistory', { identity: 'x', revision: 7, unordered: true }, createCommitHistory],
  ['createObjectSource', { ...seams, faults: {}, historyMax: 3 }, createObjectSource],
  ['createObjectSource: faults', { dropRate: 1 }, (faults) => createObjectSource({ ...seams, faults })],
  ['setFaults', { readErrorRate: 1, delayMsMax: 1 }, (faults) => createObjectSource(seams).setFaults(faults)],
  ['testBackend', suite(), (options: BackendSuiteOptions) => testBackend(options)],
];

function faulty(options = {}) {
  return createFaultyBackend(createCommitHistory(), options);
}

function suite(): BackendSuiteOptions {
  return {
    capabilities: { progress: true, writable: true },
    open: async () => createMemoryBackend(await openStore<Uint8Array, Uint8Array>({ keys: 'bytes' })),
  };
}

describe('the test kit', () => {
  it.each(MAKERS)('%s takes its options, and refuses one that is misspelt', (_, options, make) => {
    expect(() => make(options as never)).not.toThrow();
    const misspelt = () => make({ ...options, dropRat: 1 } as never);
    expect(misspelt).toThrow(TypeError);
    expect(misspelt).toThrow(/^Cannot .*: unknown option dropRat$/);
  });

  it.each(MAKERS)('%s refuses what is no options', (_, __, make) => {
    for (const wrong of [null, 7, 'options', []]) expect(() => make(wrong as never)).toThrow(TypeError);
  });
});
