import type { Mvcc } from '../store/mvcc.ts';
import type { Backend } from '../types/backend.ts';
import type { Key } from '../types/revision.ts';
import type { ReplicatedPrefixes } from './prefixes.ts';
import type { Questions } from './questions.ts';

/** The two sides of a replica that are compared with each other: what is there and what is here, of the same prefixes. */
export interface Sides<V, K extends Key> {
  readonly backend: Backend;
  readonly mvcc: Mvcc<V, K>;
  readonly prefixes: ReplicatedPrefixes;
  /** What the backend is asked goes through these. */
  readonly questions: Questions;
}
