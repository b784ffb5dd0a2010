/**
 * What every runtime must do alike. Cases import the package by name, so that the exports map of package.json is part
 * of what is tested. No host API here: the same bundle runs in Node, Deno, Bun and later in workerd.
 */
import './cases/errors.ts';

export { run } from './harness.ts';
