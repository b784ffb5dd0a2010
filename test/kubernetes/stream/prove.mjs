// @ts-check
// One proof: a stream is written to a server, and all the while things go wrong between the server and a reader; then nothing does, and the
// reader has to have what the server has.
import { setImmediate as turn } from 'node:timers/promises';
import { Feed } from './feed.mjs';
import { kindsOf } from './kinds.mjs';
import { Names } from './names.mjs';
import { keyText } from './objects.mjs';
import { ReaderProcess } from './reader-process.mjs';
import { compareReport, compareTruth, listAll } from './state.mjs';
import { openTestServer } from './test-server.mjs';

/**
 * @typedef {object} Proof
 * @property {string} reader
 * @property {readonly string[]} wrong Empty: passed.
 * @property {string} summary
 * @property {readonly string[]} notes What the server would not take as it was.
 *
 * @typedef {object} ProofOptions
 * @property {import('./readers.mjs').Reader} reader
 * @property {import('./source.mjs').Stream} stream
 * @property {() => number} random
 * @property {number} rounds Faults.
 * @property {import('./broken.mjs').Broken | undefined} [broken]
 * @property {(kinds: ReturnType<typeof kindsOf>, random: () => number, namespaces: ReadonlySet<string>) => Promise<import('./test-server.mjs').Subject>} [open]
 */

/** Name of the object that is written last, of each kind: who has seen it has seen everything before it. */
const END = 'end-of-stream';
/** Events between two turns of the event loop, in which sockets are read and written. */
const EVENTS_A_TURN = 4;

/**
 * A proof that cannot be finished, as of a reader that has died, has failed.
 *
 * @param {ProofOptions} options
 * @returns {Promise<Proof>}
 */
export async function prove(options) {
  try {
    return await attempt(options);
  } catch (error) {
    const wrong = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
    return { reader: options.reader.name, wrong, summary: 'not finished', notes: [] };
  }
}

/**
 * @param {ProofOptions} options
 * @returns {Promise<Proof>}
 */
async function attempt({ reader, stream, random, rounds, broken, open = openTestServer }) {
  const began = performance.now();
  const names = new Names();
  const subject = await open(kindsOf(stream.events), random, namespacesOf(stream.events));
  const feed = new Feed(subject.call, subject.kinds, names);
  const { url, token, authority, only, env = {} } = subject;
  const options = { url, transport: reader.transport, token, authority, only, broken };
  const child = new ReaderProcess(reader, options, { ...process.env, ...env });
  try {
    child.start();
    await child.during(play(stream.events, { feed, subject, rounds, random }));
    subject.heal();
    const ends = await writeEnds(feed, subject);
    const server = await listAll(subject.call, subject.kinds.values());
    const report = await child.report(ends);
    const wrong = [...compareReport(report, server), ...(await child.end())];
    wrong.push(...unmet(subject.hits));
    if (!subject.refuses) wrong.push(...compareTruth(server, feed.truth()), ...refused(feed));
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const faults = [...subject.hits.values()].reduce((sum, count) => sum + count, 0);
    const summary = [
      `${feed.counts.events} events in ${feed.counts.requests} requests, ${subject.kinds.size} kinds`,
      `${rounds} faults met ${faults} times, ${subject.requests()}, ${report.calls} calls`,
      `${server.size} objects at the end, ${seconds} s`,
    ].join('; ');
    return {
      reader: reader.name,
      wrong,
      summary,
      notes: [...notesOf(names, feed, subject.hits), ...(subject.notes ?? [])],
    };
  } finally {
    child.kill();
    await subject.close();
  }
}

/**
 * Writes the events; faults come between them. Before the first ones, and before every second of the others, all watches are open again, so
 * that faults are met and events come by watches, and not by lists alone.
 *
 * @param {readonly import('./objects.mjs').StreamEvent[]} events
 * @param {{ feed: Feed, subject: import('./test-server.mjs').Subject, rounds: number, random: () => number }} world
 */
async function play(events, { feed, subject, rounds, random }) {
  const size = Math.ceil(events.length / (rounds + 1));
  let round = 0;
  // Some events come before the reader: these it finds in its lists.
  for (const [index, event] of events.entries()) {
    await feed.apply(event);
    if (index % EVENTS_A_TURN === 0) await turn();
    if ((index + 1) % size !== 0 || ++round > rounds) continue;
    if (round <= subject.hits.size || random() < 0.5) await subject.watched();
    await subject.round();
  }
  await subject.watched();
}

/**
 * Writes one more object of each kind, and returns the keys and uids of these.
 *
 * @param {Feed} feed
 * @param {import('./test-server.mjs').Subject} subject
 * @returns {Promise<readonly (readonly [key: string, uid: string])[]>}
 */
async function writeEnds(feed, { kinds, refuses }) {
  /** @type {[string, string][]} */
  const ends = [];
  for (const [text, kind] of kinds) {
    // As one that was taken: a real server wants what it wants of a kind.
    const like = feed.accepted.get(text);
    if (like === undefined && refuses) continue;
    const { namespace = 'default' } = like?.metadata ?? {};
    const [version = ''] = kind.versions;
    const object = { ...like, metadata: { name: END, namespace, uid: `end of ${text}` } };
    const apiVersion = kind.group === '' ? version : `${kind.group}/${version}`;
    await feed.apply({ type: 'ADDED', object: { ...object, status: undefined, apiVersion, kind: kind.kind } });
    const key = keyText({ ...kind, namespace: kind.namespaced ? namespace : '', name: END });
    const written = feed.written.get(key);
    if (written !== undefined) ends.push([key, written.uid]);
  }
  return ends;
}

/** @param {readonly import('./objects.mjs').StreamEvent[]} events */
function namespacesOf(events) {
  return new Set(events.flatMap(({ object: { metadata } }) => metadata.namespace ?? []));
}

/** A fault that nobody has met proves nothing. @param {ReadonlyMap<string, number>} hits */
function unmet(hits) {
  return [...hits].filter(([, count]) => count === 0).map(([name]) => `the fault ${name} was never met`);
}

/** @param {Feed} feed */
function refused({ refusals }) {
  return [...refusals].map(([said, count]) => `the server refused ${count} requests: ${said}`);
}

/**
 * @param {Names} names
 * @param {Feed} feed
 * @param {ReadonlyMap<string, number>} hits
 */
function notesOf({ counts }, { refusals }, hits) {
  return [
    `${counts.refused.size} objects have a name that Kubernetes refuses, ${counts.otherVersion.size} one that another version has: written under another one`,
    `faults: ${[...hits].map(([name, count]) => `${name} ${count}`).join(', ')}`,
    ...[...refusals].sort(([, a], [, b]) => b - a).map(([said, count]) => `refused ${count} times: ${said}`),
  ];
}
