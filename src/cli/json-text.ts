import { createEssenceHasherWith, type EssenceHasher } from '../core/essence-hasher.ts';
import { coreModule } from '../core/module.ts';
import { textFault } from './errors.ts';
import type { JsonText } from './json-splitter.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A hasher for its scan of a text, which tells the byte of a fault; `JSON.parse` does not. */
export function createScanner(): EssenceHasher {
  return createEssenceHasherWith(coreModule(), { defaults: false });
}

/**
 * The value of a text that is JSON by RFC 8259, in UTF-8 and without lone surrogates. Throws `DataError` with line and
 * byte for any other.
 */
export function parseJsonText(text: JsonText, action: string, scanner: EssenceHasher): unknown {
  try {
    scanner.digest(text.bytes);
  } catch (error) {
    throw textFault(error, action, text);
  }
  return JSON.parse(decoder.decode(text.bytes));
}
