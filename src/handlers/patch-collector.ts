import { LimitExceededError, UnsupportedError } from '../types/errors.ts';
import type { Patch } from '../types/patch.ts';
import { checkNames } from './checks.ts';
import type { PatchOptions } from './context.ts';
import { checkParts } from './parts.ts';
import { checkPatch } from './patch.ts';
import { ownData } from './view.ts';

/** Most patches of one call. */
export const PATCHES_MAX = 1000;

/** What a call has asked to be written. */
export interface CollectedPatches {
  readonly patches: readonly Patch[];
  /** Given with any of them: they are applied together, or not at all. */
  readonly ifUnchanged: boolean;
}

/** The patches of one call, until it is over: what comes later, from a call that timed out, is refused (A7'). */
export class PatchCollector {
  readonly #id: string;
  readonly #isSupported: boolean;
  readonly #patches: Patch[] = [];
  #ifUnchanged = false;
  #isClosed = false;

  constructor(id: string, isSupported: boolean) {
    this.#id = id;
    this.#isSupported = isSupported;
  }

  add(patch: Patch, options: PatchOptions): void {
    const action = `patch the object of "${this.#id}"`;
    if (!this.#isSupported) throw new UnsupportedError(action, 'patching by its source');
    checkNames(action, options, NAMES);
    const { ifUnchanged } = options;
    if (ifUnchanged !== undefined && typeof ifUnchanged !== 'boolean') {
      throw new TypeError(`Cannot ${action}: ifUnchanged is of type ${typeof ifUnchanged}, not a boolean`);
    }
    checkPatch(action, patch);
    if (this.#isClosed) throw new TypeError(`Cannot ${action}: the call is over`);
    if (this.#patches.length >= PATCHES_MAX) {
      const actual = this.#patches.length + 1;
      throw new LimitExceededError(action, { limit: 'patches', max: PATCHES_MAX, actual });
    }
    checkParts(action, patch);
    // The form was checked, and a copy has the same.
    this.#patches.push(ownData(action, patch) as Patch);
    this.#ifUnchanged ||= ifUnchanged === true;
  }

  close(): CollectedPatches {
    this.#isClosed = true;
    return { patches: this.#patches, ifUnchanged: this.#ifUnchanged };
  }
}

const NAMES: readonly (keyof PatchOptions)[] = ['ifUnchanged'];
