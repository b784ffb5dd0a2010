import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { plimsoll, root } from './plimsoll.ts';

/** Real input, used where it is there; no test needs it. */
const data = fileURLToPath(new URL('../shared/data/', new URL('../../', import.meta.url)));
const realStream = `${data}watch-stream.ndjson.gz`;
const realTruth = `${data}watch-stream.truth.json`;

function event(type: string, name: string, revision: number): string {
  const metadata = { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: String(revision) };
  return `${JSON.stringify({ type, object: { apiVersion: 'v1', kind: 'Pod', metadata, spec: { revision } } }, null, 2)}\n`;
}

describe('plimsoll, built', () => {
  it('shows the main job on its own stream, in under 10 s on an idle machine', async () => {
    const { code, out } = await plimsoll(['demo', '--json']);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ ok: true, events: 3000, behind: 0, relists: 0 });
    expect(code).toBe(0);
    expect(report.elapsedMs).toBeLessThan(30_000);
  });

  it('recovers from a lost connection by one relist', async () => {
    const { code, out, err } = await plimsoll(['demo', '--seed', '5', '--kill-at', '1500']);
    expect(out).toMatch(
      /^ok {4}recovery +connection lost at event 1500 of 3000, recovered by 1 relist over \d+ connections$/m,
    );
    expect(out).toMatch(/all 6 checks are right\n$/);
    expect(err).not.toContain('Warning');
    expect(code).toBe(0);
  });

  it('reads what kubectl prints from a pipe that stays open, and ends on Ctrl-C', async () => {
    const input = event('ADDED', 'a', 5) + event('ADDED', 'b', 3);
    const { code, out, err } = await plimsoll(['demo', '--stream', '-'], {
      input,
      isOpen: true,
      onError: (text, kill) => {
        if (text.includes(' reading\n')) kill('SIGINT');
      },
    });
    expect(err).toMatch(/^2 events, .* low 5, high 5, queue 0, behind 0, reading$/m);
    expect([code, out]).toEqual([130, '']);
  });

  it('takes gzip from standard input', async () => {
    const input = gzipSync(event('ADDED', 'a', 5) + event('MODIFIED', 'a', 6) + event('DELETED', 'a', 9));
    const { code, out } = await plimsoll(['demo', '--stream', '-', '--json'], { input });
    expect(JSON.parse(out)).toMatchObject({ ok: true, events: 3, objects: 0, revision: 9 });
    expect(code).toBe(0);
  });

  it.each([
    [
      'a truncated gzip',
      gzipSync(event('ADDED', 'a', 5)).subarray(0, 60),
      1,
      /the gzip data end too early, after 60 packed and \d+ unpacked bytes\n$/,
    ],
    [
      'damaged gzip',
      new Uint8Array([0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
      1,
      /the gzip data are damaged \(unknown compression method\), noticed in packed bytes 0 to 11\n$/,
    ],
    [
      'revisions that go back',
      event('ADDED', 'a', 5) + event('MODIFIED', 'a', 4),
      1,
      /line 17, byte \d+: the revision goes back/,
    ],
  ])('refuses %s', async (_what, input, expectedCode, message) => {
    const { code, out, err } = await plimsoll(['demo', '--stream', '-'], { input });
    expect(err).toMatch(message);
    expect([code, out]).toEqual([expectedCode, '']);
  });

  it('tells usage errors from others', async () => {
    expect(await plimsoll(['demo', '--wrong'])).toMatchObject({ code: 2, out: '' });
    expect(await plimsoll([])).toMatchObject({ code: 2, out: '' });
    expect(await plimsoll(['demo', '--stream', 'no-such-file'])).toMatchObject({ code: 1, out: '' });
    expect(await plimsoll(['demo', '--stream', '.'])).toMatchObject({ code: 1, out: '' });
  });

  it('refuses an object whose key no store takes, instead of waiting for it for ever', async () => {
    const { code, out, err } = await plimsoll(['demo', '--stream', '-'], {
      input: event('ADDED', 'n'.repeat(70_000), 5),
    });
    expect(err).toMatch(/: line 1, byte 0: the key of the object is 70010 bytes long, at most 65535 fit\n$/);
    expect([code, out]).toEqual([1, '']);
  });

  it('hashes files and standard input', async () => {
    const { code, out } = await plimsoll(['hash', 'package.json', '-'], { input: readFileSync(`${root}package.json`) });
    expect(out).toMatch(/^(xxh3-128:[0-9a-f]{32}) {2}package\.json\n\1 {2}-\n$/);
    expect(code).toBe(0);
  });

  it('prints version and help', async () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    expect(await plimsoll(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
    expect((await plimsoll(['--help'])).out).toMatch(/^plimsoll: /);
  });
});

describe('plimsoll demo on the recorded stream, if it is there', () => {
  it('arrives at the state of the truth file', async () => {
    if (!existsSync(realStream)) return;
    const { code, out } = await plimsoll(['demo', '--stream', realStream, '--truth', realTruth]);
    const { final_state_sha256: sha256 } = JSON.parse(readFileSync(realTruth, 'utf8'));
    expect(out).toContain(`2053 objects, equal to the true final state, sha256 ${sha256} as in the truth file\n`);
    expect(out).toMatch(/last succeeded on the final essence, 0 behind, /);
    expect(code).toBe(0);
  });

  it('does so over a lost connection, and from a pipe', async () => {
    if (!existsSync(realStream)) return;
    const input = gunzipSync(readFileSync(realStream));
    const args = ['demo', '--stream', '-', '--truth', realTruth, '--kill-at', '12345', '--json'];
    const { code, out } = await plimsoll(args, { input });
    expect(JSON.parse(out)).toMatchObject({ ok: true, events: 20_000, objects: 2053, relists: 1, behind: 0 });
    expect(code).toBe(0);
  });
});
