import type { Fault } from '../fault.ts';

/** Replicas: the first readings of the list manager that turned out to be wrong, as far as there is code for them. */
export const CACHE_FAULTS: readonly Fault[] = [
  {
    id: 'early-publishing',
    file: 'src/cache/replica-writes.ts',
    find: 'if (!this.#touches(prepared)) return result;',
    replace: 'if (!this.#touches(prepared) || result.revision === this.#mvcc.window.revision + 1) return result;',
    why: 'M2, M3, first reading: an own write is taken for applied before the stream brings it; broke 200/200',
  },
  {
    id: 'failed-compare-does-not-wait',
    file: 'src/cache/replica-writes.ts',
    find: 'if (!this.#touches(prepared)) return result;',
    replace: 'if (!this.#touches(prepared) || !result.succeeded) return result;',
    why: 'M3, first reading: a failed compare that does not wait spins; broke 124/200',
  },
  {
    id: 'stale-items-all-dropped',
    file: 'src/cache/list-manager.ts',
    find: 'if (this.#isKnown({ revision, changes })) return;',
    replace: 'return;',
    why: 'M6, first reading: dropping all stale items never converged in 168/200',
  },
  {
    id: 'stale-item-in-hole-is-violation',
    file: 'src/cache/list-manager.ts',
    find: 'if (revision < mvcc.window.watchFloor || mvcc.window.isInHole(revision)) return true;',
    replace: 'if (revision < mvcc.window.watchFloor) return true;',
    why: 'M6: an item inside a hole is known to be applied',
  },
  {
    id: 'relist-compares-mod-only',
    file: 'src/cache/relist.ts',
    find:
      'core.createRevision(slot) === change.createRevision &&\n    core.modRevision(slot) === change.modRevision &&\n' +
      '    core.version(slot) === change.version &&\n    mvcc.state.leaseAt(slot) === change.lease &&\n    cellsEqual(mvcc.values, mvcc.state.cellAt(slot), change.cell)',
    replace: 'core.modRevision(slot) === change.modRevision',
    why: 'M11, first reading: comparing mod alone merged two histories',
  },
  {
    id: 'relist-misses-deletes',
    file: 'src/cache/relist.ts',
    find: 'for (const text of liveTexts(mvcc)) if (!listedKeys.has(text)) changes.push(tombstone(text, revision));',
    replace: '',
    why: 'M10: a key that is listed no more was deleted',
  },
  {
    id: 'relist-without-hole',
    file: 'src/cache/relist.ts',
    find: "return { type: 'span', commit: { revision, after, changes } };",
    replace: "return { type: 'span', commit: { revision, changes } };",
    why: 'M9: what a relist publishes is a span, and what it jumped over cannot be read',
  },
  {
    id: 'progress-trusted-after-violation',
    file: 'src/cache/list-manager.ts',
    find: 'if (revision > applied && (isAnswer || this.#trustsProgress)) {',
    replace: 'if (revision > applied) {',
    why: 'M13: after a violation the progress marks of this backend are not trusted',
  },
  {
    id: 'stream-from-applied',
    file: 'src/cache/list-manager.ts',
    find: 'const fromRevision = mvcc.window.revision + 1;',
    replace: 'const fromRevision = mvcc.window.revision + 2;',
    why: 'F31: the stream goes on at A + 1, nothing is skipped',
  },
  {
    id: 'seen-when-answered',
    file: 'src/cache/questions.ts',
    find: 'if (revision < seen) return false;',
    replace: 'if (revision < this.#seen) return false;',
    why: 'M24: an answer is held against what was seen when its question was sent, not against what came meanwhile',
  },
  {
    id: 'answer-below-seen-taken',
    file: 'src/cache/questions.ts',
    find: 'if (revision < seen) return false;',
    replace: '',
    why: 'M24: an answer below what was seen when its question was sent is of other data',
  },
  {
    id: 'old-epoch-admitted',
    file: 'src/cache/questions.ts',
    find: 'if (epoch !== this.epoch) throw new IdentityChangedError(action, this.epoch);',
    replace: '',
    why: 'M24: answers to questions of an earlier epoch are ignored',
  },
  {
    id: 'other-identity-taken',
    file: 'src/cache/questions.ts',
    find: "if (this.identity !== '' && identity !== '' && identity !== this.identity) return false;",
    replace: '',
    why: 'M24: another identity is other data',
  },
  {
    id: 'no-evidence-wanted',
    file: 'src/cache/replica-writes.ts',
    find: 'if (epoch === this.#manager.epoch) this.#checkEvidence(prepared, result);',
    replace: '',
    why: 'M5: history must hold an own write at its revision',
  },
];
