import type { Controller } from '../../handlers/controller.ts';
import { TemporaryError } from '../../types/errors.ts';
import type { Random } from '../../types/random.ts';
import type { App } from './app.ts';
import type { OutsideWorld } from './outside-world.ts';
import type { Process } from './process.ts';
import { RATES, type Trouble } from './trouble.ts';

export const PARENT = 'deploy';
export const UPDATE = 'notify';

/** The longest that a call takes. */
const WORK_MS_MAX = 6;

export interface ChaosHandlers {
  readonly process: Process;
  readonly world: OutsideWorld;
  readonly random: Random;
  readonly trouble: Trouble;
  /** A sub takes its work as done once it has been done, whatever it sees later: a mistake that the checks have to find. */
  readonly isBroken: boolean;
}

interface Call {
  readonly uid: string;
  readonly idempotencyKey: string;
}

/**
 * One handler of each kind, and a parent with a sub for each zone: every call takes its time, may fail, and may be the last
 * thing that its process does, before or after its effect.
 */
export function register(
  controller: Controller<App>,
  { process, world, random, trouble, isBroken }: ChaosHandlers,
): void {
  const work = async ({ idempotencyKey }: Call, effect: () => void): Promise<void> => {
    await new Promise<void>((resolve) => process.clock.after(random() * WORK_MS_MAX, resolve));
    if (trouble.happens(RATES.failedCall)) {
      trouble.counts.failedCalls++;
      throw new TemporaryError('Cannot finish the work now', { delayMs: 2 });
    }
    effect();
    world.note(idempotencyKey);
    if (!trouble.happens(RATES.killInCall)) return;
    process.kill();
    await new Promise<never>(() => {});
  };

  controller.on(
    'change',
    {
      id: PARENT,
      field: 'spec',
      retire: (ctx) => work(ctx, () => world.retire(ctx.uid, `${PARENT}/${ctx.id}`)),
    },
    async (ctx) => {
      const { image, zones } = ctx.object.spec;
      for (const zone of zones) {
        const id = `${PARENT}/${zone}`;
        ctx.sub(zone, { args: { zone } }, (sub) =>
          work(sub, () => {
            if (!isBroken || world.effect(sub.uid, id) === undefined) world.put(sub.uid, id, sub.object.spec.image);
          }),
        );
      }
      if (ctx.rebuild) return;
      await work(ctx, () => world.put(ctx.uid, PARENT, image));
      ctx.patch({ status: { deployed: image } });
    },
  );
  controller.on('update', { id: UPDATE, field: 'spec.image' }, (ctx) =>
    work(ctx, () => world.put(ctx.uid, UPDATE, ctx.object.spec.image)),
  );
  controller.on('resume', { id: 'greet' }, (ctx) => work(ctx, () => world.greet(ctx.uid, process.number)));
  controller.on('delete', { id: 'release' }, (ctx) => work(ctx, () => world.release(ctx.uid)));
}
