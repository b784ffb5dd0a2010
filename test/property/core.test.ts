import { beforeAll, describe, it } from 'vitest';
import { coreModule } from '../../src/core/module.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { compileTinyCore } from '../support/tiny-core.ts';
import { CoreProgram } from './core-program.ts';

/** Runs `count` programs of growing size; the first that fails names its own seed. */
function runPrograms(module: WebAssembly.Module, count: number): void {
  for (let index = 0; index < count; index++) {
    const shape = { seed: testSeed() + index, steps: 20 + (index % 12) * 15, keySpace: 2 + (index % 9) ** 2 * 3 };
    try {
      new CoreProgram(module, shape).run();
    } catch (error) {
      throw new Error(`program ${JSON.stringify(shape)} fails; ${reproduce('property')}`, { cause: error });
    }
  }
}

describe('core against the oracle', () => {
  let tiny: WebAssembly.Module;
  beforeAll(async () => {
    tiny = await compileTinyCore();
  });

  it('answers as plain arrays do, with pages of eight entries', () => {
    runPrograms(tiny, sized({ smoke: 1_600, full: 40_000 }));
  });

  it('answers as plain arrays do, as released', () => {
    runPrograms(coreModule(), sized({ smoke: 600, full: 10_000 }));
  });
});
