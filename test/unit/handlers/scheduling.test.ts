import { describe, expect, it } from 'vitest';
import { PermanentError } from '../../../src/types/errors.ts';
import { createWorld, sleep, type Thing, type World } from './harness.ts';

/** Puts objects `o0`, `o1`, ... with their number as `spec.n`. */
function putAll(world: World, count: number): void {
  for (let n = 0; n < count; n++) world.source.put(`o${n}`, { spec: { n } });
}

describe("priorities (A30')", () => {
  it('say which objects come first', async () => {
    const world = createWorld();
    putAll(world, 4);
    const calls: string[] = [];
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h' }, async ({ name }) => {
          calls.push(name);
          await sleep(world.clock, 10);
        }),
      { concurrency: 1, priority: ({ spec }) => Number(spec?.n) },
    );
    await life.settle();
    expect(calls).toEqual(['o3', 'o2', 'o1', 'o0']);
    await life.stop();
  });

  it('that throw or are no number are reported, and count as 0', async () => {
    const world = createWorld();
    putAll(world, 4);
    const calls: string[] = [];
    const told: string[] = [];
    const priorities: ((n: number) => unknown)[] = [
      () => {
        throw new Error('no');
      },
      () => 'high',
      () => Number.NaN,
      () => 1,
    ];
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h' }, async ({ name }) => {
          calls.push(name);
          await sleep(world.clock, 10);
        }),
      {
        concurrency: 1,
        priority: ({ spec }) => priorities[Number(spec?.n)]?.(0) as number,
        logger: { debug() {}, info() {}, warn() {}, error: (message) => told.push(message) },
      },
    );
    await life.settle();
    expect(calls).toEqual(['o3', 'o0', 'o1', 'o2']);
    expect(told).toEqual(Array.from({ length: 3 }, () => 'Cannot tell the priority of an object'));
    expect(life.stats().faults).toBe(3);
    await life.stop();
  });

  it('that throw are told of once a state, however often it is asked for', async () => {
    const world = createWorld();
    const told: unknown[] = [];
    let asked = 0;
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(
      (controller) => {
        for (let n = 0; n < 5; n++) {
          controller.on('change', { id: `h${n}` }, (ctx) => {
            if (ctx.attempt < 3) throw new Error('not yet');
          });
        }
      },
      {
        priority: () => {
          asked++;
          throw new Error('no');
        },
        logger: { debug() {}, info() {}, warn() {}, error: (message) => told.push(message) },
      },
    );
    await life.settle();
    expect(life.stats().passes).toBeGreaterThan(2);
    expect([told.length, asked, life.stats().faults]).toEqual([1, 1, 1]);
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect([told.length, asked, life.stats().faults]).toEqual([2, 2, 2]);
    await life.stop();
  });

  it('beyond 1000 count as 1000, so that nobody waits for ever', async () => {
    const world = createWorld();
    const calls: string[] = [];
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h' }, async ({ name }) => {
          calls.push(name);
          await sleep(world.clock, 10);
        }),
      { concurrency: 1, ageingMs: 1, priority: ({ spec }) => Number(spec?.n) * Number.MAX_VALUE },
    );
    world.source.put('first', { spec: { n: 0 } });
    await world.clock.advance(1);
    world.source.put('late', { spec: { n: 0 } });
    for (let n = 0; n < 300; n++) {
      world.source.put(`urgent${n}`, { spec: { n: 1 } });
      await world.clock.advance(10);
    }
    await life.settle();
    // Those that come within a second after it go before it, and no others.
    expect(calls.indexOf('late')).toBeGreaterThanOrEqual(100);
    expect(calls.indexOf('late')).toBeLessThanOrEqual(102);
    await life.stop();
  });
});

describe("concurrency of a handler (A31')", () => {
  it('holds back its own calls only, without a worker of the queue', async () => {
    const world = createWorld();
    putAll(world, 3);
    const calls: string[] = [];
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'slow', concurrency: 1 }, async ({ name }) => {
          calls.push(`slow ${name} ${world.clock.now()}`);
          await sleep(world.clock, 100);
        });
        controller.on('change', { id: 'quick' }, ({ name }) => {
          calls.push(`quick ${name} ${world.clock.now()}`);
        });
      },
      { concurrency: 2 },
    );
    expect(calls).toEqual(['slow o0 0', 'quick o1 0', 'quick o2 0']);
    expect(life.stats()).toMatchObject({ running: 1, waiting: 2, behind: 3 });
    // Nobody but the running call has a timer.
    expect(world.clock.pending).toBe(1);
    await life.settle();
    expect(calls.slice(3)).toEqual(['slow o1 100', 'quick o0 100', 'slow o2 200']);
    await life.stop();
  });

  it('gives a place to the next object as soon as the call has ended, while its own object goes on', async () => {
    const world = createWorld();
    putAll(world, 2);
    const calls: string[] = [];
    const life = await world.start((controller) => {
      controller.on('change', { id: 'a', concurrency: 1 }, async ({ name }) => {
        calls.push(`a ${name} ${world.clock.now()}`);
        await sleep(world.clock, 10);
      });
      controller.on('change', { id: 'b', when: ({ spec }) => spec?.n === 0 }, async ({ name }) => {
        calls.push(`b ${name} ${world.clock.now()}`);
        await sleep(world.clock, 1000);
      });
    });
    await life.settle();
    expect(calls).toEqual(['a o0 0', 'a o1 10', 'b o0 10']);
    await life.stop();
  });

  it('counts subs and hooks to retire for their parent', async () => {
    const world = createWorld();
    putAll(world, 3);
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await sleep(world.clock, 10);
      running--;
    };
    const life = await world.start((controller) => {
      controller.on('change', { id: 'p', concurrency: 2, retire: work }, async (ctx) => {
        ctx.sub(`s${String((ctx.new as Thing).spec?.n)}`, {}, work);
        ctx.sub('t', {}, work);
        await work();
      });
    });
    await life.settle();
    for (let n = 0; n < 3; n++) world.source.put(`o${n}`, { spec: { n: n + 10 } });
    await life.settle();
    expect([most, life.stats().calls, life.stats().behind]).toEqual([2, 21, 0]);
    await life.stop();
  });

  it('has a place again after a timeout, for a call that never ends', async () => {
    const world = createWorld();
    putAll(world, 2);
    const calls: string[] = [];
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h', concurrency: 1, timeoutMs: 50, retries: 0 }, ({ name }) => {
        calls.push(`${name} ${world.clock.now()}`);
        return new Promise(() => {});
      });
    });
    await life.settle();
    expect(calls).toEqual(['o0 0', 'o1 50']);
    await life.stop();
  });

  it('puts 2000 subs that wait aside once, not for every call', async () => {
    const world = createWorld();
    putAll(world, 2);
    const life = await world.start((controller) => {
      controller.on('change', { id: 'p', concurrency: 1 }, (ctx) => {
        for (let n = 0; n < 1000; n++) ctx.sub(`s${n}`, {}, () => {});
      });
    });
    await life.settle();
    expect(life.stats()).toMatchObject({ calls: 2002, behind: 0 });
    // A pass for each call and its wait at most.
    expect(life.stats().passes).toBeLessThan(2 * 2002 + 10);
    await life.stop();
  });
});

describe("the rate limit (A32')", () => {
  it('spreads the calls of all objects and handlers, with one timer', async () => {
    const world = createWorld();
    putAll(world, 4);
    const calls: string[] = [];
    const life = await world.start(
      (controller) => {
        for (const id of ['a', 'b']) {
          controller.on('change', { id }, ({ name }) => {
            calls.push(`${id} ${name} ${world.clock.now()}`);
          });
        }
      },
      { rateLimit: { perSecond: 10, burst: 3 } },
    );
    expect([calls.length, world.clock.pending]).toEqual([3, 1]);
    await life.settle();
    expect(calls.map((call) => call.split(' ')[2])).toEqual(['0', '0', '0', '100', '200', '300', '400', '500']);
    expect(world.clock.pending).toBe(0);
    await life.stop();
  });

  it('counts a call to rebuild, also where there is one token at a time', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const calls: string[] = [];
    let fails = true;
    const start = () =>
      world.start(
        (controller) =>
          controller.on('change', { id: 'p' }, (ctx) => {
            calls.push(`p ${world.clock.now()}${ctx.rebuild ? ' rebuild' : ''}`);
            ctx.sub('s', {}, () => {
              calls.push(`s ${world.clock.now()}`);
              if (fails) throw new Error('not yet');
            });
          }),
        { rateLimit: { perSecond: 1 }, progress: world.progress, backoff: { baseMs: 5000, jitter: 0 } },
      );
    const first = await start();
    await world.clock.advance(1500);
    await first.stop();
    fails = false;
    const beginMs = world.clock.now();
    const second = await start();
    await second.settle();
    expect(calls).toEqual(['p 0', 's 1000', `p ${beginMs} rebuild`, `s ${beginMs + 1000}`]);
    await second.stop();
  });
});

describe("the breaker of an object (A33')", () => {
  const breaker = { failuresMax: 2, backoff: { baseMs: 1000, factor: 3, maxMs: 5000, jitter: 0 } };

  it.each([1, 2, 5, 10])('%i calls that fail beside each other open it once: they are no trials', async (parallel) => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const at: number[] = [];
    const life = await world.start(
      (controller) => {
        for (let index = 0; index < parallel; index++) {
          controller.on('change', { id: `h${index}`, retries: 1 }, async () => {
            at.push(world.clock.now());
            await sleep(world.clock, 10);
            throw new Error('no');
          });
        }
      },
      { parallel, breaker: { ...breaker, failuresMax: 1 }, backoff: { baseMs: 10, factor: 1, jitter: 0 } },
    );
    await world.clock.advance(500);
    expect([at.length, life.stats().breakerTrips]).toEqual([parallel, 1]);
    await world.clock.advance(515);
    // One trial, after what it waits for the first time.
    expect(at.slice(parallel)).toEqual([1010]);
    await life.stop();
  });

  it('opens after failures in a row of all handlers, longer each time, and closes with a success', async () => {
    const world = createWorld();
    world.source.put('bad', { spec: { n: 1 } });
    world.source.put('good', { spec: { n: 1 } });
    const calls: number[] = [];
    let fails = true;
    const life = await world.start(
      (controller) => {
        for (const id of ['a', 'b']) {
          controller.on('change', { id, when: () => true }, ({ name }) => {
            if (name === 'good') return;
            calls.push(world.clock.now());
            if (fails) throw new Error('no');
          });
        }
      },
      { breaker, backoff: { baseMs: 10, factor: 1, jitter: 0 } },
    );
    const wallMs = world.clock.wallTime();
    expect(life.controller.state('bad')?.breaker).toEqual({
      state: 'open',
      failures: 2,
      trips: 1,
      openUntilWallMs: wallMs + 1000,
    });
    expect(life.controller.state('good')?.breaker).toMatchObject({ state: 'closed', failures: 0 });
    await world.clock.advance(9000);
    expect(calls).toEqual([0, 0, 1000, 4000, 9000]);
    expect(life.stats()).toMatchObject({ openBreakers: 1, breakerTrips: 4 });
    fails = false;
    await life.settle();
    expect(calls.slice(5)).toEqual([14_000, 14_000]);
    expect(life.controller.state('bad')?.breaker).toMatchObject({ state: 'closed', failures: 0, trips: 0 });
    expect([life.stats().openBreakers, life.stats().behind, world.clock.pending]).toEqual([0, 0, 0]);
    await life.stop();
  });

  it('lets a state of somebody else be tried soon, but a heartbeat does not undo it', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const calls: string[] = [];
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h', retries: 3 }, (ctx) => {
          const n = (ctx.new as Thing).spec?.n;
          calls.push(`${String(n)} at ${world.clock.now()}`);
          if (n !== 9) throw new Error('no');
        }),
      { breaker, backoff: { baseMs: 10, factor: 1, jitter: 0 } },
    );
    await world.clock.advance(1100);
    expect(calls).toEqual(['1 at 0', '1 at 10', '1 at 1010']);
    // Open until 4010. Each of these states cuts that to 2010.
    for (let n = 2; n < 10; n++) world.source.put('o', { spec: { n } });
    await life.settle();
    expect(calls.slice(3)).toEqual(['9 at 2010']);
    expect(life.controller.state('o')?.settled).toBe(true);
    await life.stop();
  });

  it('is forgotten with the object', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h' }, () => {
          throw new Error('no');
        }),
      { breaker },
    );
    await world.clock.advance(5000);
    expect(life.stats().openBreakers).toBe(1);
    world.source.delete('o');
    await life.settle();
    expect([life.stats().openBreakers, life.stats().objects, world.clock.pending]).toEqual([0, 0, 0]);
    await life.stop();
  });

  it('counts failures for good, and delays what others have to do', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const calls: string[] = [];
    const life = await world.start(
      (controller) => {
        for (const id of ['a', 'b', 'c']) {
          controller.on('change', { id }, () => {
            calls.push(`${id} ${world.clock.now()}`);
            if (id !== 'c') throw new PermanentError('never');
          });
        }
      },
      { breaker },
    );
    await life.settle();
    expect(calls).toEqual(['a 0', 'b 0', 'c 1000']);
    await life.stop();
  });
});

describe("back-pressure (A34')", () => {
  it('holds the watch while too many are in line, reads on at half, and loses nothing', async () => {
    const world = createWorld();
    const life = await world.start((controller) => controller.on('change', { id: 'h' }, () => sleep(world.clock, 10)), {
      concurrency: 1,
      queuedMax: 4,
    });
    putAll(world, 20);
    await world.clock.settle();
    // One runs, five are in line: the one too many has been read before anybody could know.
    expect(life.stats()).toMatchObject({ objects: 6, queued: 5, running: 1, watchHeld: true });
    await world.clock.advance(20);
    expect(life.stats()).toMatchObject({ objects: 6, queued: 3, watchHeld: true });
    await world.clock.advance(10);
    expect(life.stats()).toMatchObject({ objects: 9, queued: 5, watchHeld: true });
    await life.settle();
    expect(life.stats()).toMatchObject({ objects: 20, successes: 20, behind: 0, watchHeld: false, relists: 0 });
    await life.stop();
  });

  it('does not hold it while paused, nor hold up the stop', async () => {
    const world = createWorld();
    const life = await world.start((controller) => controller.on('change', { id: 'h' }, () => sleep(world.clock, 10)), {
      concurrency: 1,
      queuedMax: 1,
    });
    putAll(world, 10);
    await world.clock.settle();
    expect(life.stats()).toMatchObject({ objects: 3, watchHeld: true });
    life.controller.pause();
    await world.clock.settle();
    expect(life.stats()).toMatchObject({ objects: 10, watchHeld: false });
    life.controller.resume();
    world.source.put('last', {});
    await world.clock.settle();
    expect(life.stats().watchHeld).toBe(true);
    await life.stop();
    expect([life.stats().watchHeld, world.clock.pending]).toEqual([false, 0]);
  });
});

describe("pause and resume (A35')", () => {
  it('no timer and no daemon begins at the end of a pass that was running', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const calls: string[] = [];
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h' }, () => sleep(world.clock, 100));
      controller.on('timer', { id: 't', intervalMs: 1000 }, () => void calls.push(`t at ${world.clock.now()}`));
      controller.on('daemon', { id: 'd' }, () => void calls.push(`d at ${world.clock.now()}`));
    });
    await world.clock.advance(50);
    life.controller.pause();
    await world.clock.advance(450);
    expect(calls).toEqual([]);
    life.controller.resume();
    await world.clock.advance(10);
    expect(calls.sort()).toEqual(['d at 500', 't at 500']);
    await life.stop();
  });

  it('lets running calls end and writes their outcome, takes states in, and begins no call', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const calls: string[] = [];
    const life = await world.start((controller) => {
      for (const id of ['a', 'b']) {
        controller.on('change', { id }, async (ctx) => {
          calls.push(`${id} ${String((ctx.new as Thing).spec?.n)}`);
          await sleep(world.clock, 10);
        });
      }
    });
    life.controller.pause();
    life.controller.pause();
    let isIdle = false;
    const idle = life.controller.idle().then(() => {
      isIdle = true;
    });
    await world.clock.advance(100);
    world.source.put('o', { spec: { n: 2 } });
    world.source.put('p', { spec: { n: 3 } });
    await world.clock.advance(100);
    expect(calls).toEqual(['a 1']);
    expect(world.written.at(-1)?.records.a?.attempt?.state).toBe('ok');
    expect(life.stats()).toMatchObject({ paused: true, objects: 2, queued: 2, running: 0 });
    expect([life.controller.state('o')?.resourceVersion, isIdle, world.clock.pending]).toEqual(['2', false, 0]);
    life.controller.resume();
    await life.settle();
    await idle;
    expect(calls.slice(1).sort()).toEqual(['a 2', 'a 3', 'b 2', 'b 3']);
    expect(life.stats().paused).toBe(false);
    await life.stop();
  });

  it('can begin before the controller runs, and it stops while paused, at once', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    let calls = 0;
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h' }, () => {
        calls++;
      });
      controller.pause();
    });
    await world.clock.advance(1000);
    expect([calls, life.stats().queued]).toEqual([0, 1]);
    life.abort();
    await life.done;
    expect([life.stats().behind, world.clock.pending]).toEqual([1, 0]);
  });
});

describe('the stop', () => {
  it('waits for no limit, no token, no breaker, and leaves no timer', async () => {
    const world = createWorld();
    putAll(world, 5);
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'a', concurrency: 1 }, () => sleep(world.clock, 500));
        controller.on('change', { id: 'b', concurrency: 1 }, () => {
          throw new Error('no');
        });
      },
      { rateLimit: { perSecond: 0.5, burst: 3 }, breaker: { failuresMax: 1 }, drainMs: 1000 },
    );
    await world.clock.advance(100);
    expect(life.stats()).toMatchObject({ running: 1, openBreakers: 2, waiting: 4 });
    life.abort();
    await world.clock.advance(400);
    await life.done;
    expect(world.clock.now()).toBe(500);
    expect([world.clock.pending, life.stats().running]).toEqual([0, 0]);
  });
});
