// @ts-check
// A folder of results as a table and a plot.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RUNTIMES } from './runtimes.mjs';

/**
 * @typedef {import('./runtimes.mjs').Measured} Measured
 * @typedef {import('./runtimes.mjs').RuntimeResult} RuntimeResult
 * @typedef {RuntimeResult & { runtime: string, plimsoll: string, at: string, quick: boolean, machine: { cpu: string, cores: number } }} SavedResult
 */

/**
 * The results of a folder, in the order of `RUNTIMES`.
 *
 * @param {string} folder
 * @returns {Promise<SavedResult[]>}
 */
export async function readResults(folder) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  const results = await Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8'))));
  return results.sort((a, b) => RUNTIMES.indexOf(a.runtime) - RUNTIMES.indexOf(b.runtime));
}

/** @param {string} folder */
export async function writeReport(folder) {
  const results = await readResults(folder);
  await writeFile(join(folder, 'README.md'), tableOf(results));
  await writeFile(join(folder, 'results.svg'), await plotOf(results));
}

/**
 * @param {readonly SavedResult[]} results
 * @returns {string}
 */
export function tableOf(results) {
  const names = [...new Set(results.flatMap((one) => one.results.map(({ name }) => name)))];
  const rows = results.map((one) => {
    const cells = names.map((name) => cell(one.results.find((measured) => measured.name === name)));
    return `| ${one.runtime} | ${one.version} | ${cells.join(' | ')} |`;
  });
  const about = results.map(({ runtime, at, harness, machine, plimsoll, quick }) => {
    const how = `${harness}${quick ? ', --quick' : ''}`;
    return `| ${runtime} | ${at.slice(0, 10)} | ${plimsoll} | ${machine.cpu}, ${machine.cores} cores | ${how} |`;
  });
  return [
    '# The same work in every runtime',
    '',
    'Made by `npm run bench:all`; thousands of operations in a second, with the error of 95 % in percent. One process a runtime;',
    'what is measured is in `bench/everywhere/cases.mjs`. Runtimes are not compared with each other for a ranking: two ways',
    'of measuring are among them, and an event loop each; in workerd and the edge machine each call begins with an empty store,',
    'elsewhere one goes on through all samples.',
    '',
    '![Operations per second by runtime](results.svg)',
    '',
    `| runtime | version | ${names.join(' | ')} |`,
    `| --- | --- | ${names.map(() => '--:').join(' | ')} |`,
    ...rows,
    '',
    '| runtime | measured | plimsoll | machine | how |',
    '| --- | --- | --- | --- | --- |',
    ...about,
    '',
  ].join('\n');
}

/** @param {Measured | undefined} measured */
function cell(measured) {
  if (measured === undefined) return '';
  const thousands = measured.opsPerSecond / 1000;
  const digits = thousands >= 100 ? 0 : thousands >= 10 ? 1 : 2;
  return `${thousands.toFixed(digits)} ±${measured.rme.toFixed(0)} %`;
}

/**
 * A plot for each case, each with a scale of its own: a page of rows and a digest have nothing to do with each other.
 *
 * @param {readonly SavedResult[]} results
 * @returns {Promise<string>}
 */
async function plotOf(results) {
  // Packages of bench/, which are there by now.
  const packages = ['vega', 'vega-lite'];
  const [vega, lite] = await Promise.all(packages.map((name) => import(name)));
  const values = results.flatMap(({ runtime, results: measured }) =>
    measured.map(({ name, opsPerSecond }) => ({ runtime, name, value: opsPerSecond / 1000 })),
  );
  const { spec } = lite.compile({
    data: { values },
    facet: {
      field: 'name',
      type: 'nominal',
      title: null,
      sort: null,
      header: { labelFontSize: 13, labelAnchor: 'start' },
    },
    columns: 2,
    resolve: { scale: { x: 'independent' } },
    spec: {
      width: 320,
      height: { step: 16 },
      mark: { type: 'bar', color: '#33658a' },
      encoding: {
        y: { field: 'runtime', type: 'nominal', sort: null, title: null },
        x: { field: 'value', type: 'quantitative', title: 'thousand operations a second' },
      },
    },
    background: 'white',
  });
  return new vega.View(vega.parse(spec), { renderer: 'none' }).toSVG();
}
