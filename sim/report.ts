import type { CellResult, Spread } from './cell.ts';

/** The table of one group: a line for each world and strategy, `p50 / p90 / max` for each figure. */
export function groupTable(group: string, results: readonly CellResult[]): string {
  const figures = [...new Set(results.flatMap((result) => Object.keys(result.figures)))];
  const head = ['world', 'strategy', 'seeds', ...figures.map(inSeconds), 'targets'];
  const rows = results.map((result) => [
    result.world || '-',
    result.strategy,
    String(result.seeds),
    ...figures.map((name) => spread(name, result.figures[name])),
    verdict(result),
  ]);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [`## ${group}`, '', line(head), line(head.map(() => '---')), ...rows.map(line), ''].join('\n');
}

/** One line for each target: what was asked, what came out, and whether it was met. */
export function targetLines(results: readonly CellResult[]): readonly string[] {
  return results.flatMap(({ group, world, strategy, targets }) =>
    targets.map(({ figure, atMost, atLeast, actual, met }) => {
      const bounds = [
        atLeast === undefined ? '' : `>= ${number(atLeast)}`,
        atMost === undefined ? '' : `<= ${number(atMost)}`,
      ];
      const asked = bounds.filter((bound) => bound !== '').join(' and ');
      const where = [group.split(/[ :,]/)[0], world, strategy].filter((part) => part !== '').join(' ');
      return `${met ? 'met   ' : 'MISSED'} ${where}: ${figure} ${asked}, got ${number(actual)}`;
    }),
  );
}

export function missed(results: readonly CellResult[]): number {
  return results.flatMap(({ targets }) => targets).filter(({ met }) => !met).length;
}

function verdict({ targets }: CellResult): string {
  if (targets.length === 0) return '-';
  const misses = targets.filter(({ met }) => !met);
  return misses.length === 0 ? 'met' : `MISSED ${misses.map(({ figure }) => figure).join(', ')}`;
}

function inSeconds(name: string): string {
  return name.endsWith(' ms') ? `${name.slice(0, -3)} s` : name;
}

function spread(name: string, values: Spread | undefined): string {
  if (values === undefined) return '-';
  const scale = name.endsWith(' ms') ? 1000 : 1;
  const digits = name.endsWith(' ms') ? 2 : 3;
  const [p50, p90, max] = [values.p50, values.p90, values.max].map((value) => number(value / scale, digits));
  return p50 === max ? String(p50) : `${p50} / ${p90} / ${max}`;
}

function number(value: number, digits = 2): string {
  if (value === Number.POSITIVE_INFINITY) return 'never';
  return String(Number(value.toFixed(digits)));
}
