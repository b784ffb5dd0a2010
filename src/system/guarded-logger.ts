import type { Logger } from '../types/logger.ts';

/**
 * A logger that cannot do harm: what the user's own throws is dropped, also when its method is async and rejects.
 * Logging happens inside recoveries, where a throw would end the component for good; and there is nobody to tell, since
 * the logger is who errors are told to. `failures` counts what was dropped.
 *
 * For everyone who takes a `logger` option: wrapped once, where options come in. Without a logger it is silent.
 */
export class GuardedLogger implements Logger {
  readonly #logger: Logger | undefined;
  #failures = 0;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  get failures(): number {
    return this.#failures;
  }

  debug(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say('debug', message, fields);
  }

  info(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say('info', message, fields);
  }

  warn(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say('warn', message, fields);
  }

  error(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say('error', message, fields);
  }

  #say(level: keyof Logger, message: string, fields: Readonly<Record<string, unknown>> | undefined): void {
    const dropped = () => {
      this.#failures++;
    };
    try {
      // Typed as void, which an async method satisfies too.
      const result: unknown = this.#logger?.[level](message, fields);
      if (result instanceof Promise) result.catch(dropped);
    } catch {
      dropped();
    }
  }
}
