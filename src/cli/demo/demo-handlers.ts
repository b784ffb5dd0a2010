import { createEssenceHasherWith } from '../../core/essence-hasher.ts';
import { coreModule } from '../../core/module.ts';
import { type Controller, createController } from '../../handlers/controller.ts';
import type { ControllerStats } from '../../handlers/controller-stats.ts';
import { createStoreSource } from '../../handlers/store-source.ts';
import type { Clock } from '../../types/clock.ts';
import type { Random } from '../../types/random.ts';
import type { KeyValue } from '../../types/revision.ts';
import type { Difference, Resource } from './difference.ts';
import { HandlerLedger } from './handler-ledger.ts';
import { delay, type RunState } from './run-state.ts';
import type { TrueObject } from './true-state.ts';

const PARENT = 'deploy';
const SUBS: readonly string[] = ['network', 'storage', 'notify'];
const INDEX = 'by-namespace';
const HANDLER_IDS: readonly string[] = [PARENT, ...SUBS.map((sub) => `${PARENT}/${sub}`)];

/** How long a call of a sub-handler takes at least. */
const WORK_MS = 5;
/** Objects worked on at a time: enough to keep up, few enough that the queue shows. */
const CONCURRENCY = 64;
/** How often it is looked whether the controller knows the final state. */
const POLL_MS = 20;
/** Calls between two looks at what the ledger may drop. */
const SWEEP_CALLS = 20_000;

/** Does the slow part of one call. Tests replace it to break things. */
export type Work = (id: string, succeed: () => void) => Promise<void>;

export interface DemoHandlersOptions {
  readonly run: RunState;
  readonly random: Random;
  /** @default a wait of 5 ms */
  readonly work?: Work;
}

/**
 * A controller on the whole store: one handler for each change of an object's essence, with three sub-handlers that
 * are slow on purpose, while the stream comes in at full speed.
 *
 * Its view of an object is the default one, the essence, so that status and bookkeeping changes call nobody, and
 * "handled" means: in the essence that the object has at the end.
 */
export class DemoHandlers {
  readonly #run: RunState;
  readonly #ledger: HandlerLedger;
  readonly #controller: Controller<Resource>;
  readonly #stop = new AbortController();
  readonly #work: Work;
  #calls = 0;

  constructor(options: DemoHandlersOptions) {
    const { run, random } = options;
    this.#run = run;
    this.#work = options.work ?? ((_id, succeed) => work(run.clock).then(succeed));
    const essence = createEssenceHasherWith(coreModule());
    this.#ledger = new HandlerLedger(essence);
    this.#controller = createController<Resource>({
      source: createStoreSource(run.store, { prefix: '' }),
      essence,
      concurrency: CONCURRENCY,
      drainMs: 1000,
      clock: run.clock,
      random,
    });
    this.#register();
  }

  get stats(): ControllerStats {
    return this.#controller.stats();
  }

  /** Objects that the ledger has an entry for. */
  get handled(): number {
    return this.#ledger.size;
  }

  /** Handlers and sub-handlers of one object. */
  get perObject(): number {
    return HANDLER_IDS.length;
  }

  /** Works until `stop`. */
  async serve(): Promise<void> {
    const { signal } = this.#run;
    await this.#controller.run({ signal: AbortSignal.any([signal, this.#stop.signal]) });
    signal.throwIfAborted();
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Resolves once the controller knows these objects and no others, and has nothing left to do. */
  async untilIdle(kvs: readonly KeyValue<Resource>[]): Promise<void> {
    const { clock, signal } = this.#run;
    for (const { key, modRevision } of kvs) {
      while (this.#controller.state(key)?.resourceVersion !== String(modRevision)) await delay(clock, POLL_MS, signal);
    }
    await this.#controller.idle({ signal });
    // Names under which nothing lives any more are known until their deletion has come in.
    while (this.stats.objects > kvs.length || this.stats.behind > 0) await delay(clock, POLL_MS, signal);
  }

  /** Namespaces that the index has objects of. */
  get namespaces(): number {
    return this.#controller.index(INDEX).size;
  }

  /**
   * The first handler that did not last succeed on the final essence: by the ledger, then by the controller itself; or the
   * first namespace whose objects the index does not have, and no others.
   */
  compare(truth: ReadonlyMap<string, TrueObject>): Difference | undefined {
    const missed = this.#ledger.compare(truth, HANDLER_IDS);
    if (missed !== undefined) return missed;
    for (const key of truth.keys()) {
      const status = this.#controller.state(key);
      const open = status?.handlers.find(({ state, digest, succeeded }) => state !== 'ok' || digest !== succeeded);
      if (status?.settled === true && status.succeeded && open === undefined) continue;
      return { key, expected: 'settled and succeeded', actual: JSON.stringify(open ?? status ?? 'unknown object') };
    }
    return this.#compareIndex(truth);
  }

  #compareIndex(truth: ReadonlyMap<string, TrueObject>): Difference | undefined {
    const index = this.#controller.index<string>(INDEX);
    const expected = new Map<string, string[]>(index.keys().map((namespace) => [String(namespace), []]));
    for (const [key, { object }] of truth) {
      const namespace = namespaceOf(object);
      expected.set(namespace, [...(expected.get(namespace) ?? []), key]);
    }
    for (const [namespace, keys] of expected) {
      const [wanted, found] = [keys, [...index.get(namespace)]].map((names) => names.sort().join(' '));
      if (wanted !== found) return { key: namespace, expected: `in the index: ${wanted}`, actual: `${found}` };
    }
    return undefined;
  }

  #register(): void {
    this.#controller.on('index', { id: INDEX }, (object, { name }) => ({ [namespaceOf(object)]: name }));
    this.#controller.on('change', { id: PARENT }, (context) => {
      for (const sub of SUBS) {
        context.sub(sub, { args: { step: sub } }, (call) =>
          this.#work(`${PARENT}/${sub}`, () => this.#succeed(call.name, `${PARENT}/${sub}`, call.object)),
        );
      }
      this.#succeed(context.name, PARENT, context.object);
    });
  }

  #succeed(key: string, id: string, object: Resource): void {
    this.#ledger.succeeded(key, id, object);
    if (++this.#calls % SWEEP_CALLS === 0) this.#ledger.retain((name) => this.#controller.state(name) !== undefined);
  }
}

function namespaceOf({ metadata }: Resource): string {
  return (metadata as { readonly namespace?: string } | undefined)?.namespace ?? '(none)';
}

/** A call that has begun is finished: so short a wait need not be cut short. */
function work(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.after(WORK_MS, resolve);
  });
}
