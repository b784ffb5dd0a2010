// @ts-check
import { DOCUMENT_SIZES, openDocuments, shuffleKeys } from '../data/documents.mjs';
import { canonicalText } from './canonical.mjs';
import { loadModules, PARSE_FLOOR, peerDigests, STRINGIFY_FLOOR } from './digests.mjs';
import { isKept, omitEssence } from './omit.mjs';
import { hash128, PlainScanner } from './plain-scanner.mjs';
import { spellingFindings } from './spellings.mjs';

/**
 * @typedef {import('../data/documents.mjs').Document} Document
 * @typedef {import('../data/documents.mjs').Size} Size
 * @typedef {import('../harness/measure.mjs').Contestant} Contestant
 * @typedef {import('../harness/measure.mjs').Finding} Finding
 * @typedef {import('../harness/measure.mjs').Case} Case
 * @typedef {import('./digests.mjs').Digest} Digest
 * @typedef {import('./digests.mjs').Modules} Modules
 * @typedef {{ digest(valueOrJsonBytes: unknown): string }} Hasher
 */

export const name = 'essence';
export const summary = 'digest of an object without what does not count, from JSON bytes or from a parsed object';

const SHUFFLED = 'bytes shuffled keys 2.4 KB';

/** @returns {string[]} */
export function caseNames() {
  return [
    ...DOCUMENT_SIZES.map((size) => `bytes ${size}`),
    SHUFFLED,
    ...DOCUMENT_SIZES.map((size) => `object ${size}`),
  ];
}

/**
 * @param {import('../harness/process.mjs').Context} context
 * @returns {Promise<import('../harness/process.mjs').OpenSuite>}
 */
export async function open({ loadPackage }) {
  const { createEssenceHasher } = /** @type {{ createEssenceHasher(): Hasher }} */ (await loadPackage());
  const hasher = createEssenceHasher();
  const modules = await loadModules();
  const documents = await openDocuments();
  return {
    facts: { documents: documents.source },
    openCase(caseName) {
      const size = /** @type {Size} */ (caseName.replace(/^bytes shuffled keys |^bytes |^object /, ''));
      const found = documents.ofSize(size);
      const chosen = caseName === SHUFFLED ? found.map(shuffleKeys) : found;
      return caseName.startsWith('bytes')
        ? bytesCase(caseName, chosen, hasher, modules)
        : objectCase(caseName, chosen, hasher, modules);
    },
  };
}

/**
 * @param {string} caseName
 * @param {Document[]} documents
 * @param {Hasher} hasher
 * @param {Modules} modules
 * @returns {Case}
 */
function bytesCase(caseName, documents, hasher, modules) {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const inputs = documents.map(({ bytes }) => bytes);
  const encode = (/** @type {string} */ text) => encoder.encode(text);
  const peers = usable(modules, documents).map(({ name, lacks, isOrderDependent = false, ofValue }) => {
    const digest = (/** @type {Uint8Array} */ bytes) => ofValue(JSON.parse(decoder.decode(bytes)));
    return peer(name, lacks, inputs, digest, () => spellings(digest, encode, documents, isOrderDependent));
  });
  const scanner = new PlainScanner(isKept);
  const scan = (/** @type {Uint8Array} */ bytes) => hash128(scanner.scan(bytes));
  peers.push(
    peer('same algorithm in plain JavaScript', 'checks less of the text, another hash', inputs, scan, () => [
      ...spellings(scan, encode, documents, false),
      ...documents.map(({ bytes, value }) => ({
        what: 'the RFC 8785 text',
        actual: decoder.decode(scanner.scan(bytes)),
        expected: canonicalText(omitEssence(value)),
      })),
    ]),
  );
  const { name: floor, lacks, ofBytes } = PARSE_FLOOR;
  peers.push(
    peer(floor, lacks, inputs, ofBytes, () =>
      documents.map(({ bytes, value }) => ({ what: 'the document', actual: ofBytes(bytes), expected: value })),
    ),
  );
  const digest = (/** @type {Uint8Array} */ bytes) => hasher.digest(bytes);
  const check = () => [...spellings(digest, encode, documents, false), ...independent(hasher, modules, documents)];
  return { name: caseName, ...size(documents), subject: peer('plimsoll', undefined, inputs, digest, check), peers };
}

/**
 * @param {string} caseName
 * @param {Document[]} documents
 * @param {Hasher} hasher
 * @param {Modules} modules
 * @returns {Case}
 */
function objectCase(caseName, documents, hasher, modules) {
  const inputs = documents.map(({ value }) => value);
  /** @type {(text: string) => Record<string, unknown>} */
  const encode = (text) => JSON.parse(text);
  const peers = usable(modules, documents).map(({ name, lacks, isOrderDependent = false, ofValue }) =>
    peer(name, lacks, inputs, ofValue, () => spellings(ofValue, encode, documents, isOrderDependent)),
  );
  const { name: floor, lacks, ofValue } = STRINGIFY_FLOOR;
  peers.push(
    peer(floor, lacks, inputs, ofValue, () =>
      documents.map(({ value }) => ({ what: 'the document', actual: JSON.parse(ofValue(value)), expected: value })),
    ),
  );
  const digest = (/** @type {Record<string, unknown>} */ value) => hasher.digest(value);
  const check = () => [...spellings(digest, encode, documents, false), ...independent(hasher, modules, documents)];
  return { name: caseName, ...size(documents), subject: peer('plimsoll', undefined, inputs, digest, check), peers };
}

/**
 * A contestant that takes the inputs in turn.
 *
 * @template T
 * @param {string} name
 * @param {string | undefined} lacks
 * @param {readonly T[]} inputs
 * @param {(input: T) => unknown} digest
 * @param {() => Finding[]} check
 * @returns {Contestant}
 */
function peer(name, lacks, inputs, digest, check) {
  let next = 0;
  const operation = () => {
    const input = /** @type {T} */ (inputs[next]);
    next = next + 1 === inputs.length ? 0 : next + 1;
    return digest(input);
  };
  return { name, ...(lacks === undefined ? {} : { lacks }), check, operation };
}

/**
 * @param {Modules} modules
 * @param {readonly Document[]} documents
 */
function usable(modules, documents) {
  const { bytes } = size(documents);
  return peerDigests(modules).filter(({ bytesMax = Number.POSITIVE_INFINITY }) => bytes <= bytesMax);
}

/**
 * @template T
 * @param {(input: T) => unknown} digest
 * @param {(text: string) => T} encode
 * @param {readonly Document[]} documents
 * @param {boolean} isOrderDependent
 */
function spellings(digest, encode, documents, isOrderDependent) {
  return documents.flatMap(({ value }) => spellingFindings(digest, encode, value, { isOrderDependent }));
}

/**
 * The subject's digest of both forms of a document beside one computed without the library.
 *
 * @param {Hasher} hasher
 * @param {Modules} modules
 * @param {readonly Document[]} documents
 * @returns {Finding[]}
 */
function independent(hasher, { xxhash128 }, documents) {
  return documents.flatMap(({ value, bytes }) => {
    xxhash128.init();
    xxhash128.update(canonicalText(omitEssence(value)));
    const expected = `xxh3-128:${xxhash128.digest()}`;
    return [
      { what: 'XXH3-128 of the RFC 8785 text, from bytes', actual: hasher.digest(bytes), expected },
      { what: 'XXH3-128 of the RFC 8785 text, from the object', actual: hasher.digest(value), expected },
    ];
  });
}

/** @param {readonly Document[]} documents */
function size(documents) {
  const total = documents.reduce((sum, { bytes }) => sum + bytes.length, 0);
  return { n: documents.length, bytes: Math.round(total / documents.length) };
}
