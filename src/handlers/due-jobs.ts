import { Heap } from '../queue/heap.ts';
import type { Job } from './jobs.ts';

/**
 * Jobs that are due, by turn; of which those of a handler can be put aside while it may not be called.
 *
 * ```text
 *   jobs    A1 B1 A2 A3 C1      A may not be called:      B1 C1
 *   aside                                                 A: A1 A2 A3     not looked at until `reopen`
 * ```
 *
 * What was put aside once stays in a heap of its handler, so that to look again costs a comparison for each such handler,
 * not one for each of its jobs.
 */
export class DueJobs {
  readonly #compare: (a: Job, b: Job) => number;
  readonly #jobs: Heap<Job>;
  /** None until a job is put aside. */
  #aside: Map<string, Heap<Job>> | undefined;
  #closed: Set<string> | undefined;

  constructor(compare: (a: Job, b: Job) => number) {
    this.#compare = compare;
    this.#jobs = new Heap(compare);
  }

  push(job: Job): void {
    (this.#aside?.get(job.handler.id) ?? this.#jobs).push(job);
  }

  /** The job whose turn it is among those that are looked at. */
  peek(): Job | undefined {
    let job = this.#jobs.peek();
    for (; job !== undefined && this.#closed?.has(job.handler.id) === true; job = this.#jobs.peek()) {
      this.#jobs.pop();
      this.#asideOf(job).push(job);
    }
    if (this.#aside === undefined) return job;
    for (const [id, heap] of this.#aside) {
      const first = this.#closed?.has(id) === true ? undefined : heap.peek();
      if (first !== undefined && (job === undefined || this.#compare(first, job) < 0)) job = first;
    }
    return job;
  }

  /** Takes out what `peek` has just answered. */
  pop(job: Job): void {
    const heap = this.#aside?.get(job.handler.id);
    if (heap?.peek() === job) heap.pop();
    else this.#jobs.pop();
  }

  /** Does not look at the jobs of this handler until `reopen`. */
  close(handlerId: string): void {
    this.#closed ??= new Set();
    this.#closed.add(handlerId);
  }

  reopen(): void {
    this.#closed?.clear();
  }

  #asideOf({ handler }: Job): Heap<Job> {
    this.#aside ??= new Map();
    let heap = this.#aside.get(handler.id);
    if (heap === undefined) {
      heap = new Heap(this.#compare);
      this.#aside.set(handler.id, heap);
    }
    return heap;
  }
}
