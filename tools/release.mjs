// @ts-check
// `npm run release`: the next version, and its way to npm and JSR. Changes nothing anywhere else before everything that has to
// be so is so.
import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installTools, tool } from './check-tools.mjs';
import { outputOf } from './child-output.mjs';
import { findPrograms } from './runtimes.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));

const HELP = `npm run release -- STEP [--dry-run]

  version    takes what lies in .changeset: the next version into package.json, its lockfile and jsr.json, and the
             section "Unreleased" of CHANGELOG.md under that version. Look at it, commit it, tag it v<version>.
  publish    of a clean, tagged tree: npm test, npm run check, then npm publish with provenance, then JSR

  --skip-npm publish: to JSR alone, where npm has the version already
  --dry-run  version: says what the next one is. publish: says what stands in the way, runs the two checks, and
             publishes to nobody.
  --help     this text

Provenance is what npm can say about a workflow of the repository that package.json names: it is made there, not on a
desk. Exit codes: 0 done; 1 something stands in the way or failed; 2 wrong use.`;

/**
 * @typedef {object} ReleaseFacts what a publish depends on
 * @property {{ version: string, repository?: unknown }} manifest package.json
 * @property {string} lockVersion
 * @property {string} jsrVersion
 * @property {string} changelog
 * @property {readonly string[]} changesets names of files
 * @property {boolean} isClean
 * @property {readonly string[]} tags of the commit
 * @property {boolean} isWorkflow it runs where provenance can be made
 */

/**
 * @param {ReleaseFacts} facts
 * @returns {string[]} what stands in the way
 */
export function obstaclesOf({ manifest, lockVersion, jsrVersion, changelog, changesets, isClean, tags, isWorkflow }) {
  const { version, repository } = manifest;
  const obstacles = [];
  if (changesets.length > 0) obstacles.push(`changes without a version: ${changesets.join(', ')}`);
  if (lockVersion !== version) obstacles.push(`package-lock.json is of ${lockVersion}, package.json of ${version}`);
  if (jsrVersion !== version) obstacles.push(`jsr.json is of ${jsrVersion}, package.json of ${version}`);
  if (!changelog.includes(`\n## ${version} (`)) obstacles.push(`CHANGELOG.md has no section ${version}`);
  if (!isClean) obstacles.push('the tree has changes that are in no commit');
  if (!tags.includes(`v${version}`)) obstacles.push(`the commit has no tag v${version}`);
  if (repository === undefined) obstacles.push('package.json names no repository, which provenance is about');
  if (!isWorkflow)
    obstacles.push('this is no workflow of the repository, so that nobody vouches for where it was built');
  return obstacles;
}

/**
 * The changelog with what is unreleased under a version, and room for what comes next.
 *
 * @param {string} changelog
 * @param {string} version
 * @param {string} day YYYY-MM-DD
 */
export function releasedChangelog(changelog, version, day) {
  const heading = '\n## Unreleased\n';
  const place = changelog.indexOf(heading);
  const from = place + heading.length;
  const next = changelog.indexOf('\n## ', from);
  const section = place < 0 ? '' : changelog.slice(from, next < 0 ? undefined : next);
  if (section.trim() === '') throw new RangeError('Cannot make a version: CHANGELOG.md has nothing under "Unreleased"');
  return `${changelog.slice(0, from)}\n## ${version} (${day})\n${changelog.slice(from)}`;
}

/** @param {boolean} isDry */
async function makeVersion(isDry) {
  await installTools();
  const changesets = await pendingChangesets();
  if (changesets.length === 0) throw new RangeError('Cannot make a version: .changeset has no change');
  if (isDry) {
    const script = join(root, 'test/check/node_modules/@changesets/cli/bin.js');
    const { output, end } = await outputOf(process.execPath, [script, 'status', '--verbose'], { cwd: root });
    if (end !== 0) throw new Error(`Cannot say what the next version is: ${output}`);
    console.log(output.trim());
    return;
  }
  if (!(await facts()).isClean) throw new Error('Cannot make a version: the tree has changes that are in no commit');
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8');
  // Before anything is changed: it may have nothing to say.
  releasedChangelog(changelog, '0.0.0', '2000-01-01');
  try {
    await writeVersion(changelog);
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`${reason}\nHalf a version is in the tree: "git checkout ." puts back what was there`, {
      cause: error,
    });
  }
}

/** @param {string} changelog as it was */
async function writeVersion(changelog) {
  await orThrow(tool('@changesets/cli/bin.js', 'version'));
  const { version } = await json('package.json');
  const { output, end } = await outputOf('npm', ['install', '--package-lock-only', '--ignore-scripts'], { cwd: root });
  if (end !== 0) throw new Error(`Cannot write the lockfile: ${output}`);
  const jsr = await json('jsr.json');
  const text = await readFile(join(root, 'jsr.json'), 'utf8');
  await writeFile(join(root, 'jsr.json'), text.replace(`"version": "${jsr.version}"`, `"version": "${version}"`));
  const day = new Date().toISOString().slice(0, 10);
  await writeFile(join(root, 'CHANGELOG.md'), releasedChangelog(changelog, version, day));
  console.log(`This is ${version} now. Look at it, commit it, and tag the commit v${version}.`);
}

/**
 * @param {boolean} isDry
 * @param {boolean} skipsNpm
 */
async function publish(isDry, skipsNpm) {
  const obstacles = obstaclesOf(await facts());
  for (const obstacle of obstacles) console.error(`in the way: ${obstacle}`);
  if (obstacles.length > 0 && !isDry) throw new Error('Cannot publish: see above');
  await shown('npm', ['test']);
  await shown('npm', ['run', 'check']);
  const [deno] = await findPrograms(['deno']);
  const dry = isDry ? ['--dry-run'] : [];
  if (!skipsNpm) await shown('npm', ['publish', '--access', 'public', ...(isDry ? dry : ['--provenance'])]);
  await shown(deno?.command ?? 'deno', ['publish', ...dry, ...(isDry ? ['--allow-dirty'] : [])]);
  if (!isDry) return;
  console.log(`Nothing was published; ${obstacles.length} things are in the way.`);
  if (obstacles.length > 0) process.exitCode = 1;
}

/** @returns {Promise<ReleaseFacts>} */
async function facts() {
  const git = async (/** @type {string[]} */ ...args) => {
    const { output, end } = await outputOf('git', args, { cwd: root });
    if (end !== 0) throw new Error(`Cannot look at the commit: ${output.trim()} (git ended with ${end})`);
    return output.trim();
  };
  return {
    manifest: await json('package.json'),
    lockVersion: (await json('package-lock.json')).version,
    jsrVersion: (await json('jsr.json')).version,
    changelog: await readFile(join(root, 'CHANGELOG.md'), 'utf8'),
    changesets: await pendingChangesets(),
    isClean: (await git('status', '--porcelain')) === '',
    tags: (await git('tag', '--points-at', 'HEAD')).split('\n'),
    isWorkflow: (process.env.ACTIONS_ID_TOKEN_REQUEST_URL ?? '') !== '',
  };
}

async function pendingChangesets() {
  const names = await readdir(join(root, '.changeset'));
  return names.filter((name) => name.endsWith('.md') && name !== 'README.md').sort();
}

/** @param {string} name */
async function json(name) {
  return JSON.parse(await readFile(join(root, name), 'utf8'));
}

/** @param {Promise<string | undefined>} running */
async function orThrow(running) {
  const problem = await running;
  if (problem !== undefined) throw new Error(problem);
}

/**
 * Runs a program that has the terminal.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {Promise<void>}
 */
function shown(command, args) {
  const child = spawn(command, [...args], { cwd: root, stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`Cannot go on: ${command} ${args.join(' ')} ended with ${code ?? signal}`));
    });
  });
}

/** @param {readonly string[]} args */
async function main(args) {
  const isDry = args.includes('--dry-run');
  const skipsNpm = args.includes('--skip-npm');
  const [step, ...others] = args.filter((argument) => !['--dry-run', '--skip-npm'].includes(argument));
  if (args.includes('--help')) console.log(HELP);
  else if (step === 'version' && others.length === 0) await makeVersion(isDry);
  else if (step === 'publish' && others.length === 0) await publish(isDry, skipsNpm);
  else {
    console.error(`Cannot release: name one step, version or publish\n\n${HELP}`);
    process.exitCode = 2;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
