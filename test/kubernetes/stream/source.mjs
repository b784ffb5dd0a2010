// @ts-check
// Where the stream comes from: the shared data beside the repository, 20,000 events of real objects, or a generated one.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { makeStream } from './generated.mjs';

/** @typedef {import('./objects.mjs').StreamEvent} StreamEvent */
/** @typedef {{ name: string, events: readonly StreamEvent[] }} Stream */

/** @param {string} name */
const shared = (name) => fileURLToPath(new URL(`../../../../shared/data/${name}`, import.meta.url));

/** So many of a generated stream, where there is no shared data. */
const MADE_MAX = 20_000;

/**
 * The stream of the shared data, or one that is made. With `count` about so many events of it: all of some objects. The whole one of
 * the shared data has to end as its truth says.
 *
 * @param {{ count?: number | undefined, random: () => number, isGenerated?: boolean }} options
 * @returns {Stream}
 */
export function readStream({ count, random, isGenerated = false }) {
  const file = shared('watch-stream.ndjson.gz');
  if (isGenerated || !existsSync(file)) return { name: 'generated', events: makeStream(random, count ?? MADE_MAX) };
  /** @type {StreamEvent[]} */
  const events = gunzipSync(readFileSync(file))
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  checkTruth(events, JSON.parse(readFileSync(shared('watch-stream.truth.json'), 'utf8')));
  const name = 'watch-stream of the shared data';
  return { name, events: count === undefined ? events : sample(events, count / events.length) };
}

/**
 * All events of some objects: the first ones of the stream are nothing but additions.
 *
 * @param {readonly StreamEvent[]} events
 * @param {number} share
 */
function sample(events, share) {
  return events.filter(({ object: { kind, metadata } }) => {
    const digest = createHash('sha256').update(`${kind}/${metadata.namespace}/${metadata.name}`).digest();
    return digest.readUInt32BE() / 2 ** 32 < share;
  });
}

/**
 * Throws unless the replay of the events comes to what is known of them.
 *
 * @param {readonly StreamEvent[]} events
 * @param {{ events: number, live_objects_at_end: number, final_state_sha256: string }} truth
 */
export function checkTruth(events, truth) {
  const lines = replay(events)
    .map(([key, { metadata }]) => `${key} ${metadata.uid} ${metadata.resourceVersion}\n`)
    .sort();
  const digest = createHash('sha256').update(lines.join('')).digest('hex');
  const found = [events.length, lines.length, digest];
  const wanted = [truth.events, truth.live_objects_at_end, truth.final_state_sha256];
  if (found.join() !== wanted.join()) throw new Error(`Cannot use the stream: it ends as ${found}, not as ${wanted}`);
}

/**
 * What is there at the end, each version of a kind by itself, as the stream has it.
 *
 * @param {readonly StreamEvent[]} events
 */
function replay(events) {
  /** @type {Map<string, import('./objects.mjs').KubernetesObject>} */
  const there = new Map();
  for (const { type, object } of events) {
    const { namespace, name } = object.metadata;
    const key = `${object.apiVersion}/${object.kind}/${namespace}/${name}`;
    if (type === 'DELETED') there.delete(key);
    else if (type !== 'BOOKMARK') there.set(key, object);
  }
  return [...there];
}
