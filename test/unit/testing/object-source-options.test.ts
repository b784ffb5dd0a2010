import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createObjectSource, type MemoryObjectSourceOptions } from '../../../src/testing/object-source.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

function make(options: object) {
  const all = { clock: createVirtualClock(), random: createSeededRandom(1), ...options };
  return createObjectSource(all as MemoryObjectSourceOptions);
}

describe('createObjectSource refuses', () => {
  it.each([
    ['no clock', { clock: undefined }, 'clock is not an object'],
    ['no random', { random: undefined }, 'random is of type undefined'],
    ['a history that is text', { historyMax: '5' }, 'historyMax is of type string'],
    ['a rate that is text', { faults: { dropRate: '1' } }, 'dropRate is of type string'],
    ['a time that is text', { faults: { delayMsMax: '1' } }, 'delayMsMax is of type string'],
  ])('%s', (_name, options, message) => {
    expect(() => make(options)).toThrow(TypeError);
    expect(() => make(options)).toThrow(message);
  });

  it.each<readonly [string, object]>([
    ['a history below 0', { historyMax: -1 }],
    ['a history that is NaN', { historyMax: Number.NaN }],
    ...['dropRate', 'duplicateRate', 'staleListRate', 'readErrorRate', 'patchErrorRate'].flatMap((name) =>
      [-0.1, 1.1, Number.NaN].map((rate) => [`${name} ${rate}`, { faults: { [name]: rate } }] as const),
    ),
    ...['delayMsMax', 'readDelayMsMax', 'patchDelayMsMax'].flatMap((name) =>
      [-1, Number.NaN, Number.POSITIVE_INFINITY].map(
        (time) => [`${name} ${time}`, { faults: { [name]: time } }] as const,
      ),
    ),
  ])('%s', (_name, options) => {
    expect(() => make(options)).toThrow(RangeError);
  });

  it('faults of the same kinds that are set later', () => {
    const source = make({ historyMax: Number.POSITIVE_INFINITY, faults: { dropRate: 1, delayMsMax: 0 } });
    expect(() => source.setFaults({ dropRate: 2 })).toThrow(RangeError);
    expect(() => source.setFaults({ dropRate: 0 })).not.toThrow();
  });
});
