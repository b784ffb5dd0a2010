import { ABSENT, PRESENT } from 'plimsoll';
import { equal, test } from '../harness.ts';
import { createWorld, start } from './handlers-support.ts';

test('handler kinds: filters say which objects a handler is for', async () => {
  const world = createWorld();
  const seen: string[] = [];
  world.source.put('a', { spec: { n: 1 }, metadata: { labels: { app: 'web' } } });
  world.source.put('b', { spec: {}, metadata: { labels: { app: 'db' } } });
  const life = await start(world, (controller) => {
    const note =
      (id: string) =>
      ({ name }: { name: string }): void =>
        void seen.push(`${id} ${name}`);
    controller.on('change', { id: 'web', labels: { app: 'web', old: false } }, note('web'));
    controller.on('create', { id: 'with', field: 'spec.n', value: PRESENT }, note('with'));
    controller.on('create', { id: 'without', field: 'spec.n', value: ABSENT }, note('without'));
  });
  await life.settle();
  equal(seen.sort(), ['web a', 'with a', 'without b']);
  await life.stop();
});

test('handler kinds: events, timers, daemons, indexes, startups and cleanups', async () => {
  const world = createWorld();
  const { clock, source } = world;
  const log: string[] = [];
  source.put('a', { spec: 'x' });
  const life = await start(world, (controller) => {
    controller.on('startup', { id: 's' }, () => void log.push('startup'));
    controller.on('cleanup', { id: 'c' }, () => void log.push('cleanup'));
    controller.on('index', { id: 'i' }, ({ spec }, { name }) => ({ [String(spec)]: name }));
    controller.on('event', { id: 'e' }, ({ type, index }) => void log.push(`${type} ${index('i').get('x').length}`));
    controller.on('timer', { id: 't', intervalMs: 1000 }, () => void log.push('timer'));
    controller.on('daemon', { id: 'd' }, async ({ signal }) => {
      log.push('daemon begins');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      log.push('daemon ends');
    });
  });
  await life.settle();
  await clock.advance(1000);
  source.startDeletion('a');
  await clock.advance(1000);
  await life.stop();
  equal(source.objects.length, 0);
  equal(log[0], 'startup');
  equal(log.at(-1), 'cleanup');
  const counts = (what: string): number => log.filter((line) => line === what).length;
  equal([counts('timer'), counts('daemon begins'), counts('daemon ends'), counts('deleted 0')], [2, 1, 1, 1]);
});
