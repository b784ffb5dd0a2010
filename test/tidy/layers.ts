import type { ProjectFile, Violation } from './project.ts';
import { imports, violation } from './syntax.ts';

/**
 * Who may import whom in src/ (the layer table of docs/architecture.md). A part is a folder of src/ or a file in it;
 * a file imports from its own part and from what is listed, nothing else.
 */
const BELOW_BACKENDS = ['types', 'system', 'core', 'queue', 'store', 'watch', 'lease'] as const;
const BELOW_SERVER = [...BELOW_BACKENDS, 'cache', 'lock'] as const;
const BELOW_TOP = [
  ...BELOW_SERVER,
  'storage',
  'kubernetes',
  'resource-cache',
  'backends',
  'handlers',
  'server',
] as const;

export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  types: [],
  system: ['types'],
  core: ['types'],
  queue: ['types', 'system'],
  store: ['types', 'core'],
  watch: ['types', 'core'],
  lease: ['types', 'queue', 'system'],
  backends: BELOW_BACKENDS,
  cache: BELOW_BACKENDS,
  lock: BELOW_BACKENDS,
  storage: BELOW_BACKENDS,
  kubernetes: BELOW_BACKENDS,
  'resource-cache': [...BELOW_BACKENDS, 'kubernetes'],
  handlers: BELOW_SERVER,
  server: [...BELOW_SERVER, 'storage', 'handlers'],
  'open-store.ts': BELOW_TOP,
  'create-essence-hasher.ts': BELOW_TOP,
  'create-core.ts': [...BELOW_TOP, 'open-store.ts', 'create-essence-hasher.ts'],
  'mod.ts': [...BELOW_TOP, 'open-store.ts', 'create-essence-hasher.ts', 'create-core.ts'],
  adapters: [...BELOW_TOP, 'open-store.ts'],
  testing: [...BELOW_TOP, 'open-store.ts'],
  cli: [...BELOW_TOP, 'open-store.ts', 'mod.ts', 'adapters', 'testing'],
};

/** The only parts that may name a platform. */
const PLATFORM_PARTS = new Set(['adapters', 'cli']);
const PLATFORM = /^(?:node|deno|bun|cloudflare):/;

/** Upward imports, imports that are not `.ts` files, platform modules and packages in the wrong place. */
export function checkLayers(files: readonly ProjectFile[]): readonly Violation[] {
  return files.flatMap((file) => {
    const part = partOf(file.path);
    const allowed = LAYERS[part];
    if (allowed === undefined) return [violation(file, 0, `"${part}" is not in the layer table`)];
    return imports(file).flatMap(({ position, specifier }) => {
      const reason = refuse(file.path, specifier, part, allowed);
      return reason === undefined ? [] : [violation(file, position, reason)];
    });
  });
}

function refuse(path: string, specifier: string, part: string, allowed: readonly string[]): string | undefined {
  if (PLATFORM.test(specifier)) {
    return PLATFORM_PARTS.has(part) ? undefined : `"${specifier}" belongs into src/adapters or src/cli`;
  }
  if (!specifier.startsWith('.')) {
    return PLATFORM_PARTS.has(part) ? undefined : `"${specifier}" is a package: only src/adapters and src/cli have any`;
  }
  if (path === 'src/core/module.static.ts' && specifier === './core.wasm?module') return undefined;
  if (!specifier.endsWith('.ts')) return `"${specifier}" does not end in ".ts"`;
  const target = resolve(path, specifier);
  if (!target.startsWith('src/')) return `"${specifier}" leaves src/`;
  const targetPart = partOf(target);
  if (targetPart === part || allowed.includes(targetPart)) return undefined;
  return `${part} may not import ${targetPart} ("${specifier}")`;
}

/** Import cycles between files; each is reported once, at its alphabetically first file. */
export function checkCycles(files: readonly ProjectFile[]): readonly Violation[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const found: Violation[] = [];
  const visit = (file: ProjectFile, trail: readonly string[]): void => {
    const start = trail.indexOf(file.path);
    if (start >= 0) {
      found.push(violation(file, 0, `import cycle: ${[...trail.slice(start), file.path].join(' -> ')}`));
      return;
    }
    if (done.has(file.path)) return;
    for (const { specifier } of imports(file)) {
      const target = specifier.startsWith('.') ? byPath.get(resolve(file.path, specifier)) : undefined;
      if (target !== undefined) visit(target, [...trail, file.path]);
    }
    done.add(file.path);
  };
  for (const file of files) visit(file, []);
  return found;
}

function partOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** `src/a/b.ts` + `../c/d.ts` = `src/c/d.ts`. */
export function resolve(path: string, specifier: string): string {
  const parts = path.split('/').slice(0, -1);
  for (const step of specifier.split('/')) {
    if (step === '..') parts.pop();
    else if (step !== '.') parts.push(step);
  }
  return parts.join('/');
}
