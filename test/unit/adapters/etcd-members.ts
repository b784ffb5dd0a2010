import { type EtcdBackendOptions, openEtcdBackend } from '../../../src/adapters/etcd/mod.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { BackendPutOperation, BackendWatchItem } from '../../../src/types/backend.ts';

/** Members of a cluster that are a function, and what they say. */

export const A = 'http://a.invalid:1';
export const B = 'http://b.invalid:1';
export const HEADER = { cluster_id: '7', revision: '5' };
export const ALL = { start: new Uint8Array(0), end: new Uint8Array(0) };
export const bytes = (text: string) => new TextEncoder().encode(text);
export const PUT: BackendPutOperation = { type: 'put', key: bytes('a'), value: bytes('1') };

export type Answer = Response | Promise<Response>;
export type Handler = (path: string, body: Record<string, unknown>, init: RequestInit, endpoint: string) => Answer;

export const ok = (body: object) => Response.json({ header: HEADER, ...body });
export const refuse = (message: string, code = 11) => Response.json({ error: message, message, code }, { status: 400 });
export const refused = () => {
  throw Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' }),
  });
};
export const broken = () => {
  throw Object.assign(new TypeError('fetch failed'), { cause: new Error('other side closed') });
};
/** A stream of these lines, which then ends, or does not. */
export const lines = (messages: readonly object[], { isOpen = false, tail = '' } = {}) =>
  new Response(
    new ReadableStream({
      start(controller) {
        const text = messages.map((one) => `${JSON.stringify({ result: one })}\n`).join('') + tail;
        controller.enqueue(new TextEncoder().encode(text));
        if (!isOpen) controller.close();
      },
    }),
  );

/** A backend whose members are a function; `/kv/range`, by which it asks where etcd is, is answered unless that is done. */
export async function open(handler: Handler, options: Partial<EtcdBackendOptions> = {}) {
  const clock = createVirtualClock();
  const asked: string[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    const { origin, pathname } = new URL(url);
    const path = pathname.slice('/v3/'.length);
    asked.push(`${origin === A ? 'a' : 'b'} ${path}`);
    return handler(path, JSON.parse(String(init.body)), init, origin);
  };
  const backend = await openEtcdBackend({ endpoints: [A, B], fetch, clock, ...options });
  asked.length = 0;
  return { backend, asked, clock };
}

export const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

export async function read(stream: AsyncIterable<BackendWatchItem>, onItem: () => void = () => {}) {
  const told: string[] = [];
  const decoder = new TextDecoder();
  const run = async () => {
    for await (const item of stream) {
      const events = item.type === 'change' ? item.events : [];
      const names = events.map((one) => `${one.type} ${decoder.decode(one.type === 'put' ? one.kv.key : one.key)}`);
      told.push(`${item.type} ${item.revision}${names.length > 0 ? `: ${names.join(', ')}` : ''}`);
      onItem();
    }
  };
  return { told, error: await errorOf(run()) };
}
