import { expect } from 'vitest';
import type { InformerDelta } from '../../src/kubernetes/informer-delta.ts';

interface Versioned {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string };
}

/** Follows the deltas as a consumer would, who knows nothing else. */
export class Consumer<T extends Versioned> {
  readonly known = new Map<string, T>();
  readonly #versions = new Map<string, number>();
  readonly #ended = new Set<string>();

  take(deltas: readonly InformerDelta<T>[]): void {
    for (const delta of deltas) {
      const before = this.known.get(delta.key);
      if (delta.type === 'added') expect(before).toBeUndefined();
      else expect(before).toBe(delta.old);
      if (delta.type === 'deleted') {
        this.known.delete(delta.key);
        if (delta.reason === 'deleted') this.#ended.add(delta.old.metadata.uid);
        continue;
      }
      const { uid, resourceVersion } = delta.object.metadata;
      expect(this.#ended).not.toContain(uid);
      if (delta.type === 'updated') expect(uid).toBe(delta.old.metadata.uid);
      expect(Number(resourceVersion)).toBeGreaterThan(this.#versions.get(uid) ?? 0);
      this.#versions.set(uid, Number(resourceVersion));
      this.known.set(delta.key, delta.object);
    }
  }
}
