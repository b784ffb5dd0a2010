import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../src/adapters/sqlite/native-version.ts';

describe('better-sqlite3 on a Node that is too old for it', () => {
  it.each([
    ['13.2.0', '20.20.2', true],
    ['14.0.0', '21.0.0', true],
    ['12.11.1', '20.20.2', false],
    ['13.2.0', '22.0.0', false],
    ['13.2.0', '26.1.0', false],
    ['?', '20.20.2', false],
  ])('%s on %s is refused: %s', (version, node, isRefused) => {
    const refusal = refusalOf(version, node);
    expect(refusal !== undefined).toBe(isRefused);
    if (isRefused) expect(refusal?.message).toContain('run "npm install better-sqlite3@12"');
  });
});
