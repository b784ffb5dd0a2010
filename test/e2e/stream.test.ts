import { describe, expect, it } from 'vitest';
import { createRandom } from '../faults/random.mjs';
import { BROKEN, type Broken } from '../kubernetes/stream/broken.mjs';
import { prove } from '../kubernetes/stream/prove.mjs';
import { findReaders } from '../kubernetes/stream/readers.mjs';
import { readStream } from '../kubernetes/stream/source.mjs';
import { reproduce, testSeed } from '../support/size.ts';

/** A little of `npm run test:kubernetes`: a generated stream to a reader in Node, which has to have at the end what the server has. */
async function proveSmall(seed: number, broken?: Broken): Promise<readonly string[]> {
  const [reader] = await findReaders(['node fetch']);
  if (reader === undefined) throw new Error('there is no reader');
  const stream = readStream({ count: 240, random: createRandom(seed), isGenerated: true });
  const { wrong } = await prove({ reader, stream, random: createRandom(seed), rounds: 16, broken });
  return wrong;
}

describe('a watch stream through the test API server to a resource cache, as processes', () => {
  it('ends as the server does, whatever has gone wrong in between', async () => {
    expect(await proveSmall(testSeed()), reproduce('e2e')).toEqual([]);
  });

  it('notices a reader that ignores ends, one whose index is not kept up, and one that goes back', async () => {
    const found = await Promise.all(BROKEN.map((broken) => proveSmall(7, broken)));
    const about = found.map((wrong) => wrong.join('\n'));
    expect(about[0]).toMatch(/the state has ghosts/);
    expect(about[1]).toMatch(/^the index is wrong about/);
    expect(about[2]).toMatch(/the state is wrong about/);
  });

  it('has failed, and is over at once, with a reader that has died', async () => {
    const [reader] = await findReaders(['node fetch']);
    if (reader === undefined) throw new Error('there is no reader');
    const stream = readStream({ count: 240, random: createRandom(7), isGenerated: true });
    const dead = { ...reader, args: ['--eval', 'process.exit(3)'] };
    const { wrong } = await prove({ reader: dead, stream, random: createRandom(7), rounds: 16 });
    expect(wrong).toEqual([expect.stringContaining('The reader ended with 3')]);
  });
});
