import type { InformerDelta } from '../kubernetes/informer-delta.ts';
import type { GroupKind } from './resource-key.ts';

/** What came in, before it was coalesced with anything. */
export interface ResourceEvent<T> extends GroupKind {
  readonly delta: InformerDelta<T>;
}

export type ResourceEventHandler<T> = (event: ResourceEvent<T>) => unknown;

export interface EventSubscriptionDeps<T> {
  readonly handler: ResourceEventHandler<T>;
  readonly queueMax: number;
  readonly failed: (error: unknown, event: ResourceEvent<T>) => void;
}

/**
 * Events for who counts or traces them, in the order in which they came, over all kinds. What is to be done about an object belongs
 * into a handler of commits: of these the oldest ones are dropped, and counted, when more than `queueMax` wait.
 */
export class EventSubscription<T> {
  readonly #deps: EventSubscriptionDeps<T>;
  #events: ResourceEvent<T>[] = [];
  #head = 0;
  #dropped = 0;

  constructor(deps: EventSubscriptionDeps<T>) {
    this.#deps = deps;
  }

  get depth(): number {
    return this.#events.length - this.#head;
  }

  get dropped(): number {
    return this.#dropped;
  }

  push(event: ResourceEvent<T>): void {
    this.#events.push(event);
    if (this.depth <= this.#deps.queueMax) return;
    this.#head++;
    this.#dropped++;
    this.#shorten();
  }

  run(isTimeUp: () => boolean): void {
    while (this.depth > 0 && !isTimeUp()) {
      const event = this.#events[this.#head] as ResourceEvent<T>;
      this.#head++;
      this.#shorten();
      this.#call(event);
    }
  }

  close(): void {
    this.#events = [];
    this.#head = 0;
  }

  #call(event: ResourceEvent<T>): void {
    try {
      const answer = this.#deps.handler(event);
      // Nobody waits for it, but what it rejects with is told.
      Promise.resolve(answer).catch((error: unknown) => this.#deps.failed(error, event));
    } catch (error) {
      this.#deps.failed(error, event);
    }
  }

  #shorten(): void {
    if (this.#head * 2 < this.#events.length) return;
    this.#events = this.#events.slice(this.#head);
    this.#head = 0;
  }
}
