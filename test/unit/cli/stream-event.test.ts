import { describe, expect, it } from 'vitest';
import { parseStreamEvent } from '../../../src/cli/demo/stream-event.ts';
import { DataError } from '../../../src/cli/errors.ts';
import { createEssenceHasherWith } from '../../../src/core/essence-hasher.ts';
import { coreModule } from '../../../src/core/module.ts';
import { bookmark, line } from './stream-text.ts';

const scanner = createEssenceHasherWith(coreModule(), { defaults: false });
const encoder = new TextEncoder();

function parse(text: string | Uint8Array) {
  const bytes = typeof text === 'string' ? encoder.encode(text) : text;
  return parseStreamEvent({ bytes, line: 5, offset: 1000 }, 'read it', scanner);
}

function faultOf(text: string | Uint8Array): string {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof DataError) return error.message;
    throw error;
  }
  return 'no fault';
}

/** A good event with one part replaced. */
function withPart(path: string, value: unknown): string {
  const event = JSON.parse(line({ type: 'ADDED', revision: 7 }));
  const keys = path.split('.');
  const last = keys.pop() as string;
  const parent = keys.reduce((part, key) => part[key], event);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return JSON.stringify(event);
}

describe('parseStreamEvent', () => {
  it('reads what it needs', () => {
    const event = parse(
      line({ type: 'DELETED', name: 'web', namespace: 'shop', revision: 9007199254740991, uid: 'u' }),
    );
    expect(event).toMatchObject({ type: 'DELETED', key: 'v1/Pod/shop/web', uid: 'u', revision: 2 ** 53 - 1 });
    expect(event.place).toEqual({ line: 5, offset: 1000 });
    expect(parse(bookmark(12))).toEqual({ type: 'BOOKMARK', place: { line: 5, offset: 1000 }, revision: 12 });
  });

  it.each([
    ['no namespace', 'object.metadata.namespace', undefined, 'v1/Pod//a'],
    ['an empty namespace', 'object.metadata.namespace', '', 'v1/Pod//a'],
    ['a null namespace', 'object.metadata.namespace', null, 'v1/Pod//a'],
    ['a group', 'object.apiVersion', 'apps/v1', 'apps/v1/Pod/ns/a'],
    ['a name with a colon', 'object.metadata.name', 'system:node', 'v1/Pod/ns/system:node'],
    ['no uid', 'object.metadata.uid', undefined, 'v1/Pod/ns/a'],
  ])('makes the key of an object with %s', (_what, path, value, key) => {
    expect(parse(withPart(path, value))).toMatchObject({ key });
  });

  const range = 'a decimal string from 1 to 9007199254740991';
  it.each([
    [
      'type',
      undefined,
      'the object has no "type": a watch event is {"type", "object"} (kubectl --output-watch-events)',
    ],
    ['type', 'CHANGED', 'the type of the event is "CHANGED", not ADDED, MODIFIED, DELETED or BOOKMARK'],
    ['type', 7, 'the type of the event is 7, not ADDED, MODIFIED, DELETED or BOOKMARK'],
    ['object', undefined, 'object is missing'],
    ['object', [], 'object is an array, not an object'],
    ['object', 'x', 'object is "x", not an object'],
    ['object.metadata', null, 'object.metadata is null, not an object'],
    ['object.metadata', undefined, 'object.metadata is missing'],
    ['object.metadata.name', undefined, 'object.metadata.name is missing'],
    ['object.metadata.name', 7, 'object.metadata.name is 7, not a string with content'],
    ['object.metadata.name', '', 'object.metadata.name is "", not a string with content'],
    ['object.metadata.name', 'a/b', 'object.metadata.name has a slash: "a/b"'],
    ['object.metadata.namespace', {}, 'object.metadata.namespace is an object, not a string with content'],
    ['object.metadata.namespace', 'a/b', 'object.metadata.namespace has a slash: "a/b"'],
    ['object.metadata.uid', 7, 'object.metadata.uid is 7, not a string'],
    ['object.kind', undefined, 'object.kind is missing'],
    ['object.apiVersion', null, 'object.apiVersion is null, not a string with content'],
    ['object.apiVersion', 'a/b/c', 'object.apiVersion has more than one slash'],
    ['object.metadata.resourceVersion', undefined, 'object.metadata.resourceVersion is missing'],
    ['object.metadata.resourceVersion', 7, `object.metadata.resourceVersion is 7, not ${range}`],
    ['object.metadata.resourceVersion', '', `object.metadata.resourceVersion is "", not ${range}`],
    ['object.metadata.resourceVersion', '0', `object.metadata.resourceVersion is "0", not ${range}`],
    ['object.metadata.resourceVersion', '-7', `object.metadata.resourceVersion is "-7", not ${range}`],
    ['object.metadata.resourceVersion', '1e3', `object.metadata.resourceVersion is "1e3", not ${range}`],
    ['object.metadata.resourceVersion', '07', `object.metadata.resourceVersion is "07", not ${range}`],
    [
      'object.metadata.resourceVersion',
      '9007199254740992',
      `object.metadata.resourceVersion is "9007199254740992", not ${range}`,
    ],
  ])('refuses %s: %j', (path, value, reason) => {
    expect(faultOf(withPart(path, value))).toBe(`Cannot read it: line 5, byte 1000: ${reason}`);
  });

  it.each([
    ['x', 65_526, 65_536],
    ['€', 21_842, 65_536],
  ])('refuses a key that no store takes: of %j, %d times', (character, times, size) => {
    const reason = `the key of the object is ${size} bytes long, at most 65535 fit`;
    expect(faultOf(withPart('object.metadata.name', character.repeat(times)))).toBe(
      `Cannot read it: line 5, byte 1000: ${reason}`,
    );
    const event = parse(withPart('object.metadata.name', character.repeat(times - 1)));
    expect(event).toMatchObject({ key: `v1/Pod/ns/${character.repeat(times - 1)}` });
  });

  it('tells what an ERROR event says', () => {
    const text = JSON.stringify({ type: 'ERROR', object: { kind: 'Status', message: 'too old', metadata: {} } });
    expect(faultOf(text)).toBe('Cannot read it: line 5, byte 1000: the stream reports an error: "too old"');
  });

  it.each([
    ['a missing comma', '{"type":"ADDED"\n "object":{}}', 6, 17],
    ['a lone surrogate', '{"type":"ADDED","object":{"a":"\\ud800"}}', 5, 31],
    ['a number above any double', '{"a":1e400}', 5, 5],
    ['a mismatched bracket', '{"a":[1}', 5, 7],
    ['a control character in a string', '{"a":"\t"}', 5, 6],
  ])('refuses %s at its very byte', (_what, text, atLine, atByte) => {
    expect(faultOf(text)).toMatch(new RegExp(`^Cannot read it: line ${atLine}, byte ${1000 + atByte}: .`));
  });

  it('refuses what is not UTF-8', () => {
    const bytes = encoder.encode(line({ revision: 7, name: 'x' }));
    const at = bytes.lastIndexOf('x'.charCodeAt(0));
    bytes[at] = 0xff;
    expect(faultOf(bytes)).toMatch(new RegExp(`^Cannot read it: line 5, byte ${1000 + at}: `));
  });
});
