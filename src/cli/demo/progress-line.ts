import type { Clock } from '../../types/clock.ts';
import type { TextOutput } from '../output.ts';

/** What the line shows. */
export interface ProgressFigures {
  readonly events: number;
  /** The watermarks: oldest and newest readable revision. */
  readonly low: number;
  readonly high: number;
  /** Objects queued or running. */
  readonly queue: number;
  /** Objects with a handler that has yet to handle the newest state known. */
  readonly behind: number;
  readonly phase: string;
}

const TERMINAL_MS = 100;
const PLAIN_MS = 1000;

/**
 * Shows where a demo is, on standard error: on a terminal one line, rewritten ten times a second; elsewhere a plain
 * line each second.
 */
export class ProgressLine {
  readonly #output: TextOutput;
  readonly #clock: Clock;
  readonly #figures: () => ProgressFigures;
  readonly #intervalMs: number;
  #cancel: (() => void) | undefined;
  #lastEvents = 0;
  #lastAt: number;
  #eventsPerSecond = 0;
  #isShown = false;

  constructor(output: TextOutput, clock: Clock, figures: () => ProgressFigures) {
    this.#output = output;
    this.#clock = clock;
    this.#figures = figures;
    this.#intervalMs = output.isTerminal ? TERMINAL_MS : PLAIN_MS;
    this.#lastAt = clock.now();
    this.#arm();
  }

  /** Stops, and leaves a clean line behind. */
  async close(): Promise<void> {
    this.#cancel?.();
    if (this.#isShown && this.#output.isTerminal) await this.#output.write('\r\x1b[2K');
  }

  #arm(): void {
    this.#cancel = this.#clock.after(this.#intervalMs, () => {
      // Never two writes at a time: a slow terminal slows the line, not the demo.
      // One that cannot be written to is left alone: the outcome is on standard output.
      this.#show().then(
        () => this.#arm(),
        () => this.#cancel?.(),
      );
    });
  }

  async #show(): Promise<void> {
    const figures = this.#figures();
    const now = this.#clock.now();
    this.#eventsPerSecond = Math.round(((figures.events - this.#lastEvents) * 1000) / Math.max(1, now - this.#lastAt));
    this.#lastAt = now;
    this.#lastEvents = figures.events;
    const text = formatProgress(figures, this.#eventsPerSecond);
    this.#isShown = true;
    if (this.#output.isTerminal) await this.#output.write(`\r\x1b[2K${text.slice(0, this.#output.columns - 1)}`);
    else await this.#output.write(`${text}\n`);
  }
}

/** Fits 80 columns up to millions of events and revisions. */
function formatProgress(figures: ProgressFigures, eventsPerSecond: number): string {
  const { events, low, high, queue, behind, phase } = figures;
  return `${events} events, ${eventsPerSecond}/s, low ${low}, high ${high}, queue ${queue}, behind ${behind}, ${phase}`;
}
