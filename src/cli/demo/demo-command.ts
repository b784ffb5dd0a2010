import { parseArguments, parseInteger } from '../arguments.ts';
import { Chaos } from '../chaos/chaos.ts';
import { complain } from '../complain.ts';
import { DataError, OutputError, UsageError } from '../errors.ts';
import { escapeControls } from '../escape.ts';
import type { CliHost } from '../host.ts';
import { DEMO_USAGE } from '../usage.ts';
import type { Check } from './checks.ts';
import { Demo, type DemoOptions, type DemoReport } from './demo.ts';
import { createSampleEvents, type EventSource, openStream } from './event-source.ts';
import { ProgressLine } from './progress-line.ts';
import { readTruthFile } from './truth-file.ts';

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  stream: { type: 'string' },
  truth: { type: 'string' },
  seed: { type: 'string' },
  objects: { type: 'string' },
  events: { type: 'string' },
  'kill-at': { type: 'string' },
  chaos: { type: 'boolean' },
  broken: { type: 'boolean' },
  'timeout-s': { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** Most objects and events, and how many without an option. */
const STREAM_SIZES = [100_000, 10_000_000, 300, 3000] as const;
const CHAOS_SIZES = [1000, 100_000, 25, 600] as const;

/** What the command line asks for. */
export interface DemoArguments {
  readonly isHelp: boolean;
  readonly isJson: boolean;
  /** `undefined`: the built-in stream. */
  readonly stream: string | undefined;
  readonly truth: string | undefined;
  readonly seed: number;
  readonly objects: number;
  readonly events: number;
  readonly killAt: number | undefined;
  readonly timeoutMs: number;
  readonly isChaos: boolean;
  readonly isBroken: boolean;
}

/** Throws `UsageError` for whatever is not in the help, and for options that contradict each other. */
function parseDemoArguments(args: readonly string[]): DemoArguments {
  const { values, positionals } = parseArguments('demo', args, OPTIONS);
  const fault = (reason: string): UsageError => new UsageError(`Cannot run demo: ${reason}`, 'demo');
  const integer = (option: keyof typeof OPTIONS, min: number, max: number): number | undefined =>
    parseInteger('demo', option, values[option] as string | undefined, { min, max });
  if (positionals.length > 0) throw fault(`unexpected argument "${positionals[0]}", a file goes behind --stream`);
  if (values.stream === '' || values.truth === '') throw fault('the name of a file is empty');
  if (values.stream === undefined && values.truth !== undefined) throw fault('--truth needs a --stream');
  if (values.truth === '-') throw fault('--truth cannot be standard input');
  for (const option of ['seed', 'objects', 'events'] as const) {
    if (values.stream !== undefined && values[option] !== undefined) {
      throw fault(`--${option} is for the built-in stream, it cannot go with --stream`);
    }
  }
  const isChaos = values.chaos === true;
  if (values.broken === true && !isChaos) throw fault('--broken needs --chaos');
  for (const option of ['stream', 'kill-at'] as const) {
    if (isChaos && values[option] !== undefined) throw fault(`--${option} cannot go with --chaos, which has no stream`);
  }
  const [objectsMax, eventsMax, objectsDefault, eventsDefault] = isChaos ? CHAOS_SIZES : STREAM_SIZES;
  const objects = integer('objects', 1, objectsMax) ?? objectsDefault;
  const events = integer('events', 1, eventsMax) ?? Math.max(eventsDefault, objects);
  if (events < objects) throw fault(`--events is ${events}, below --objects, which is ${objects}`);
  const killAt = integer('kill-at', 1, Number.MAX_SAFE_INTEGER);
  if (values.stream === undefined && killAt !== undefined && killAt > events) {
    throw fault(`--kill-at is ${killAt}, but the stream ends after event ${events}`);
  }
  return {
    isHelp: values.help === true,
    isJson: values.json === true,
    stream: values.stream,
    truth: values.truth,
    seed: integer('seed', 0, 0xffffffff) ?? 1,
    objects,
    events,
    killAt,
    timeoutMs: (integer('timeout-s', 0, 1_000_000) ?? 120) * 1000,
    isChaos,
    isBroken: values.broken === true,
  };
}

/** `plimsoll demo`. Returns the exit code; throws `UsageError`, `DataError`, and the reason of an interrupt. */
export async function runDemo(
  args: readonly string[],
  host: CliHost,
  parts: NonNullable<DemoOptions['parts']> = {},
): Promise<number> {
  const options = parseDemoArguments(args);
  if (options.isHelp) {
    await host.stdout.write(DEMO_USAGE);
    return 0;
  }
  try {
    const report = await (options.isChaos ? endure(options, host) : measure(options, host, parts));
    const isRight = report.checks.every(({ outcome }) => outcome !== 'failed');
    await host.stdout.write(options.isJson ? formatJson(report, isRight) : formatReport(report, isRight));
    return isRight ? 0 : 1;
  } catch (error) {
    if (options.isJson && error instanceof DataError) {
      await writeError(error, host);
    }
    throw error;
  }
}

/** When it cannot be written, both are told on standard error: what went wrong first must not be lost. */
async function writeError(error: DataError, host: CliHost): Promise<void> {
  try {
    await host.stdout.write(`${JSON.stringify({ ok: false, error: error.message, place: error.place ?? null })}\n`);
  } catch (failure) {
    if (!(failure instanceof OutputError)) throw failure;
    await complain(host, failure);
  }
}

async function measure(
  options: DemoArguments,
  host: CliHost,
  parts: NonNullable<DemoOptions['parts']>,
): Promise<DemoReport> {
  const { clock } = host;
  const truthFile = options.truth === undefined ? undefined : await readTruthFile(host, options.truth);
  const source: EventSource =
    options.stream === undefined ? createSampleEvents(options, clock) : openStream(host, options.stream);
  const { seed, killAt, timeoutMs } = options;
  const demo = new Demo({ source, clock, signal: host.interrupted(), seed, killAt, truthFile, timeoutMs, parts });
  return show(demo, host);
}

function endure(options: DemoArguments, host: CliHost): Promise<DemoReport> {
  const { seed, objects, events: edits, timeoutMs, isBroken } = options;
  const { clock } = host;
  return show(new Chaos({ clock, signal: host.interrupted(), seed, objects, edits, timeoutMs, isBroken }), host);
}

async function show(demo: Demo | Chaos, { stderr, clock }: CliHost): Promise<DemoReport> {
  const line = new ProgressLine(stderr, clock, () => demo.figures);
  try {
    return await demo.run();
  } finally {
    await line.close();
  }
}

const MARKS = { ok: 'ok  ', failed: 'FAIL', skipped: '-   ' } as const;

/** A line for each check, the first difference, and the closing line. */
function formatReport(report: DemoReport, isRight: boolean): string {
  const { checks, figures } = report;
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(({ name, outcome, summary }) => `${MARKS[outcome]}  ${name.padEnd(width)}  ${summary}`);
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  const shown = checks.filter(({ outcome }) => outcome === 'ok').length;
  if (failed[0] !== undefined) lines.push(...formatDifference(failed[0]));
  const { events = 0, objects = 0, elapsedMs = 0 } = figures;
  const [last = '', ...first] = [
    ...(report.summary ?? [
      `${events} ${events === 1 ? 'event' : 'events'}, ${objects} ${objects === 1 ? 'object' : 'objects'} alive`,
    ]),
  ].reverse();
  const verdict = isRight ? `all ${shown} checks are right` : `${failed.length} of ${checks.length} checks failed`;
  lines.push(...first.reverse(), `${last}, ${(elapsedMs / 1000).toFixed(1)} s: ${verdict}`);
  return `${lines.join('\n')}\n`;
}

function formatDifference({ name, difference }: Check): string[] {
  if (difference === undefined) return [];
  const { key, expected, actual } = difference;
  return [
    `first difference (${name})`,
    ...(key === '' ? [] : [`  key       ${escapeControls(key)}`]),
    `  expected  ${expected}`,
    `  actual    ${actual}`,
  ];
}

function formatJson({ checks, figures }: DemoReport, isRight: boolean): string {
  return `${JSON.stringify({ ok: isRight, ...figures, checks })}\n`;
}
