import { createAnnotationProgress } from '../../src/handlers/annotation-progress.ts';
import { valueAt } from '../../src/handlers/path.ts';
import { createMemoryProgress, type MemoryProgress, type ProgressStore } from '../../src/handlers/progress.ts';
import type { ProgressDocument } from '../../src/handlers/record.ts';
import { createStatusProgress } from '../../src/handlers/status-progress.ts';
import { createStoreProgress } from '../../src/handlers/store-progress.ts';
import { openStore } from '../../src/open-store.ts';
import type { MemoryObjectSource } from '../../src/testing/object-source.ts';
import type { Clock } from '../../src/types/clock.ts';
import type { Thing } from '../unit/handlers/harness.ts';

/** Where the records of a program are kept. */
export type Keep = 'memory' | 'direct' | 'store' | 'annotations' | 'status' | 'parts';

/** `memory` has its methods wrapped, so it is asked like any other store; `direct` is the one that controllers work on at once. */
export const KEEPS: readonly Keep[] = ['memory', 'direct', 'store', 'annotations', 'status', 'parts'];

/** What outlives the processes of a program. */
export interface Kept {
  /** The progress store as another process opens it: with nothing remembered. */
  open(): ProgressStore;
  /** Whether this write is what its object has now. */
  readonly hasLanded: (next: ProgressDocument) => boolean;
  /** The memory that controllers work on without its methods; `undefined` where it is asked by them. */
  readonly direct: MemoryProgress | undefined;
  /** Records go with their object, so that nobody has to delete them. */
  readonly goesWithObjects: boolean;
}

const STATUS = ['status', 'plimsoll', 'progress'];

/** Room for the smallest documents only: of others the views are kept elsewhere, or the records too. */
const TIGHT_BYTES = 900;

export function keepIn(keep: Keep, source: MemoryObjectSource<Thing>, clock: Clock): Kept {
  const memory = createMemoryProgress();
  const store = openStore<unknown>({ clock });
  const make = {
    memory: () => memory,
    direct: () => memory,
    store: () => lazy(store.then((opened) => createStoreProgress(opened, { prefix: 'progress/' }))),
    annotations: () => createAnnotationProgress(source),
    status: () => createStatusProgress(source),
    parts: () => createStatusProgress(source, { overflow: memory, bytesMax: TIGHT_BYTES }),
  };
  const goesWithObjects = keep !== 'memory' && keep !== 'direct' && keep !== 'store';
  const hasLanded = ({ uid, writeId }: ProgressDocument): boolean => {
    const object = source.objects.find((living) => living.uid === uid)?.object;
    const path = keep === 'annotations' ? ['metadata', 'annotations', 'plimsoll.dev/progress'] : STATUS;
    const text = valueAt(object, path);
    return typeof text === 'string' && JSON.parse(text).writeId === writeId;
  };
  return { open: make[keep], direct: keep === 'direct' ? memory : undefined, hasLanded, goesWithObjects };
}

function lazy(opening: Promise<ProgressStore>): ProgressStore {
  return {
    get: async (uid, name) => (await opening).get(uid, name),
    compareAndSet: async (uid, gen, next) => (await opening).compareAndSet(uid, gen, next),
    delete: async (uid) => (await opening).delete(uid),
    list: async () => (await opening).list(),
  };
}
