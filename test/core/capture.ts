import type { CoreExports } from '../../src/core/abi.ts';
import { EssenceCore } from '../../src/core/essence-core.ts';
import { compileRules } from '../../src/core/essence-rules.ts';

/** The essence with a set of rules, and the exports below it, which `EssenceCore` makes itself and shows to nobody. */
export interface CapturedEssence {
  readonly core: EssenceCore;
  readonly exports: CoreExports;
}

/**
 * Makes an `EssenceCore` and keeps hold of its instance.
 *
 * @param defaults whether with the default rules, or with none
 * @param imports what an instrumented module asks for
 */
export function captureEssence(
  module: WebAssembly.Module,
  defaults: boolean,
  imports: WebAssembly.Imports = {},
): CapturedEssence {
  const Plain = WebAssembly.Instance;
  let exports: WebAssembly.Exports | undefined;
  WebAssembly.Instance = new Proxy(Plain, {
    construct(target, [compiled]: [WebAssembly.Module]): WebAssembly.Instance {
      const instance = new target(compiled, imports);
      exports = instance.exports;
      return instance;
    },
  });
  try {
    const core = new EssenceCore(module, compileRules({ ignore: [], defaults }));
    return { core, exports: exports as unknown as CoreExports };
  } finally {
    WebAssembly.Instance = Plain;
  }
}
