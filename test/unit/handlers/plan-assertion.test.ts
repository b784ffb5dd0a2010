import { describe, expect, it } from 'vitest';
import type { HandlerContext } from '../../../src/handlers/context.ts';
import { assertPlanOfView } from '../../../src/testing/plan-assertion.ts';
import type { Thing } from './harness.ts';

const OBJECTS: Thing[] = [{ spec: { n: 1 } }, { spec: { n: 1 }, status: { x: 1 } }, { spec: { n: 2 } }];

function check(fn: (ctx: HandlerContext<Thing>) => void, objects = OBJECTS): Promise<number> {
  return assertPlanOfView<Thing>({ handler: { id: 'p', field: 'spec' }, fn, objects });
}

describe("the plan of a view (A9'b)", () => {
  it('row 12: args from a field outside of the view are refused', async () => {
    const fn = (ctx: HandlerContext<Thing>) => ctx.sub('s', { args: ctx.object.status?.x ?? 0 }, () => {});
    await expect(check(fn)).rejects.toThrow(
      'Cannot rely on the plan of "p": the plans on objects 0 and 1 differ, though its view is the same',
    );
  });

  it('ids that depend on `old` are refused', async () => {
    const fn = (ctx: HandlerContext<Thing>) => ctx.sub(ctx.old === undefined ? 'first' : 'later', {}, () => {});
    await expect(check(fn)).rejects.toMatchObject({
      code: 'ASSERTION',
      message: expect.stringContaining('another cause'),
    });
  });

  it('a plan of the view is taken, and it is said how often it was compared', async () => {
    const fn = (ctx: HandlerContext<Thing>) => {
      ctx.patch({ status: {} });
      ctx.sub('s', { args: ctx.new }, () => {});
    };
    expect(await check(fn)).toBe(2);
    expect(await check(fn, OBJECTS.slice(1))).toBe(0);
  });

  it('what it is called for throws is thrown, and objects out of scope are passed over', async () => {
    await expect(check(() => Promise.reject(new Error('no')) as never)).rejects.toThrow('no');
    const handler = { id: 'p', when: () => false };
    expect(await assertPlanOfView({ handler, fn: () => {}, objects: [1, 1] })).toBe(0);
    await expect(assertPlanOfView({ handler, fn: () => {}, objects: [], states: [] } as never)).rejects.toThrow(
      'states',
    );
  });
});
