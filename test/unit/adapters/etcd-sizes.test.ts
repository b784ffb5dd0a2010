import { describe, expect, it } from 'vitest';
import { messagesOf } from '../../../src/backends/etcd/answers.ts';
import { ALL, errorOf, lines, ok, open, read } from './etcd-members.ts';

const VALUE = btoa('v'.repeat(3000));
const ROW = { key: 'YQ==', value: VALUE, create_revision: '1', mod_revision: '3', version: '1' };

describe('answers of the gateway above their bound', () => {
  it('a list is a permanent error, and the next member is not asked for the same', async () => {
    const { backend, asked } = await open(
      (path) => ok(path === 'kv/txn' ? { responses: [{ response_range: { count: '1', kvs: [ROW] } }] } : {}),
      { answerBytesMax: 2000 },
    );
    const error = (await errorOf(backend.range({ ranges: [ALL] }))) as Error;
    expect(error).toMatchObject({ code: 'BACKEND', permanent: true, maybeCommitted: false });
    expect(error.message).toContain('http://a.invalid:1 has an answer of more than 2000 bytes (answerBytesMax)');
    expect(asked).toEqual(['a kv/txn']);
  });

  it('a line of a stream, finished or not, but not all of its lines together', async () => {
    const small = { events: [{ kv: { ...ROW, value: btoa('v'.repeat(900)) } }] };
    for (const tail of [`${JSON.stringify({ result: { events: [{ kv: ROW }] } })}\n`, 'x'.repeat(3000)]) {
      const { backend } = await open(
        (path) => (path === 'watch' ? lines([{ created: true }, small, small, small], { tail, isOpen: true }) : ok({})),
        { answerBytesMax: 2000 },
      );
      const { told, error } = await read(backend.watch({ ranges: [ALL], fromRevision: 3 }));
      expect(told.slice(0, 2)).toEqual(['open 5', 'change 3: put a']);
      expect((error as Error).message).toContain('more than 2000 bytes');
    }
  });

  it('a long line in many pieces is looked through once', async () => {
    const bytes = new TextEncoder().encode(`${JSON.stringify({ result: { text: 'é'.repeat(150_000) } })}\n`);
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at === bytes.length) controller.close();
        else controller.enqueue(bytes.subarray(at, ++at));
      },
    });
    const { signal } = new AbortController();
    const found: unknown[] = [];
    for await (const message of messagesOf(new Response(body), { endpoint: '', signal, bytesMax: 1e6 }))
      found.push(message);
    expect(found).toEqual([{ text: 'é'.repeat(150_000) }]);
  }, 20_000);
});
