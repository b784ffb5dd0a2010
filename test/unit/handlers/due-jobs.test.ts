import { describe, expect, it } from 'vitest';
import { DueJobs } from '../../../src/handlers/due-jobs.ts';
import type { Job } from '../../../src/handlers/jobs.ts';
import { Registry } from '../../../src/handlers/registry.ts';
import { resolveBackoff } from '../../../src/queue/backoff.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { reproduce, testSeed } from '../../support/size.ts';

const registry = new Registry(resolveBackoff(), false);
for (const id of ['a', 'b', 'c']) registry.add('change', { id }, () => {});

function jobOf(place: number, handler: number): Job {
  const found = registry.handlers[handler];
  if (found === undefined) throw new Error('no such handler');
  const id = `${found.id}/${place}`;
  return { id, handler: found, entry: undefined, parent: undefined, retires: false, digest: '', at: place, place };
}

describe('due jobs', () => {
  it('are those of open handlers by turn, and none is lost, whatever is closed when', () => {
    const random = createSeededRandom(testSeed());
    const wrong: string[] = [];
    for (let round = 0; round < 100; round++) {
      const due = new DueJobs((a, b) => a.at - b.at);
      const model: Job[] = [];
      const closed = new Set<string>();
      for (let step = 0; step < 100; step++) {
        const chance = random();
        if (chance < 0.4) {
          const job = jobOf(step, Math.floor(random() * 3));
          due.push(job);
          model.push(job);
        } else if (chance < 0.55) {
          const { id = '' } = registry.handlers[Math.floor(random() * 3)] ?? {};
          due.close(id);
          closed.add(id);
        } else if (chance < 0.65) {
          due.reopen();
          closed.clear();
        } else {
          const expected = model.find(({ handler }) => !closed.has(handler.id));
          const job = due.peek();
          if (job !== expected) wrong.push(`round ${round}: ${job?.id} in place of ${expected?.id}`);
          if (job !== undefined) {
            due.pop(job);
            model.splice(model.indexOf(job), 1);
          }
        }
      }
    }
    expect(wrong.slice(0, 3), reproduce('unit')).toEqual([]);
  });
});
