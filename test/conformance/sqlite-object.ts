import { createDurableObjectDriver, type DurableObjectStorage, openSqliteBackend } from 'plimsoll/sqlite';
import { createVirtualClock, runBackendCases, testBackend } from 'plimsoll/testing';
import type { Failure } from './harness.ts';

/**
 * The suite for backends on the storage of Durable Objects. Each case has an object of its own, and so a data set of its own:
 * what is asked of an object is to run the case of the number that is its path.
 */
export class SqliteObject {
  readonly #storage: DurableObjectStorage;

  constructor({ storage }: { readonly storage: DurableObjectStorage }) {
    this.#storage = storage;
  }

  async fetch({ url }: Request): Promise<Response> {
    const one = casesOn(this.#storage)[Number(new URL(url).pathname.slice(1))];
    if (one === undefined) return Response.json({ failed: [{ name: url, message: 'there is no such case' }] });
    const { failed } = await runBackendCases([one]);
    return Response.json({
      failed: failed.map(({ name, rule, error }) => ({ name: titleOf(rule, name), message: messageOf(error) })),
    });
  }
}

/** What a worker is bound to. */
export interface ObjectNamespace {
  idFromName(name: string): unknown;
  get(id: unknown): { fetch(url: string): Promise<Response> };
}

export async function runInObjects(
  objects: ObjectNamespace,
  onStart: (name: string) => void,
): Promise<{ readonly passed: number; readonly failures: readonly Failure[] }> {
  const failures: Failure[] = [];
  // Their storage is not needed to know them by name.
  const cases = casesOn(undefined);
  for (const [index, { name, rule }] of cases.entries()) {
    onStart(titleOf(rule, name));
    const answer = await objects.get(objects.idFromName(String(index))).fetch(`http://object/${index}`);
    const { failed } = (await answer.json()) as { readonly failed: readonly Failure[] };
    failures.push(...failed);
  }
  return { passed: cases.length - failures.length, failures };
}

function casesOn(storage: DurableObjectStorage | undefined) {
  const clock = createVirtualClock();
  return testBackend({
    capabilities: { progress: true, writable: true, leases: true },
    open: () => openSqliteBackend({ driver: createDurableObjectDriver(storage as DurableObjectStorage), clock }),
    settle: () => clock.settle(),
    advance: (delayMs) => clock.advance(delayMs),
  });
}

function titleOf(rule: string, name: string): string {
  return `SQLite of a Durable Object: ${rule} ${name}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error
    ? `${error.message}\n${String((error.cause as Error)?.stack ?? error.stack)}`
    : String(error);
}
