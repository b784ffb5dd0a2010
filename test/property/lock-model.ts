import type { LockMode } from '../../src/types/lock.ts';

/** One request, as the model sees it. */
export interface ModelRequest {
  readonly id: number;
  /** Segments; of '' as a prefix there are none. */
  readonly path: readonly string[];
  readonly prefix: boolean;
  mode: LockMode;
}

/** The segments that a key or a prefix names. */
export function pathOf(key: string, prefix: boolean): readonly string[] {
  if (!prefix) return key.split('/');
  if (key === '') return [];
  return (key.endsWith('/') ? key.slice(0, -1) : key).split('/');
}

export function conflict(one: Omit<ModelRequest, 'id'>, other: Omit<ModelRequest, 'id'>): boolean {
  if (one.mode === 'read' && other.mode === 'read') return false;
  return covers(one, other) || covers(other, one);
}

function covers(top: Pick<ModelRequest, 'path' | 'prefix'>, low: Pick<ModelRequest, 'path'>): boolean {
  if (!top.path.every((segment, index) => low.path[index] === segment)) return false;
  return top.prefix || top.path.length === low.path.length;
}

/**
 * The whole lock in one sentence: a request holds as soon as no earlier request in conflict with it is there. A list in
 * the order of arrival, looked through from the start for every question.
 */
export class LockModel {
  readonly #requests: ModelRequest[] = [];

  get requests(): readonly ModelRequest[] {
    return this.#requests;
  }

  add(request: ModelRequest): void {
    this.#requests.push(request);
  }

  remove(id: number): void {
    const place = this.#requests.findIndex((request) => request.id === id);
    if (place >= 0) this.#requests.splice(place, 1);
  }

  downgrade(id: number): void {
    const request = this.#requests.find((one) => one.id === id);
    if (request !== undefined) request.mode = 'read';
  }

  /** Whether a newcomer would hold at once. */
  isFree(request: Omit<ModelRequest, 'id'>): boolean {
    return !this.#requests.some((other) => conflict(request, other));
  }

  /** Ids of those that hold, ascending. */
  held(): readonly number[] {
    const holds = (request: ModelRequest, place: number): boolean =>
      !this.#requests.slice(0, place).some((earlier) => conflict(request, earlier));
    return this.#requests.filter(holds).map(({ id }) => id);
  }
}
