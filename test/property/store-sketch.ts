import type { PutEntry, PutOptions, RangeRequest } from '../../src/types/requests.ts';
import type { Key, Revision } from '../../src/types/revision.ts';
import type { Compare, Operation, TxnRequest } from '../../src/types/txn.ts';
import type { CompareSketch, LeasePick, OperationSketch, PutSketch, RangeSketch, TxnSketch } from './store-program.ts';

/** What sketches are relative to. */
export interface SketchContext {
  readonly revision: Revision;
  /** Ids that were granted lately, in the order of their granting. */
  readonly leases: readonly string[];
  /** Those that are there now. */
  readonly live: readonly string[];
  readonly mark: (name: string) => void;
}

const BOUNDS = {
  minModBack: 'minModRevision',
  maxModBack: 'maxModRevision',
  minCreateBack: 'minCreateRevision',
  maxCreateBack: 'maxCreateRevision',
} as const;

/** Turns sketches into requests: what they leave open is known when they run. */
export class SketchReader {
  readonly #context: SketchContext;

  constructor(context: SketchContext) {
    this.#context = context;
  }

  leaseId(lease: LeasePick): string {
    if (typeof lease === 'string') return lease;
    const { leases, live } = this.#context;
    const list = lease % 8 === 0 || live.length === 0 ? leases : live;
    return list[(lease >> 3) % Math.max(list.length, 1)] ?? '998';
  }

  put({ lease, ...rest }: PutSketch): PutOptions & { value?: unknown } {
    for (const name of Object.keys(rest)) if (name !== 'value') this.#context.mark(`put.${name}`);
    if (lease === undefined) return rest;
    this.#context.mark('put.lease');
    return { ...rest, lease: this.leaseId(lease) };
  }

  entry({ key, ...rest }: { readonly key: Key } & PutSketch): PutEntry<unknown, Key> {
    return { key, ...this.put(rest) } as PutEntry<unknown, Key>;
  }

  range(sketch: RangeSketch): RangeRequest<Key> {
    const request: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(sketch)) {
      const bound = BOUNDS[name as keyof typeof BOUNDS];
      if (bound === undefined) request[name] = value;
      else request[bound] = Math.max(this.#context.revision - (value as number), 0);
      if (bound !== undefined) this.#context.mark(`range.${bound}`);
      else if (name === 'sortTarget' || name === 'sortOrder') this.#context.mark(`range.${name}:${String(value)}`);
      else if (!['key', 'prefix', 'start', 'end'].includes(name)) this.#context.mark(`range.${name}`);
    }
    return request as unknown as RangeRequest<Key>;
  }

  txn(sketch: TxnSketch): TxnRequest<unknown, Key> {
    return {
      compare: sketch.compare.map((one) => this.#compare(one)),
      then: sketch.then.map((one) => this.#operation(one)),
      else: sketch.else.map((one) => this.#operation(one)),
    };
  }

  #compare({ back, lease, ...rest }: CompareSketch): Compare<unknown, Key> {
    this.#context.mark(`compare:${rest.target}`);
    this.#context.mark(`compare:${rest.result}`);
    if (!('key' in rest)) this.#context.mark('compare:range');
    const compare: Record<string, unknown> = { ...rest };
    if (back !== undefined) compare.value = this.#context.revision - back;
    if (lease !== undefined) compare.value = this.leaseId(lease);
    return compare as unknown as Compare<unknown, Key>;
  }

  #operation(sketch: OperationSketch): Operation<unknown, Key> {
    this.#context.mark(`txn.${sketch.type}`);
    switch (sketch.type) {
      case 'put': {
        const { type, key, prevKv, ...rest } = sketch;
        return { type, key, ...this.put(rest), ...(prevKv === true ? { prevKv } : {}) } as Operation<unknown, Key>;
      }
      case 'txn':
        return { type: 'txn', ...this.txn(sketch) };
      case 'range': {
        const { type, back, ...rest } = sketch;
        const revision = back === undefined ? {} : { revision: this.#context.revision - back };
        if (back !== undefined) this.#context.mark('txn.range.revision');
        return { type, ...this.range(rest as RangeSketch), ...revision } as Operation<unknown, Key>;
      }
      case 'delete':
        return sketch;
    }
  }
}
