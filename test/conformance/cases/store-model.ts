import { openStore } from 'plimsoll';
import { createReferenceModel, createSeededRandom, createVirtualClock } from 'plimsoll/testing';
import { equal, test } from '../harness.ts';
import { take } from './store-support.ts';

/** Random programs against the reference model, so that every runtime shows that it answers alike. */
const KEYS = ['a', 'a/', 'a/b', 'ab', '\u00e9', '\ue000', '\u{1f600}'];

for (let seed = 1; seed <= 10; seed++) {
  test(`model: random program ${seed}`, async () => {
    const random = createSeededRandom(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const clock = createVirtualClock();
    const retention = { events: 20 };
    const store = await openStore<number>({ clock, retention });
    const model = createReferenceModel<number>({ retention });
    const watch = store.watch({ prefix: 'a' }, { prevKv: true });
    const modelWatch = model.watch({ prefix: 'a' }, { prevKv: true });
    for (let step = 0; step < 200; step++) {
      const key = pick(KEYS);
      const roll = random();
      if (roll < 0.6) equal(await store.put(key, step, { prevKv: true }), model.put(key, step, { prevKv: true }));
      else if (roll < 0.8)
        equal(await store.delete({ prefix: key }, { prevKv: true }), model.delete({ prefix: key }, { prevKv: true }));
      else if (roll < 0.9) {
        const revision = Math.max(model.compactRevision, model.revision - Math.floor(random() * 10));
        equal(store.range({ prefix: '', revision, limit: 100 }), model.range({ prefix: '', revision, limit: 100 }));
      } else await clock.advanceToNext();
      for (let batch = modelWatch.next(); batch !== undefined; batch = modelWatch.next()) {
        equal(await take(watch, 1), [batch]);
      }
      equal([store.revision, store.compactRevision], [model.revision, model.compactRevision]);
    }
    equal(watch.progressRevision, modelWatch.progressRevision);
    await store.close();
  });
}
