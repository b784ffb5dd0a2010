import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SampleStream, type SampleStreamOptions } from '../../../src/cli/demo/sample-stream.ts';
import { parseStreamEvent } from '../../../src/cli/demo/stream-event.ts';
import { TrueState } from '../../../src/cli/demo/true-state.ts';
import { createEssenceHasherWith } from '../../../src/core/essence-hasher.ts';
import { coreModule } from '../../../src/core/module.ts';

const scanner = createEssenceHasherWith(coreModule(), { defaults: false });

function fold(options: SampleStreamOptions) {
  const stream = new SampleStream(options);
  const truth = new TrueState();
  const lines = [...stream.lines()];
  const types = new Map<string, number>();
  lines.forEach((text, index) => {
    const event = parseStreamEvent({ bytes: new TextEncoder().encode(text), line: 1, offset: 0 }, 'read', scanner);
    types.set(event.type, (types.get(event.type) ?? 0) + 1);
    if (index < options.objects) truth.list(event);
    else {
      expect(event.revision).toBeGreaterThan(truth.revision);
      truth.apply(event);
    }
  });
  return { stream, truth, lines, types };
}

describe('SampleStream', () => {
  it('is the same for the same options and another for another seed', () => {
    const hash = (seed: number) =>
      createHash('sha256')
        .update(fold({ seed, objects: 50, events: 400 }).lines.join('\n'))
        .digest('hex');
    expect(hash(1)).toBe(hash(1));
    expect(hash(1)).not.toBe(hash(2));
    expect(hash(0)).not.toBe(hash(1));
  });

  it.each([
    { seed: 1, objects: 300, events: 3000 },
    { seed: 4294967295, objects: 1, events: 500 },
    { seed: 0, objects: 40, events: 40 },
    { seed: 9, objects: 20, events: 21 },
  ])('has as many lines as asked for and a truth that they lead to: %j', (options) => {
    const { stream, truth, lines } = fold(options);
    expect(lines).toHaveLength(options.events);
    expect(stream.truth).toEqual(truth.objects);
  });

  it('has everything a real stream has', () => {
    const { truth, types, lines } = fold({ seed: 3, objects: 300, events: 3000 });
    for (const type of ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']) expect(types.get(type)).toBeGreaterThan(30);
    expect(types.get('ADDED')).toBeGreaterThan(300 + 30);
    const keys = [...truth.objects.keys()].map((key) => key.split('/'));
    expect(new Set(keys.map((parts) => parts.slice(0, -2).join('/'))).size).toBe(7);
    expect(new Set(keys.map((parts) => parts.at(-2))).size).toBe(9);
    const revisions = lines.slice(0, 300).map((text) => Number(JSON.parse(text).object.metadata.resourceVersion));
    expect(revisions).not.toEqual([...revisions].sort((a, b) => a - b));
  });
});

describe('TrueState', () => {
  it('hands out every change once, also when many wait', () => {
    const truth = new TrueState();
    const place = { line: 1, offset: 0 };
    const seen: number[] = [];
    for (let revision = 1; revision <= 20_000; revision++) {
      truth.apply({ type: 'ADDED', place, key: 'k', uid: 'u', revision, object: {} });
      if (revision % 3 > 0 || revision > 15_000) {
        expect(truth.pendingUpTo(seen.length + 1)).toBe(1);
        seen.push(truth.shift()?.revision ?? 0);
      }
    }
    while (truth.pending > 0) seen.push(truth.shift()?.revision ?? 0);
    expect(seen).toEqual(Array.from({ length: 20_000 }, (_, index) => index + 1));
    expect([truth.shift(), truth.peek()]).toEqual([undefined, undefined]);
  });
});
