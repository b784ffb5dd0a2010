import { describe, expect, it } from 'vitest';
import { CompactedError, ConflictError, openStore } from '../../../src/mod.ts';
import { runUpdate } from '../../../src/store/update.ts';
import type { SignalOptions } from '../../../src/types/signal.ts';
import type { TxnRequest } from '../../../src/types/txn.ts';
import type { UpdateTxn } from '../../../src/types/update.ts';

const bump = async (txn: UpdateTxn<number>) => {
  const next = (txn.get('n') ?? 0) + 1;
  await Promise.resolve();
  txn.put('n', next);
  return next;
};

describe('update', () => {
  it('C68: two updates that read and write one key: one commits first, the other runs again and sees it', async () => {
    const store = await openStore<number>();
    const [first, second] = await Promise.all([store.update(bump), store.update(bump)]);
    expect([first, second].map(({ value, attempts }) => [value, attempts])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(store.get('n')?.value).toBe(2);
  });

  it.each([
    ['serializable-snapshot', 2, 2],
    ['serializable', 2, 2],
    ['repeatable-reads', 2, 2],
    ['read-committed', 1, 1],
  ] as const)('R50: %s', async (isolation, value, attempts) => {
    const store = await openStore<number>();
    const [, second] = await Promise.all([store.update(bump), store.update(bump, { isolation })]);
    expect([store.get('n')?.value, second.attempts]).toEqual([value, attempts]);
  });

  it('R50: what was written without being read is held against the snapshot by serializable-snapshot alone', async () => {
    for (const [isolation, attempts] of [
      ['serializable-snapshot', 2],
      ['serializable', 1],
    ] as const) {
      const store = await openStore<number>();
      await store.put('read', 1);
      const result = await store.update(
        async (txn) => {
          txn.get('read');
          if (store.get('written') === undefined) await store.put('written', 1);
          txn.put('written', 2);
        },
        { isolation },
      );
      expect([isolation, result.attempts]).toEqual([isolation, attempts]);
    }
  });

  it('all reads are at the revision of the first, but for repeatable-reads, which sees the newest', async () => {
    for (const [isolation, seen] of [
      ['serializable-snapshot', [1, 1]],
      ['serializable', [1, 1]],
      ['repeatable-reads', [1, 2]],
    ] as const) {
      const store = await openStore<number>();
      await store.putAll([
        { key: 'a', value: 1 },
        { key: 'b', value: 1 },
      ]);
      const reads: (number | undefined)[] = [];
      await store.update(
        async (txn) => {
          reads.push(txn.get('a'));
          if (reads.length === 1) await store.put('b', 2);
          reads.push(txn.get('b'));
        },
        { isolation },
      );
      expect([isolation, reads.slice(0, 2)]).toEqual([isolation, seen]);
    }
  });

  it('its own writes are what it reads, and deletes too', async () => {
    const store = await openStore<number>();
    await store.put('a', 1);
    const { value, revision } = await store.update((txn) => {
      txn.put('a', 5);
      txn.delete('b');
      const seen = [txn.get('a'), txn.get('b'), txn.modRevision('a')];
      txn.delete('a');
      return [...seen, txn.get('a')];
    });
    expect(value).toEqual([5, undefined, 2, undefined]);
    expect([revision, store.get('a')]).toEqual([3, undefined]);
  });

  it('byte keys are told apart, Buffers too, and values of bytes are copied', async () => {
    const store = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes' });
    const buffer = Uint8Array.of(1);
    await store.update((txn) => {
      txn.put(Buffer.from([0xff]), buffer);
      buffer[0] = 2;
      txn.put(Buffer.from([0xfe]), buffer);
      expect(txn.get(Uint8Array.of(0xff))).toEqual(Uint8Array.of(1));
      txn.put(Uint8Array.of(0xfe), Uint8Array.of(3));
    });
    expect(store.range({ prefix: Uint8Array.of() }).kvs.map(({ value }) => [...value])).toEqual([[3], [1]]);
  });

  it('a snapshot that compaction takes away is taken anew', async () => {
    const store = await openStore<number>();
    await store.putAll([
      { key: 'a', value: 1 },
      { key: 'b', value: 1 },
    ]);
    let runs = 0;
    const { attempts, value } = await store.update(async (txn) => {
      const a = txn.get('a');
      if (++runs === 1) {
        await store.put('b', 2);
        await store.compact(store.revision);
      }
      return [a, txn.get('b')];
    });
    expect([attempts, value]).toEqual([2, [1, 2]]);
  });

  it('a snapshot that compaction takes away each time ends it when the retries are used up', async () => {
    const store = await openStore<number>();
    await store.put('a', 1);
    let runs = 0;
    const compacting = async (txn: UpdateTxn<number>) => {
      runs++;
      txn.get('a');
      await store.put('b', runs);
      await store.compact(store.revision);
      txn.get('b');
    };
    await expect(store.update(compacting, { retries: 1 })).rejects.toBeInstanceOf(CompactedError);
    expect(runs).toBe(2);
  });

  it('what the function throws ends it at once, also a CompactedError that is not of its snapshot', async () => {
    const store = await openStore<number>();
    await store.put('a', 1);
    await store.put('a', 2);
    await store.compact(3);
    let runs = 0;
    const failing = (call: () => unknown) => {
      runs = 0;
      return store.update((txn) => {
        runs++;
        txn.get('a');
        return call();
      });
    };
    await expect(failing(() => store.get('a', { revision: 2 }))).rejects.toBeInstanceOf(CompactedError);
    expect(runs).toBe(1);
    await expect(failing(() => Promise.reject(undefined))).rejects.toBeUndefined();
    expect(runs).toBe(1);
  });

  it('repeatable-reads: a key that is read again is as it was, and the update is one of that', async () => {
    const store = await openStore<number>();
    await store.put('a', 1);
    const seen: unknown[] = [];
    const { attempts } = await store.update(
      async (txn) => {
        seen.push(txn.get('a'));
        if (seen.length === 1) await store.put('a', 2);
        seen.push(txn.get('a'));
        txn.put('b', 1);
      },
      { isolation: 'repeatable-reads' },
    );
    expect([attempts, seen]).toEqual([2, [1, 1, 2, 2]]);
  });

  it('a ConflictError names the first key that has changed, not the first that was read or written', async () => {
    const store = await openStore<number>();
    for (const key of ['a', 'b', 'w', 'x']) await store.put(key, 1);
    const conflict = (key: string) =>
      store.update(
        async (txn) => {
          txn.get('a');
          txn.get('b');
          // The last write before the first read, and one that comes after it or not.
          txn.put('x', 2);
          txn.put('w', 2);
          await store.put(key, 3);
        },
        { retries: 0 },
      );
    await expect(conflict('b')).rejects.toMatchObject({ key: 'b', expectedRevision: 3, actualRevision: 6 });
    await store.put('x', 1);
    await expect(conflict('w')).rejects.toMatchObject({ key: 'w', expectedRevision: 4, actualRevision: 8 });
  });

  it('ends with ConflictError when the retries are used up; what fn throws passes, and nothing is written', async () => {
    const store = await openStore<number>();
    const meddle = async (txn: UpdateTxn<number>) => {
      txn.put('n', (txn.get('n') ?? 0) + 10);
      await store.put('n', 1);
    };
    const error = await store.update(meddle, { retries: 3 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ key: 'n', expectedRevision: 4, actualRevision: 5 });
    expect(store.get('n')).toMatchObject({ version: 4, value: 1 });
    const boom = new Error('Cannot go on');
    const throwing = (txn: UpdateTxn<number>) => {
      txn.put('x', 1);
      throw boom;
    };
    await expect(store.update(throwing)).rejects.toBe(boom);
    expect(store.get('x')).toBeUndefined();
  });

  it('is run again up to 100 times by default', async () => {
    const store = await openStore<number>();
    let runs = 0;
    const meddle = async (txn: UpdateTxn<number>) => {
      runs++;
      txn.put('n', (txn.get('n') ?? 0) + 10);
      await store.put('n', 1);
    };
    await expect(store.update(meddle)).rejects.toBeInstanceOf(ConflictError);
    expect(runs).toBe(101);
  });

  it('a ConflictError has mod revisions of its key, also of one that was only written', async () => {
    const store = await openStore<number>();
    await store.put('read', 1);
    await store.put('written', 1);
    await store.put('other', 1);
    const blind = async (txn: UpdateTxn<number>) => {
      txn.get('read');
      txn.put('written', 2);
      await store.put('written', 3);
    };
    await expect(store.update(blind, { retries: 0 })).rejects.toMatchObject({
      key: 'written',
      expectedRevision: 3,
      actualRevision: 5,
    });
    // Compacted by then: the newest that it can have been.
    const compacting = async (txn: UpdateTxn<number>) => {
      await blind(txn);
      await store.compact(store.revision);
    };
    await expect(store.update(compacting, { retries: 0 })).rejects.toMatchObject({
      expectedRevision: 5,
      actualRevision: 6,
    });
  });

  it('a ConflictError over a key that was made and is gone again says that it is as it was', async () => {
    const store = await openStore<number>();
    const blinking = {
      get revision() {
        return store.revision;
      },
      get: store.get.bind(store),
      range: store.range.bind(store),
      txn: async (request: TxnRequest<number>) => {
        await store.put('n', 1);
        const result = await store.txn(request);
        await store.delete('n');
        return result;
      },
    };
    const isOpen = () => {};
    const asItWas = { key: 'n', expectedRevision: 0, actualRevision: 0 };
    await expect(runUpdate(blinking, bump, { retries: 0 }, isOpen, [])).rejects.toMatchObject(asItWas);
    // What was only written is not looked at where it is not checked.
    const blind = async (txn: UpdateTxn<number>) => {
      await bump(txn);
      await store.put('w', 1);
      txn.put('w', 2);
    };
    const options = { retries: 0, isolation: 'serializable' } as const;
    await expect(runUpdate(blinking, blind, options, isOpen, [])).rejects.toMatchObject(asItWas);
  });

  it('a ConflictError needs no value: a key that the codec cannot read any more is one, too', async () => {
    const store = await openStore<string>();
    const decode = (bytes: Uint8Array): string => {
      const value: string = JSON.parse(new TextDecoder().decode(bytes));
      if (value === 'bad') throw new RangeError('no such value');
      return value;
    };
    const encode = (value: string): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
    const decoding = store.prefix<string>('', { codec: { encode, decode } });
    await store.putAll(['read', 'written', 'other'].map((key) => ({ key, value: '1' })));
    for (const [name, isRead] of [
      ['read', true],
      ['written', false],
    ] as const) {
      const meddle = async (txn: UpdateTxn<string>) => {
        txn.get('other');
        if (isRead) txn.get(name);
        txn.put(name, '2');
        await store.put(name, 'bad');
      };
      const conflict = await decoding.update(meddle, { retries: 0 }).catch((error: unknown) => error);
      expect(conflict).toBeInstanceOf(ConflictError);
      expect(conflict).toMatchObject({ key: name, actualRevision: store.revision });
    }
  });

  it('hands its signal on to the transaction', async () => {
    const store = await openStore<number>();
    const { signal } = new AbortController();
    const seen: unknown[] = [];
    const watched = {
      get revision() {
        return store.revision;
      },
      get: store.get.bind(store),
      range: store.range.bind(store),
      txn: (request: TxnRequest<number>, options: SignalOptions = {}) => {
        seen.push(options.signal);
        return store.txn(request, options);
      },
    };
    await runUpdate(watched, bump, { signal }, () => {}, []);
    await runUpdate(watched, bump, {}, () => {}, []);
    expect(seen).toEqual([signal, undefined]);
  });

  it('what only is written is no conflict where it is not checked', async () => {
    const store = await openStore<number>();
    const meddle = async (txn: UpdateTxn<number>) => {
      txn.put('written', txn.get('read') ?? 0);
      await store.putAll([
        { key: 'written', value: 1 },
        { key: 'read', value: 1 },
      ]);
    };
    await expect(store.update(meddle, { retries: 0, isolation: 'serializable' })).rejects.toMatchObject({
      key: 'read',
      expectedRevision: 0,
      actualRevision: 2,
    });
  });

  it('bad options of put fail in put, and a closed store is named by update', async () => {
    const store = await openStore<number>();
    const bad = (value: unknown) => value as never;
    const refused: unknown[] = [];
    await store.update((txn) => {
      for (const options of [{ prevKv: true }, { ttlMs: 0 }, { lease: '01' }, { lease: '1', ttlMs: 1 }, null]) {
        try {
          txn.put('a', 1, bad(options));
        } catch (error) {
          refused.push((error as Error).message.replace(/, allowed.*/, ''));
        }
      }
      expect(() => txn.put('a', bad(undefined))).toThrow('Cannot put a key: the value is undefined');
    });
    expect([refused, store.revision]).toEqual([
      [
        'Cannot put a key: unknown option prevKv',
        'Cannot put a key: ttlMs is 0',
        'Cannot put a key: lease is "01"',
        'Cannot put a key: lease and ttlMs exclude each other',
        'Cannot put a key: the options are not an object',
      ],
      1,
    ]);
    const closing = store.update(async (txn) => {
      txn.put('a', 1);
      await store.close();
    });
    await expect(closing).rejects.toThrow('Cannot update: closed');
    await expect(store.update(bump)).rejects.toThrow('Cannot update: closed');
  });

  it('a signal ends it while the function runs, also one that never ends', async () => {
    const store = await openStore<number>();
    const stop = new AbortController();
    const reason = new Error('Cannot wait');
    const running = store.update(() => new Promise<void>(() => {}), { signal: stop.signal });
    stop.abort(reason);
    await expect(running).rejects.toBe(reason);
    const own = new AbortController();
    const abortsItself = store.update(
      () => {
        own.abort(reason);
        return new Promise<void>(() => {});
      },
      { signal: own.signal },
    );
    await expect(abortsItself).rejects.toBe(reason);
    expect(store.revision).toBe(1);
  });

  it('a function that answers at once and ends its own update has written nothing', async () => {
    const store = await openStore<number>();
    const stop = new AbortController();
    const reason = new Error('Cannot wait');
    const stopped = store.update(
      (txn) => {
        txn.put('n', 1);
        stop.abort(reason);
      },
      { signal: stop.signal },
    );
    await expect(stopped).rejects.toBe(reason);
    expect(store.revision).toBe(1);
    const closed = store.update((txn) => {
      txn.put('n', 1);
      void store.close();
    });
    await expect(closed).rejects.toThrow('Cannot update: closed');
  });

  it('a signal that does not abort changes nothing, and keeps no listener', async () => {
    const store = await openStore<number>();
    const { signal } = new AbortController();
    let listening = 0;
    const add = signal.addEventListener.bind(signal) as (...parameters: unknown[]) => void;
    const remove = signal.removeEventListener.bind(signal) as (...parameters: unknown[]) => void;
    signal.addEventListener = (...parameters: unknown[]) => {
      listening++;
      add(...parameters);
    };
    signal.removeEventListener = (...parameters: unknown[]) => {
      listening--;
      remove(...parameters);
    };
    const { value } = await store.update(
      async (txn) => {
        txn.put('n', 7);
        return 'done';
      },
      { signal },
    );
    expect([value, store.get('n')?.value, listening]).toEqual(['done', 7, 0]);
    const reason = new Error('not now');
    await expect(store.update(() => Promise.reject(reason), { signal })).rejects.toBe(reason);
    expect([store.revision, listening]).toEqual([2, 0]);
  });

  it('a ConflictError over a key that was not there at the first read expected none', async () => {
    const store = await openStore<number>();
    await store.put('read', 1);
    const update = store.update(
      async (txn) => {
        txn.get('read');
        await store.put('new', 1);
        txn.put('new', 2);
      },
      { retries: 0 },
    );
    await expect(update).rejects.toMatchObject({ key: 'new', expectedRevision: 0, actualRevision: 3 });
  });

  it('wrong input, and a txn used after its end', async () => {
    const store = await openStore<number>();
    const bad = (value: unknown) => value as never;
    await expect(store.update(bad(1))).rejects.toThrow('Cannot update: fn is not a function');
    await expect(store.update(bump, { isolation: bad('none') })).rejects.toThrow('isolation is none, allowed are');
    await expect(store.update(bump, { retries: -1 })).rejects.toThrow('retries is -1, allowed');
    await expect(store.update(bump, bad({ retry: 1 }))).rejects.toThrow('unknown option retry');
    const reason = new Error('Cannot wait');
    const never = () => expect.unreachable('called although it was aborted');
    await expect(store.update(never, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await expect(store.update((txn) => txn.put(bad(5), 1))).rejects.toThrow(TypeError);
    await expect(store.update((txn) => txn.get(bad(5)))).rejects.toThrow(TypeError);
    let kept: UpdateTxn<number> | undefined;
    await store.update((txn) => {
      kept = txn;
    });
    const late: ((txn: UpdateTxn<number> | undefined) => unknown)[] = [
      (txn) => txn?.get('a'),
      (txn) => txn?.modRevision('a'),
      (txn) => txn?.put('a', 1),
      (txn) => txn?.delete('a'),
    ];
    for (const call of late) expect(() => call(kept)).toThrow('the update is over');
    expect(store.revision).toBe(1);
  });
});
