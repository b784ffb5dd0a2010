import { checkCoreModule } from './core/check-core-module.ts';
import { provideModule } from './core/module.ts';
import { createEssenceHasher } from './create-essence-hasher.ts';
import { createAnnotationProgress } from './handlers/annotation-progress.ts';
import { createController } from './handlers/controller.ts';
import { createStatusProgress } from './handlers/status-progress.ts';
import { createStoreProgress } from './handlers/store-progress.ts';
import { openStore } from './open-store.ts';

/** What of the package needs the WebAssembly core. */
export interface Core {
  readonly openStore: typeof openStore;
  readonly createEssenceHasher: typeof createEssenceHasher;
  readonly createController: typeof createController;
  readonly createAnnotationProgress: typeof createAnnotationProgress;
  readonly createStatusProgress: typeof createStatusProgress;
  readonly createStoreProgress: typeof createStoreProgress;
}

/**
 * For hosts that compile WebAssembly themselves and let no program do so from bytes: workers that get the package without
 * its export conditions, as from JSR, which has none. Give it the module that the host made of `core.wasm` of this very
 * version, before anything else of the package is called, and use what it returns, or the functions of these names that the
 * package exports: they are the same. Where the core has been compiled already that one stays in use. Everywhere else
 * nothing of this is needed.
 *
 * @example
 * ```ts
 * import { createCore } from 'plimsoll';
 *
 * async function start(compiled: WebAssembly.Module) {
 *   const { openStore } = createCore(compiled);
 *   return openStore<string>();
 * }
 * ```
 *
 * @throws TypeError for what is no module, and for the core of another version
 */
export function createCore(module: WebAssembly.Module): Core {
  checkCoreModule('create the core', module);
  provideModule(module);
  return Object.freeze({
    openStore,
    createEssenceHasher,
    createController,
    createAnnotationProgress,
    createStatusProgress,
    createStoreProgress,
  });
}
