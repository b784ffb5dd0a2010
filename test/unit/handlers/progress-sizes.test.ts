import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createAnnotationProgress } from '../../../src/handlers/annotation-progress.ts';
import { createMemoryProgress, type ProgressStore } from '../../../src/handlers/progress.ts';
import { createStatusProgress } from '../../../src/handlers/status-progress.ts';
import { createStoreProgress } from '../../../src/handlers/store-progress.ts';
import { openStore } from '../../../src/open-store.ts';
import { createWorld, type Life, type World } from './harness.ts';

/** Handlers, or a parent with subs, and what they see: 200 bytes. */
const SHAPES: Readonly<Record<string, { readonly handlers: number; readonly subs: number }>> = {
  '1 handler': { handlers: 1, subs: 0 },
  '5 handlers': { handlers: 5, subs: 0 },
  'a parent with 3 subs': { handlers: 1, subs: 3 },
  'a parent with 100 subs': { handlers: 1, subs: 100 },
};
const VIEW = { image: 'registry.example.com/web:1', text: 'x'.repeat(147) };

async function startShape(world: World, shape: string, progress: ProgressStore): Promise<Life> {
  const { handlers, subs } = SHAPES[shape] ?? { handlers: 0, subs: 0 };
  return world.start(
    (controller) => {
      for (let n = 0; n < handlers; n++) {
        controller.on('change', { id: `handler-${n}`, field: 'spec' }, (ctx) => {
          for (let sub = 0; sub < subs; sub++) ctx.sub(`zone-${sub}`, { args: { zone: sub } }, () => {});
        });
      }
    },
    { progress },
  );
}

/** A row of the table with this first cell, as numbers. */
function row(first: string): readonly number[] {
  const page = readFileSync(new URL('../../../docs/handlers.md', import.meta.url), 'utf8');
  const line = page.split('\n').find((text) => text.startsWith(`| ${first} |`));
  return (line ?? '').split('|').slice(2, -1).map(Number);
}

for (const shape of Object.keys(SHAPES)) {
  it(`docs/handlers.md tells the bytes of the records of ${shape}, and the writes of a change`, async () => {
    const found: number[] = [];
    for (const kind of ['store', 'annotations', 'status'] as const) {
      const world = createWorld();
      const store = await openStore<unknown>({ clock: world.clock });
      const progress = {
        store: () => createStoreProgress(store, { prefix: 'p/' }),
        annotations: () => createAnnotationProgress(world.source),
        status: () => createStatusProgress(world.source, { overflow: createMemoryProgress() }),
      }[kind]();
      world.source.put('o', { spec: { ...VIEW, n: 0 } });
      const life = await startShape(world, shape, progress);
      await life.settle();
      const before = [Number(world.source.resourceVersion), store.revision];
      world.source.put('o', { ...world.source.objects[0]?.object, spec: { ...VIEW, n: 1 } });
      await life.settle();
      const writes = Number(world.source.resourceVersion) - (before[0] ?? 0) - 1 + store.revision - (before[1] ?? 0);
      const object = world.source.objects[0]?.object;
      const place = {
        store: store.get('p/uid-1')?.value,
        annotations: object?.metadata?.annotations,
        status: object?.status?.plimsoll,
      };
      const held = place[kind];
      // What the limit counts: names and texts of annotations; of a value, its bytes.
      const texts = Object.entries(held ?? {})
        .flat()
        .join('');
      found.push(held instanceof Uint8Array ? held.length : new TextEncoder().encode(texts).length, writes);
      await life.stop();
    }
    const [bytes, writes, inAnnotations, patches, inStatus, others] = found;
    expect(row(shape)).toEqual([bytes, inAnnotations, inStatus, writes]);
    expect([patches, others]).toEqual([writes, writes]);
  });
}
