import { describe, expect, it } from 'vitest';
import { GuardedLogger } from '../../../src/system/guarded-logger.ts';

describe('GuardedLogger', () => {
  it('passes messages and fields on, on the logger itself', () => {
    const said: unknown[] = [];
    const own = {
      prefix: 'own',
      say(message: string, fields?: unknown): void {
        said.push([this.prefix, message, fields]);
      },
    };
    const logger = new GuardedLogger({
      prefix: 'own',
      debug: own.say,
      info: own.say,
      warn: own.say,
      error: own.say,
    } as never);
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level](level, { level });
    expect(said).toEqual(['debug', 'info', 'warn', 'error'].map((level) => ['own', level, { level }]));
  });

  it('drops and counts what the logger throws or rejects with', async () => {
    const logger = new GuardedLogger({
      debug: () => {
        throw new Error('thrown');
      },
      info: async () => {
        throw new Error('rejected');
      },
      warn: undefined as never,
      error: () => {},
    });
    logger.debug('a');
    logger.info('b');
    logger.warn('c');
    logger.error('d');
    await Promise.resolve();
    await Promise.resolve();
    expect(logger.failures).toBe(3);
  });

  it('is silent without a logger', () => {
    const logger = new GuardedLogger(undefined);
    logger.error('nobody hears');
    expect(logger.failures).toBe(0);
  });
});
