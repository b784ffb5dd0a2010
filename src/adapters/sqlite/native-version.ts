import { loadModule } from '../load-module.ts';

/** Below this version of Node, ... */
const NODE_MIN = 22;
/** ... from this version of better-sqlite3 on, opening a database ends the process with a segmentation fault. */
const BROKEN_FROM = 13;

/** In a variable, as all that need not be there: no bundler follows it. */
const PACKAGE = 'better-sqlite3/package.json';

/** What of `node:module` is used. */
interface ModuleLibrary {
  createRequire(from: string): (name: string) => unknown;
}

/**
 * Why better-sqlite3 must not be used here, as an error in the place of a crash; `undefined` if it may. Importing it does no harm
 * and says nothing, so its package is asked for its version.
 */
export async function nativeRefusal(): Promise<Error | undefined> {
  const { process } = globalThis as { readonly process?: { readonly versions?: Readonly<Record<string, string>> } };
  const node = process?.versions?.node;
  const library = await loadModule('node:module');
  if (node === undefined || 'error' in library) return undefined;
  try {
    const load = (library.module as ModuleLibrary).createRequire(import.meta.url);
    const { version } = load(PACKAGE) as { version: string };
    return refusalOf(version, node);
  } catch {
    // It is not there, or its package is not readable: loading it will tell.
    return undefined;
  }
}

/** The same for two versions. */
export function refusalOf(version: string, node: string): Error | undefined {
  const [library, runtime] = [Number.parseInt(version, 10), Number.parseInt(node, 10)];
  if (!(library >= BROKEN_FROM && runtime < NODE_MIN)) return undefined;
  const why = `better-sqlite3 ${version} needs Node ${NODE_MIN} and would end this process, which runs Node ${node}`;
  return new Error(`${why}: run "npm install better-sqlite3@12"`);
}
