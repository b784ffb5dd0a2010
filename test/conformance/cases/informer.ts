import { compareVersions, createInformerCore } from 'plimsoll/kubernetes';
import { createVirtualClock } from 'plimsoll/testing';
import { equal, test } from '../harness.ts';

test('informer: lists and events of one kind, whatever brings them', async () => {
  const pod = (name: string, uid: string, resourceVersion: string) => ({
    metadata: { name, namespace: 'ns', uid, resourceVersion },
  });
  const core = createInformerCore({ clock: createVirtualClock() });
  const first = core.beginList();
  equal(
    first.add([pod('a', 'u1', '3'), pod('b', 'u2', '4')]).deltas.map(({ type, key }) => `${type} ${key}`),
    ['added ns/a', 'added ns/b'],
  );
  first.end('340282366920938463463374607431768211450');
  equal(core.apply({ type: 'MODIFIED', object: pod('a', 'u1', '2') }).ignored, 'older');
  const next = core.beginList();
  next.add([pod('a', 'u1', '3')]);
  equal(
    next.end('340282366920938463463374607431768211451').deltas.map(({ type, key }) => `${type} ${key}`),
    ['deleted ns/b'],
  );
  equal([core.size, core.isSynced, core.resourceVersion], [1, true, '340282366920938463463374607431768211451']);
  equal(compareVersions('9', '10'), 'older');
  equal(compareVersions('a', 'b'), 'unknown');
});
