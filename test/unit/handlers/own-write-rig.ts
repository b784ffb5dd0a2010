import type { CallContext } from '../../../src/handlers/context.ts';
import type { Patch } from '../../../src/types/patch.ts';
import type { ObjectSource, SourcePatch } from '../../../src/types/source.ts';
import type { Life, Thing, World } from './harness.ts';

/** The part of the only object that tests look at. */
export function spec(world: World): Readonly<Record<string, unknown>> {
  return world.source.objects[0]?.object.spec ?? {};
}

/** The world's source, in which `before` happens ahead of each patch. */
export function meddled(world: World, before: (patch: SourcePatch) => void | Promise<void>): ObjectSource<Thing> {
  const { source } = world;
  return {
    list: (options) => source.list(options),
    watch: (options) => source.watch(options),
    get: (name, options) => source.get(name, options),
    hasFinalizers: true,
    compare: (a, b) => source.compare(a, b),
    async patch(patch, options) {
      await before(patch);
      return source.patch(patch, options);
    },
  };
}

/** The world's source, which makes something else of each patch, as a server does that prunes, clamps or stamps. */
export function served(world: World, more: (patch: SourcePatch) => Patch): ObjectSource<Thing> {
  const plain = meddled(world, () => {});
  return {
    ...plain,
    patch: (patch, options) => world.source.patch({ ...patch, patches: [...patch.patches, more(patch)] }, options),
  };
}

/** Runs one handler `h` of `spec`. */
export async function run(
  world: World,
  handle: (ctx: CallContext<Thing>) => Promise<void> | void,
  options: {
    retries?: number;
    source?: ObjectSource<Thing>;
    policy?: 'supersede' | 'complete';
    when?: () => boolean;
  } = {},
): Promise<Life> {
  const { retries = 2, ...rest } = options;
  return world.start(
    (controller) => controller.on('change', { id: 'h', field: 'spec', retries, timeoutMs: 1000 }, handle),
    rest,
  );
}
