import { jsonPointer } from '../core/json-pointer.ts';
import { ValueError } from '../types/errors.ts';

type Path = readonly string[];
type Container = unknown[] | Record<string, unknown>;

/**
 * An object on its way through a JSON patch: containers are copied when something in them changes, once, so that many
 * operations on one large array do not copy it as often.
 *
 * ```text
 *   given     { a: [1, 2], b: {} }          draft after "add /a/0"     { a: [0, 1, 2], b: the same {} }
 *                                           own                        the outer object, and a
 * ```
 *
 * Throws `ValueError` with the place where something is not there.
 */
export class PatchDraft {
  #root: unknown;
  /** Containers that were made here and stand in one place of the draft: they may be changed. */
  #own = new Set<object>();

  constructor(root: unknown) {
    this.#root = root;
  }

  get root(): unknown {
    return this.#root;
  }

  read(path: Path): unknown {
    let value = this.#root;
    for (const [index, segment] of path.entries()) {
      const found = Array.isArray(value) ? value[placeIn(value, segment, path, 0)] : own(value, segment);
      if (found === undefined) throw misfit(path.slice(0, index + 1), 'is not there');
      value = found;
    }
    return value;
  }

  insert(path: Path, value: unknown): void {
    this.#edit(path, value, (container, last) => {
      if (Array.isArray(container)) container.splice(placeIn(container, last, path, 1), 0, value);
      else setOwn(container, last, value);
    });
  }

  /** In place: a member keeps its place among the others. */
  replace(path: Path, value: unknown): void {
    this.read(path);
    this.#edit(path, value, (container, last) => {
      if (Array.isArray(container)) container[placeIn(container, last, path, 0)] = value;
      else setOwn(container, last, value);
    });
  }

  remove(path: Path): void {
    if (path.length === 0) throw misfit(path, 'is the whole object, which cannot be removed');
    this.read(path);
    this.#edit(path, undefined, (container, last) => {
      if (Array.isArray(container)) container.splice(placeIn(container, last, path, 0), 1);
      else delete container[last];
    });
  }

  /**
   * The value stands in two places from now on, and so does all that is in it: none of it is changed any more, not even by
   * the copy itself, which may go into it.
   */
  copy(from: Path, path: Path): void {
    const value = this.read(from);
    this.#own = new Set();
    this.insert(path, value);
  }

  move(from: Path, path: Path): void {
    const value = this.read(from);
    this.remove(from);
    this.insert(path, value);
  }

  /** Has `edit` change the container of a place, or makes `value` the root. */
  #edit(path: Path, value: unknown, edit: (container: Container, last: string) => void): void {
    const last = path.at(-1);
    if (last === undefined) {
      this.#root = value;
      return;
    }
    let container = this.#owned(this.#root, path, 0);
    this.#root = container;
    for (const [index, segment] of path.slice(0, -1).entries()) {
      const name = Array.isArray(container) ? String(placeIn(container, segment, path, 0)) : segment;
      const part = own(container, name);
      if (part === undefined) throw misfit(path.slice(0, index + 1), 'is not there');
      const copy = this.#owned(part, path, index + 1);
      if (copy !== part) setOwn(container, name, copy);
      container = copy;
    }
    edit(container, last);
  }

  #owned(value: unknown, path: Path, depth: number): Container {
    if (!Array.isArray(value) && !isObject(value)) throw misfit(path.slice(0, depth), 'is no object and no array');
    // What is in the set was made here.
    if (this.#own.has(value)) return value as Container;
    const copy: Container = Array.isArray(value) ? [...value] : { ...value };
    this.#own.add(copy);
    return copy;
  }
}

/** Bytes are one value, like a string: replaced as a whole. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  const isBytes = ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBytes;
}

export function own(value: unknown, name: string): unknown {
  if (!isObject(value) && !Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** An assignment to `__proto__` would set the prototype. */
export function setOwn(target: Container, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** `beyond`: how far behind the last element a place may be. */
function placeIn(array: readonly unknown[], segment: string, path: Path, beyond: number): number {
  const place = segment === '-' ? array.length : /^(?:0|[1-9]\d*)$/.test(segment) ? Number(segment) : Number.NaN;
  if (!(place < array.length + beyond)) throw misfit(path, `has no place "${segment}" in an array of ${array.length}`);
  return place;
}

export function misfit(path: Path, reason: string): ValueError {
  return new ValueError('apply a JSON patch', { path: jsonPointer(path), reason });
}
