import { CoreUnavailableError, createCore, createEssenceHasher } from 'plimsoll';
import module from './core.wasm?module';
import { throws } from './harness.ts';
import { suite as plain } from './main-workerd.ts';

export { SqliteObject } from './main-workerd.ts';

/** The suite of `main-workerd.ts` with the entry that has the core as bytes, which a worker may not compile. */
export const suite = {
  async test(control: unknown, env: Parameters<typeof plain.test>[1]): Promise<void> {
    throws(() => createEssenceHasher(), { class: CoreUnavailableError, code: 'CORE_UNAVAILABLE' });
    createCore(module);
    await plain.test(control, env);
  },
};
