import { describe, expect, it } from 'vitest';
import { KeySpace } from '../../../src/store/keyspace.ts';
import { InvalidKeyError } from '../../../src/types/errors.ts';

/** Keys as a backend or a snapshot brings them: what is taken, and what is refused. */

const encode = (text: string) => new TextEncoder().encode(text);

describe('keys of text', () => {
  const keys = new KeySpace<string>('utf8');

  it.each(['a', '\u00e9', '\ufeffa', '\u{1f600}', '\ud7ff\ue000', '\u007f\u0080\u07ff\u0800\uffff', ''])(
    '%j is one, and comes back from its bytes',
    (text) => {
      expect(keys.isText(text)).toBe(true);
      expect(keys.textOfBytes(encode(text), 'read')).toBe(text);
      expect([keys.bytes(text), keys.byteLength(text)]).toEqual([encode(text), encode(text).length]);
    },
  );

  it.each(['\ud800', 'a\udc00', '\udc00\ud800'])('%j is none', (text) => {
    expect(keys.isText(text)).toBe(false);
  });

  it.each([[[0xff]], [[0x61, 0xc3]], [[0xed, 0xa0, 0x80]], [[0xc0, 0x80]]])('bytes %j are none', (bytes) => {
    const key = Uint8Array.from(bytes);
    const call = () => keys.textOfBytes(key, 'read a page');
    expect(call).toThrow(InvalidKeyError);
    expect(call).toThrow('Cannot read a page: the key is not UTF-8');
    try {
      call();
    } catch (error) {
      expect((error as InvalidKeyError).key).toEqual(key);
      expect((error as InvalidKeyError).key).not.toBe(key);
    }
  });
});

describe('ranges', () => {
  it.each([[null], [undefined], [7], ['text'], [Symbol('x')]])('%o is none', (range) => {
    const resolve = () => new KeySpace<string>('utf8').resolve(range as never, 'list keys');
    expect(resolve).toThrow(TypeError);
    expect(resolve).toThrow('Cannot list keys: the range is not an object');
  });
});

describe('keys of bytes', () => {
  const keys = new KeySpace<Uint8Array>('bytes');

  it('any bytes are one, a unit each', () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const text = keys.textOfBytes(all, 'read');
    expect(Array.from(text, (unit) => unit.charCodeAt(0))).toEqual([...all]);
    expect([keys.bytes(text), keys.key(text), keys.byteLength(text)]).toEqual([all, all, 256]);
    expect(keys.isText(text)).toBe(true);
  });

  it.each(['\u0100', 'a\u20ac', '\u{1f600}'])('%j is no text of one', (text) => {
    expect(keys.isText(text)).toBe(false);
  });
});

describe('ranges, and back', () => {
  it.each([
    [{ key: 'a' }, 'point'],
    [{ prefix: 'a' }, 'prefix'],
    [{ prefix: '' }, 'prefix'],
    [{ start: 'a' }, 'interval'],
    [{ start: 'a', end: 'b' }, 'interval'],
    [{ start: 'b', end: 'a' }, 'interval'],
  ])('%j', (range, kind) => {
    for (const keys of [new KeySpace<string>('utf8'), new KeySpace<string>('utf8').below('jobs/', 'use a prefix')]) {
      const resolved = keys.resolve(range, 'range');
      expect(resolved.kind).toBe(kind);
      expect(keys.rangeOf(resolved)).toEqual(range);
      expect(resolved.empty).toBe('end' in range && range.end === 'a');
    }
  });
});
