import { describe, expect, it } from 'vitest';
import { runDemo } from '../../../src/cli/demo/demo-command.ts';
import { delay } from '../../../src/cli/demo/run-state.ts';
import { StreamBackend } from '../../../src/cli/demo/stream-backend.ts';
import type { StreamEvent } from '../../../src/cli/demo/stream-event.ts';
import { Interrupt } from '../../../src/cli/host.ts';
import { run } from '../../../src/cli/run.ts';
import { bookmark, line, stream } from './stream-text.ts';
import { createTestHost, type TestHost, type TestInput } from './test-host.ts';

const SMALL = ['--objects', '20', '--events', '700'];
const ESCAPE = String.fromCharCode(27);

/** Runs the demo on a host of its own; its parts may be replaced by broken ones. */
async function demo(
  args: readonly string[],
  parts: Parameters<typeof runDemo>[2] = {},
  host: TestHost = createTestHost(),
) {
  const code = await host.settle(runDemo(args, host, parts));
  return { code, out: host.out(), err: host.err() };
}

/** The same on a stream from standard input, by way of the whole command. */
async function demoOn(input: TestInput | string, ...args: readonly string[]) {
  const host = createTestHost({ inputs: { '-': input } });
  const code = await host.settle(run(['demo', '--stream', '-', ...args], host));
  return { code, out: host.out(), err: host.err() };
}

const added = (name: string, revision: number) => line({ type: 'ADDED', name, revision });

describe('demo on the built-in stream', () => {
  it('finds everything right, the same figures each time', async () => {
    const [first, second] = [await demo(SMALL), await demo(SMALL)];
    expect(first.code).toBe(0);
    expect(first.out.replace(/[\d.]+ s:/, '')).toBe(second.out.replace(/[\d.]+ s:/, ''));
    const lines = first.out.trimEnd().split('\n');
    expect(lines.map((text) => text.slice(0, 22).trimEnd())).toEqual([
      'ok    list',
      'ok    pages',
      'ok    watch, replayed',
      'ok    watch, compacted',
      'ok    handlers',
      expect.stringMatching(/^700 events, \d+ object/),
    ]);
    expect(first.out).toMatch(/\n700 events, \d+ objects alive, [\d.]+ s: all 5 checks are right\n$/);
    expect(first.out).toMatch(/passed after \d{3} changes, told 1 time/);
    expect(first.out).toMatch(/, 0 behind, \d+ calls, 0 failed, an index of \d+ namespaces?\n/);
  });

  it.each([1, 20, 21, 22, 300, 699, 700])('recovers from a connection lost at event %d', async (killAt) => {
    const { code, out } = await demo([...SMALL, '--kill-at', String(killAt)]);
    expect(out).toMatch(
      killAt <= 20
        ? /ok {4}recovery +connection lost at event \d+ of 700, before the first list was complete: listed anew\n/
        : /ok {4}recovery +connection lost at event \d+ of 700, recovered by 1 relist over \d connections\n/,
    );
    expect(out).toContain('all 6 checks are right');
    expect(code).toBe(0);
  });

  it.each([1, 2, 3, 4, 5, 6])('is right for other seeds (%d) and sizes', async (seed) => {
    const sizes = ['--objects', String(seed * 7), '--events', String(40 + seed * 90)];
    const { code, out } = await demo(['--seed', String(seed), ...sizes, '--kill-at', String(25 + seed * 40)]);
    expect(out).toContain('all 6 checks are right');
    expect(code).toBe(0);
  });

  it('prints one JSON document with --json', async () => {
    const { code, out } = await demo([...SMALL, '--json', '--kill-at', '400']);
    const report = JSON.parse(out);
    expect(code).toBe(0);
    expect(report).toMatchObject({ ok: true, events: 700, relists: 1, violations: 0, behind: 0, handlerFailures: 0 });
    expect(report.checks.map(({ name, outcome }: { name: string; outcome: string }) => `${name}: ${outcome}`)).toEqual([
      'list: ok',
      'pages: ok',
      'watch, replayed: ok',
      'watch, compacted: ok',
      'recovery: ok',
      'handlers: ok',
    ]);
  });

  it('shows one live line on a terminal and cleans it up, and plain lines elsewhere', async () => {
    const terminal = createTestHost({ isTerminal: true });
    await demo(SMALL, { work: slowWork(terminal, 50) }, terminal);
    expect(terminal.err()).toMatch(new RegExp(`^(\\r${ESCAPE}\\[2K[^\\n\\r]{1,79})+\\r${ESCAPE}\\[2K$`));
    const plain = createTestHost();
    await demo(SMALL, { work: slowWork(plain, 300) }, plain);
    expect(plain.err()).toMatch(/^(\d+ events, \d+\/s, low \d+, high \d+, queue \d+, behind \d+, [a-z ]+\n)+$/);
  });
});

/** Slower than usual, so that there is something to see. */
function slowWork(host: TestHost, workMs: number): (id: string, succeed: () => void) => Promise<void> {
  return (_id, succeed) => delay(host.clock, workMs, new AbortController().signal).then(succeed);
}

class BrokenBackend extends StreamBackend {
  readonly #isHit: (event: StreamEvent) => boolean;

  constructor(isHit: (event: StreamEvent) => boolean) {
    super('read');
    this.#isHit = isHit;
  }

  override ingest(event: StreamEvent): void {
    if (this.isListed && this.#isHit(event)) return;
    super.ingest(event);
  }
}

describe('demo on broken parts', () => {
  it('finds an event that the backend lost: by list, watches and handlers', async () => {
    let count = 0;
    const backend = new BrokenBackend((event) => event.type === 'MODIFIED' && ++count === 400);
    const { code, out } = await demo(SMALL, { backend });
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL {2}watch, replayed {3}not as it has to be$/m);
    expect(out).toMatch(
      /first difference \(watch, replayed\)\n {2}key {7}\S+\n {2}expected {2}put at revision \d+\n {2}actual {4}put at/,
    );
    expect(out).toMatch(/1 of 5 checks failed\n$/);
  });

  it.each(['MODIFIED', 'DELETED', 'BOOKMARK'])('says what is wrong when the last %s is lost', async (type) => {
    /** The last event of the type by key, as long as nothing of another type came behind it: that would mend it. */
    const lasts = new Map<string, number>();
    const spy = new BrokenBackend((event) => {
      const key = event.type === 'BOOKMARK' ? 'bookmark' : event.key;
      if (event.type === type) lasts.set(key, event.revision);
      else lasts.delete(key);
      return false;
    });
    expect((await demo(SMALL, { backend: spy })).code).toBe(0);
    const last = Math.max(...lasts.values());
    const isLast = (event: StreamEvent): boolean => event.type === type && event.revision === last;
    const { code, out } = await demo(SMALL, { backend: new BrokenBackend(isLast) });
    // A bookmark changes nothing; without the last deletion an object lives on for ever.
    expect(code).toBe(type === 'BOOKMARK' ? 0 : 1);
    if (type === 'DELETED') {
      expect(out).toMatch(/^FAIL {2}list/m);
      expect(out).toMatch(/^ {2}expected {2}no such object\n {2}actual {4}the object at revision \d+$/m);
    }
    if (type === 'MODIFIED') expect(out).toMatch(/^FAIL {2}/m);
  });

  it('finds a sub-handler that was not called for the last state', async () => {
    let calls = 0;
    const host = createTestHost();
    const work = async (id: string, succeed: () => void): Promise<void> => {
      await delay(host.clock, 5, new AbortController().signal);
      if (id !== 'deploy/storage' || ++calls > 1) succeed();
    };
    const { code, out } = await demo(['--objects', '5', '--events', '5'], { work }, host);
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL {2}handlers/m);
    expect(out).toMatch(
      / {2}expected {2}deploy\/storage succeeded on xxh3-128:[0-9a-f]{32}\n {2}actual {4}no successful call\n/,
    );
  });

  it('ends with what it waits for when a handler never ends', async () => {
    const host = createTestHost();
    const work = (id: string, succeed: () => void) =>
      id === 'deploy/notify' ? new Promise<void>(() => {}) : Promise.resolve().then(succeed);
    await expect(demo([...SMALL, '--timeout-s', '7'], { work }, host)).rejects.toThrow(
      'Cannot finish the demo: nothing happened for 7 s while waiting for the handlers, ',
    );
  });
});

describe('demo on a stream', () => {
  it('takes the leading ADDED in any order as the first list', async () => {
    const text = stream(added('b', 9), added('a', 3), added('c', 5), line({ name: 'a', revision: 10 }), bookmark(20));
    const { code, out } = await demoOn(text, '--json');
    expect(JSON.parse(out)).toMatchObject({ ok: true, events: 5, listed: 3, changes: 1, bookmarks: 1, revision: 20 });
    expect(code).toBe(0);
  });

  it('reads pretty-printed and concatenated JSON as kubectl prints it', async () => {
    const events = [added('a', 3), line({ name: 'b', revision: 4 }), line({ type: 'DELETED', name: 'a', revision: 6 })];
    const text = events.map((one) => JSON.stringify(JSON.parse(one), null, 4)).join('\n');
    const { code, out } = await demoOn(text, '--json');
    expect(JSON.parse(out)).toMatchObject({ ok: true, events: 3, objects: 1 });
    expect(code).toBe(0);
  });

  it('ends the first list after a second of silence, and then takes only rising revisions', async () => {
    const chunks = [stream(added('a', 9), added('b', 3)), stream(added('c', 10)), stream(added('d', 4))];
    const quick = await demoOn({ chunks, afterMs: 900 }, '--json');
    expect(JSON.parse(quick.out)).toMatchObject({ ok: true, listed: 4, changes: 0 });
    const slow = await demoOn({ chunks: chunks.slice(0, 2), afterMs: 1100 }, '--json');
    expect(JSON.parse(slow.out)).toMatchObject({ ok: true, listed: 2, changes: 1 });
    const file = await demoOn({ chunks, afterMs: 1100, isFile: true }, '--json');
    expect(JSON.parse(file.out)).toMatchObject({ ok: true, listed: 4, changes: 0 });
    const back = await demoOn({ chunks, afterMs: 1100 });
    expect(back.err).toContain('the revision goes back: 4 comes after 10');
    expect(back.code).toBe(1);
  });

  it('lives with keys of the largest size', async () => {
    const name = 'n'.repeat(65_525);
    const text = stream(added(name, 3), line({ name, revision: 4 }), line({ name: 'b', revision: 5 }));
    const { code, out } = await demoOn(text, '--json');
    expect(JSON.parse(out)).toMatchObject({ ok: true, events: 3, objects: 2 });
    expect(code).toBe(0);
  });

  it('says so when there is no occasion for a check', async () => {
    const { code, out } = await demoOn(stream(added('a', 3), added('b', 4)));
    expect(out).toContain('-     watch, compacted  not shown: it takes two revisions behind the first list\n');
    expect(out).toMatch(/2 events, 2 objects alive, [\d.]+ s: all 4 checks are right\n$/);
    expect(code).toBe(0);
  });

  it('lives with a first list that is empty, unknown objects and other uids', async () => {
    const text = stream(
      line({ name: 'a', revision: 5 }),
      line({ type: 'DELETED', name: 'x', revision: 6 }),
      added('b', 7),
      line({ type: 'ADDED', name: 'a', revision: 8, uid: 'other' }),
      line({ type: 'DELETED', name: 'b', revision: 9 }),
      line({ type: 'ADDED', name: 'b', revision: 11, uid: 'third', spec: { replicas: 2 } }),
    );
    const { code, out } = await demoOn(text, '--json');
    expect(JSON.parse(out)).toMatchObject({ ok: true, listed: 0, changes: 5, ignoredDeletes: 1, objects: 2 });
    expect(code).toBe(0);
  });

  it('recovers when the lost changes cancel each other out', async () => {
    const text = stream(
      added('a', 3),
      line({ name: 'a', revision: 4 }),
      added('b', 5),
      line({ type: 'DELETED', name: 'b', revision: 6 }),
    );
    for (const killAt of ['3', '4']) {
      const { code, out } = await demoOn(text, '--kill-at', killAt);
      expect(out).toMatch(/ok {4}recovery +connection lost at event \d of 4, recovered by 1 relist/);
      expect(code).toBe(0);
    }
  });

  const good = stream(added('a', 3), line({ name: 'a', revision: 4 }));
  it.each([
    ['no event at all', '', 1, 'Cannot read the stream from standard input: it has no events'],
    ['blank lines only', '\n\n', 1, 'Cannot read the stream from standard input: it has no events'],
    ['text', `${good}oops`, 1, /line 3, byte \d+: expected a JSON object, found "o"/],
    ['an end in the middle', good.slice(0, -10), 1, /line 2, byte \d+: the object that begins here has no end/],
    ['broken JSON', `${good}{"type":}\n`, 1, /line 3, byte \d+: /],
    [
      'a lone surrogate',
      `${good}${line({ revision: 5, spec: 'SS' }).replace('SS', '\\udc00')}\n`,
      1,
      /line 3, byte \d+: .*surrogate/,
    ],
    [
      'an ERROR event',
      `${good}{"type":"ERROR","object":{"message":"gone"}}\n`,
      1,
      'the stream reports an error: "gone"',
    ],
    [
      'a name of 70000 bytes',
      `${good}${line({ revision: 5, name: 'n'.repeat(70_000) })}\n`,
      1,
      /line 3, byte \d+: the key of the object is 70010 bytes long, at most 65535 fit\n$/,
    ],
    ['an object without a name', `${good}${line({ revision: 5, name: '' })}\n`, 1, 'object.metadata.name is ""'],
    [
      'revisions that go back',
      `${good}${line({ revision: 4 })}\n`,
      1,
      /line 3, byte \d+: the revision goes back: 4 comes after 4/,
    ],
    ['an event that is no change', `${good}{"kind":"Pod"}\n`, 1, 'the object has no "type"'],
  ])('refuses a stream with %s', async (_what, text, expectedCode, message) => {
    const { code, out, err } = await demoOn(text);
    expect(err).toMatch(message);
    expect([code, out]).toEqual([expectedCode, '']);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('refuses bytes that are not UTF-8', async () => {
    const bytes = new TextEncoder().encode(good);
    bytes[bytes.length - 20] = 0xfe;
    const { code, err } = await demoOn({ chunks: [bytes] });
    expect(err).toMatch(/^plimsoll: Cannot read the stream from standard input: line 2, byte \d+: .*UTF-8/);
    expect(code).toBe(1);
  });

  it('refuses --kill-at beyond the end of the stream once it knows', async () => {
    const { code, err } = await demoOn(good, '--kill-at', '3');
    expect(err).toBe(
      'plimsoll: Cannot run the demo: --kill-at is 3, but the stream ends after event 2\nTry "plimsoll demo --help"\n',
    );
    expect(code).toBe(2);
  });

  it('tells of an error in JSON as well with --json', async () => {
    const { code, out } = await demoOn(`${good}oops`, '--json');
    expect(JSON.parse(out)).toMatchObject({ ok: false, place: { line: 3 } });
    expect(code).toBe(1);
  });

  it('ends a stream that says nothing more with what it waits for', async () => {
    const { code, err } = await demoOn({ chunks: [good], isOpen: true }, '--timeout-s', '5');
    expect(err).toMatch(
      /plimsoll: Cannot finish the demo: nothing happened for 5 s while waiting for the next event of the stream\n$/,
    );
    expect(code).toBe(1);
    const silent = await demoOn({ chunks: [], isOpen: true }, '--timeout-s', '5');
    expect(silent.err).toMatch(/while waiting for the first list of the stream\n$/);
  });

  it('ends on an interrupt, whatever it waits for, and leaves a clean line', async () => {
    for (const chunks of [[], [good]]) {
      const host = createTestHost({ inputs: { '-': { chunks, isOpen: true } }, isTerminal: true });
      const running = run(['demo', '--stream', '-', '--timeout-s', '0'], host);
      await host.clock.advance(3000);
      host.interrupt(new Interrupt(130));
      expect(await host.settle(running, 5000)).toBe(130);
      expect(host.err().endsWith(`\r${ESCAPE}[2K`)).toBe(true);
      expect([host.out(), host.clock.pending]).toEqual(['', 0]);
    }
  });
});

describe('demo with a truth file', () => {
  // sha256 of "v1/Pod/ns/a uid-a 4\n"
  const sha256 = '5c0ab8a4b8ad0b1a1a6b5f0d0000000000000000000000000000000000000000';
  const text = stream(added('a', 3), line({ name: 'a', revision: 4 }));

  async function withTruth(truth: unknown) {
    const file = typeof truth === 'string' ? truth : JSON.stringify(truth);
    const host = createTestHost({ inputs: { '-': text, 'truth.json': file } });
    const code = await host.settle(run(['demo', '--stream', '-', '--truth', 'truth.json'], host));
    return { code, out: host.out(), err: host.err() };
  }

  it('agrees with the hash of the final state, and names the first fact that differs', async () => {
    const wrong = await withTruth({ final_state_sha256: sha256 });
    expect(wrong.code).toBe(1);
    const actual = /key {7}final_state_sha256\n {2}expected {2}5c0a\w+\n {2}actual {4}(\w{64})\n/.exec(wrong.out)?.[1];
    const { createHash } = await import('node:crypto');
    expect(actual).toBe(createHash('sha256').update('v1/Pod/ns/a uid-a 4\n').digest('hex'));
    const right = await withTruth({ final_state_sha256: actual, events: 2, live_objects_at_end: 1 });
    expect(right.out).toContain(`1 object, equal to the true final state, sha256 ${actual} as in the truth file\n`);
    expect(right.code).toBe(0);
    const miscounted = await withTruth({ final_state_sha256: actual, events: 3 });
    expect(miscounted.out).toContain('  key       events\n  expected  3\n  actual    2\n');
  });

  it.each([
    ['{', /^plimsoll: Cannot read the truth from truth.json: line 1, byte 1: the text ends too early\n$/],
    ['{\n  "events" 3\n}', /^plimsoll: Cannot read the truth from truth.json: line 2, byte 13: ":" was expected\n$/],
    ['', /^plimsoll: Cannot read the truth from truth.json: line 1, byte 0: .+\n$/],
    ['[]', /it is not a JSON object/],
    ['{}', /final_state_sha256 is not a SHA-256 in hexadecimal digits/],
    ['7', /it is not a JSON object/],
    [{ final_state_sha256: 'abc' }, /final_state_sha256 is not a SHA-256/],
    [{ final_state_sha256: sha256, events: '3' }, /events is "3", not an integer/],
  ])('refuses the truth %j', async (truth, message) => {
    const { code, out, err } = await withTruth(truth);
    expect(err).toMatch(message);
    expect([code, out]).toEqual([1, '']);
  });
});
