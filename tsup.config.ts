import { defineConfig, type Options } from 'tsup';

/**
 * Two bundles of the same sources. They differ in one file, how the core module is obtained:
 *
 * ```text
 *   inline   mod.js  etcd.js  kubernetes.js  sqlite.js  testing.js  cli.js    src/core/module.ts          bytes inlined, compiled on first use
 *   node     testing-node.js                                                   no core
 *   static   mod.static.js, and so on for the others, without a command      src/core/module.static.ts   import './core.wasm?module' by the host
 * ```
 *
 * Within a bundle the entries share chunks, so that an error class is one class whichever entry it came from; between
 * the bundles nothing is shared, so that the static one does not carry the inlined bytes. No program loads both: the
 * conditions of package.json choose one. tools/build.mjs runs this and adds what is not TypeScript.
 */
const common: Options = {
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  splitting: true,
  sourcemap: true,
  clean: false,
  removeNodeProtocol: false,
  external: [/^node:/, /^bun:/, /^cloudflare:/, /\.wasm\?module$/],
  // The sources are in the package, so a source map need not repeat them.
  esbuildOptions: (options) => {
    options.sourcesContent = false;
  },
};

const ENTRIES = {
  mod: 'src/mod.ts',
  etcd: 'src/adapters/etcd/mod.ts',
  kubernetes: 'src/adapters/kubernetes/mod.ts',
  sqlite: 'src/adapters/sqlite/mod.ts',
  testing: 'src/testing/mod.ts',
};

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

const staticModule: Plugin = {
  name: 'static-module',
  setup(build) {
    build.onResolve({ filter: /\/module\.ts$/ }, async ({ path, importer, resolveDir, kind }) => {
      if (path.endsWith('/module.static.ts')) return undefined;
      const resolved = await build.resolve(path.replace(/module\.ts$/, 'module.static.ts'), {
        importer,
        resolveDir,
        kind,
      });
      return /[\\/]src[\\/]core[\\/]module\.static\.ts$/.test(resolved.path) ? { path: resolved.path } : undefined;
    });
  },
};

/** Node's alone, and without the core, so that there is one of it. The rest must not see Node's types. */
const NODE_ENTRIES = { 'testing-node': 'src/adapters/testing-node/mod.ts' };

export default defineConfig([
  {
    ...common,
    entry: { ...ENTRIES, cli: 'src/cli/main.ts' },
    // `Symbol.asyncDispose` is in no lib below esnext, and a project need not have set that.
    dts: {
      entry: ENTRIES,
      banner: '/// <reference lib="esnext.disposable" />',
    },
  },
  {
    ...common,
    entry: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [`${name}.static`, file])),
    esbuildPlugins: [staticModule],
    // Names are by content, and some content is the same in both bundles.
    esbuildOptions: (options, context) => {
      common.esbuildOptions?.(options, context);
      options.chunkNames = 'static-[hash]';
    },
  },
  {
    ...common,
    entry: NODE_ENTRIES,
    dts: {
      entry: NODE_ENTRIES,
      compilerOptions: { types: ['node'] },
      banner: '/// <reference lib="esnext.disposable" />',
    },
  },
]);
