import { createEssenceHasherWith, type EssenceHasher } from '../core/essence-hasher.ts';
import { coreModule } from '../core/module.ts';

/** Longest key that still says which uid it is. */
const KEY_LENGTH_MAX = 512;

/**
 * Makes uids, which may be any text, into keys: ASCII without `/`, the same for the same uid and another one for every
 * other.
 *
 * | uid | key |
 * | --- | --- |
 * | letters, digits and `-._~@:` | themselves |
 * | any other character | the bytes of its UTF-8, as `%2F` |
 * | half of a surrogate pair, which has no UTF-8 | `%uD83D` |
 * | the empty text | `%` |
 * | what would be longer than 512 characters | `%sha256:` and 64 digits |
 */
export class UidKeys {
  readonly #encoder = new TextEncoder();
  #hasher: EssenceHasher | undefined;

  keyOf(uid: string): string {
    if (uid === '') return '%';
    const key = uid.replace(/[^A-Za-z0-9._~@:-]/gu, (letter) => this.#escape(letter));
    return key.length <= KEY_LENGTH_MAX ? key : `%${this.#digest(key)}`;
  }

  #escape(letter: string): string {
    if (!letter.isWellFormed()) return `%u${letter.charCodeAt(0).toString(16).toUpperCase()}`;
    return [...this.#encoder.encode(letter)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join('');
  }

  /** One that nobody can make two uids for. */
  #digest(key: string): string {
    this.#hasher ??= createEssenceHasherWith(coreModule(), { defaults: false, algorithm: 'sha256' });
    return this.#hasher.digest(key);
  }
}
