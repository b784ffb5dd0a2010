import { beforeAll, describe, expect, it } from 'vitest';
import { EssenceCore } from '../../../src/core/essence-core.ts';
import { compileRules } from '../../../src/core/essence-rules.ts';
import { compileTinyCore } from '../../support/tiny-core.ts';
import { oracleText } from './oracle.ts';
import { utf8 } from './support.ts';

/**
 * The budget of moves, 32 bytes for each of the text, passes 2^32 for texts from 128 MB on. Here each byte buys 2^22, so
 * that a text of one kilobyte is there already.
 */
describe('the budget of moves of a text so long that it passes 32 bits', () => {
  let core: EssenceCore;
  beforeAll(async () => {
    const edit = ['json-order.ts', 'MOVES_A_BYTE: u64 = 32', 'MOVES_A_BYTE: u64 = 0x400000'] as const;
    core = new EssenceCore(
      await compileTinyCore([edit], { essence: true }),
      compileRules({ ignore: [], defaults: false }),
    );
  });

  it.each([1023, 1024, 1025, 2048, 3072, 4095, 4096, 8192])('is enough for a text of %i bytes', (length) => {
    // Twenty objects in the wrong order around a string: what is moved is more than 4,096 bytes, and far below 2^32.
    const [head, tail] = ['{"b":'.repeat(20), ',"a":0}'.repeat(20)];
    const text = `${head}"${'x'.repeat(length - head.length - tail.length - 2)}"${tail}`;
    expect(core.scan(utf8(text), false, 'test')).toBe(length);
    expect(core.text(length)).toBe(oracleText(JSON.parse(text), { ignore: [], defaults: false }));
  });
});
