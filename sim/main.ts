import { HELP, type Options, parseArguments } from './arguments.ts';
import { type CellResult, measureCell } from './cell.ts';
import { groupTable, missed, targetLines } from './report.ts';
import { writerLeaseCells } from './suite.ts';

/** What the command needs of the process it runs in. */
export interface Host {
  readonly out: (text: string) => void;
  readonly progress: (text: string) => void;
  readonly nowMs: () => number;
  /** Gives other events of the process their turn. */
  readonly yield: () => Promise<void>;
  readonly isStopped: () => boolean;
}

/** The command; resolves with its exit code. */
export async function main(args: readonly string[], host: Host): Promise<number> {
  let options: Options;
  try {
    options = parseArguments(args);
  } catch (error) {
    host.progress(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return 2;
  }
  if (options.isHelp) {
    host.out(HELP);
    return 0;
  }
  const cells = writerLeaseCells(options);
  if (cells.length === 0) {
    host.progress(
      `Cannot run the simulation: no cell fits --cells ${options.cells.join(',')}; --help says what it takes\n`,
    );
    return 2;
  }
  const startedAt = host.nowMs();
  const results: CellResult[] = [];
  for (const [index, cell] of cells.entries()) {
    if (host.isStopped()) break;
    const { group, world, strategy, seeds } = cell;
    const seconds = ((host.nowMs() - startedAt) / 1000).toFixed(0);
    host.progress(
      `[${index + 1}/${cells.length}, ${seconds} s] ${group.slice(0, 40)} ${world} ${strategy}, ${seeds} seeds\n`,
    );
    results.push(await measureCell(cell, host.isStopped));
    await host.yield();
  }
  report(results, options, host);
  if (host.isStopped()) {
    host.progress(`stopped after ${results.length} of ${cells.length} cells\n`);
    return 1;
  }
  return missed(results) === 0 ? 0 : 1;
}

function report(all: readonly CellResult[], { isJson }: Options, host: Host): void {
  // A cell that was stopped before its first seed has nothing to tell.
  const results = all.filter(({ seeds }) => seeds > 0);
  if (isJson) {
    host.out(`${JSON.stringify({ simulation: 'writer-lease', missed: missed(results), cells: results }, finite, 1)}\n`);
    return;
  }
  for (const group of new Set(results.map((result) => result.group))) {
    host.out(
      `${groupTable(
        group,
        results.filter((result) => result.group === group),
      )}\n`,
    );
  }
  const lines = targetLines(results);
  host.out(`## Targets\n\n${lines.join('\n')}\n\n${lines.length - missed(results)} met, ${missed(results)} missed\n`);
}

/** JSON has no infinity: what never came is null. */
function finite(_name: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}
